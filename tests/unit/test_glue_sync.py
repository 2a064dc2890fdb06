"""The lake's tables in AWS's Glue, which moto plays: written once, differences only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import boto3
import pyarrow as pa
import pytest
from moto import mock_aws

from labctl.errors import LabError
from labctl.lake.glue_changes import write
from labctl.lake.glue_sync import GlueSync
from sqlapi.catalog.table_inputs import partition_values
from sqlapi.sources.memory import MemorySource

SALE = pa.table(
    {
        "_hoodie_commit_time": pa.array(["1", "1"], pa.string()),
        "saleId": pa.array([1, 2], pa.int32()),
        "kind": ["a", "b"],
        "price": pa.array([None, None], pa.decimal128(8, 2)),
        "at": pa.array([None, None], pa.timestamp("us", "UTC")),
        "tags": pa.array([["x"], None], pa.list_(pa.string())),
        "wall": pa.array([None, None], pa.timestamp("us")),
        "counts": pa.array([None, None], pa.map_(pa.string(), pa.int32())),
    }
)
DATE = pa.table({"dateid": pa.array([1], pa.int16())})


def source(sale: pa.Table = SALE) -> MemorySource:
    """A merge-on-read table in partitions, and a copy-on-write one."""
    tables = {"tickit.sale": sale, "tickit.date": DATE}
    return MemorySource(tables, {"tickit.sale": sale}, {"tickit.sale": ["kind"]})


@pytest.fixture
def glue(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        make: Any = boto3.client
        yield make("glue", region_name="eu-central-1")


def synced(glue: Any, tables: MemorySource) -> list[str]:
    """What was written; and that then nothing is left to write."""
    sync = GlueSync(glue, tables)
    changes = sync.changes(tables.tables())
    write(glue, changes)
    assert sync.changes(tables.tables()) == []
    return [f"{change.action} {change.what}" for change in changes]


def definition(glue: Any, name: str) -> dict[str, Any]:
    return dict(glue.get_table(DatabaseName="tickit", Name=name)["Table"])


def updated(glue: Any, name: str, **changes: Any) -> None:
    keys = ("Name", "TableType", "Parameters", "PartitionKeys", "StorageDescriptor")
    given = {key: value for key, value in definition(glue, name).items() if key in keys}
    glue.update_table(DatabaseName="tickit", TableInput=given | changes)


def test_the_first_sync_makes_everything_and_the_next_nothing(glue: Any) -> None:
    assert synced(glue, source()) == [
        "create database tickit",
        "create table tickit.sale",
        "create partitions of tickit.sale",
        "create table tickit.sale_rt",
        "create partitions of tickit.sale_rt",
        "create table tickit.sale_ro",
        "create partitions of tickit.sale_ro",
        "create table tickit.date",
    ]
    found = glue.get_partitions(DatabaseName="tickit", TableName="sale_ro")["Partitions"]
    assert [(one["Values"], one["StorageDescriptor"]["Location"]) for one in found] == [
        (["a"], "s3://memory/tickit/sale/kind=a"),
        (["b"], "s3://memory/tickit/sale/kind=b"),
    ]


def test_a_table_is_described_as_hudis_own_sync_does_it(glue: Any) -> None:
    synced(glue, source())
    table = definition(glue, "sale_ro")
    storage = table["StorageDescriptor"]
    assert {c["Name"]: c["Type"] for c in storage["Columns"]} == {
        "_hoodie_commit_time": "string",
        "saleid": "int",
        "price": "decimal(8,2)",
        "at": "timestamp",
        "tags": "array<string>",
        "wall": "timestamp",
        "counts": "map<string,int>",
    }
    assert [(k["Name"], k["Type"]) for k in table["PartitionKeys"]] == [("kind", "string")]
    assert storage["InputFormat"] == "org.apache.hudi.hadoop.HoodieParquetInputFormat"
    assert storage["SerdeInfo"]["Parameters"] == {
        "hoodie.query.as.ro.table": "true",
        "path": "s3://memory/tickit/sale",
        "serialization.format": "1",
    }
    parameters = table["Parameters"]
    schema = json.loads(parameters.pop("spark.sql.sources.schema.part.0"))
    assert [(f["name"], f["type"]) for f in schema["fields"]] == [
        ("_hoodie_commit_time", "string"),
        ("saleId", "integer"),
        ("price", "decimal(8,2)"),
        ("at", "timestamp"),
        ("tags", {"type": "array", "elementType": "string", "containsNull": True}),
        ("wall", "timestamp_ntz"),
        (
            "counts",
            {
                "type": "map",
                "keyType": "string",
                "valueType": "integer",
                "valueContainsNull": True,
            },
        ),
        ("kind", "string"),
    ]
    assert parameters == {
        "EXTERNAL": "TRUE",
        "hudi.metadata-listing-enabled": "FALSE",
        "spark.sql.sources.provider": "hudi",
        "spark.sql.sources.schema.numParts": "1",
        "spark.sql.sources.schema.numPartCols": "1",
        "spark.sql.sources.schema.partCol.0": "kind",
    }
    for name, words, optimized in (
        ("sale", "realtime.HoodieParquetRealtimeInputFormat", "false"),
        ("sale_rt", "realtime.HoodieParquetRealtimeInputFormat", "false"),
        ("date", "HoodieParquetInputFormat", "false"),
    ):
        storage = definition(glue, name)["StorageDescriptor"]
        assert storage["InputFormat"] == f"org.apache.hudi.hadoop.{words}"
        assert storage["SerdeInfo"]["Parameters"]["hoodie.query.as.ro.table"] == optimized


def test_a_wide_tables_schema_is_in_parts(glue: Any) -> None:
    wide = pa.table({f"column_{n}": pa.array([n]) for n in range(100)})
    synced(glue, MemorySource({"tickit.date": wide}))
    parameters = definition(glue, "date")["Parameters"]
    count = int(parameters["spark.sql.sources.schema.numParts"])
    parts = [parameters[f"spark.sql.sources.schema.part.{n}"] for n in range(count)]
    assert {len(part) for part in parts[:-1]} == {4000}
    assert len(json.loads("".join(parts))["fields"]) == 100
    # Fewer columns, fewer parts: none of the old ones stays.
    synced(glue, source())
    parameters = definition(glue, "date")["Parameters"]
    assert [key for key in parameters if ".schema.part." in key] == [
        "spark.sql.sources.schema.part.0"
    ]


def test_a_changed_schema_is_written_and_what_others_added_stays(glue: Any) -> None:
    synced(glue, source())
    storage = definition(glue, "sale")["StorageDescriptor"]
    storage["Columns"][1]["Comment"] = "of a person"
    parameters = definition(glue, "sale")["Parameters"] | {"last_commit_time_sync": "20240101"}
    updated(glue, "sale", StorageDescriptor=storage, Parameters=parameters)
    place = SALE.schema.get_field_index("saleId")
    wider = SALE.set_column(place, "saleId", SALE["saleId"].cast(pa.int64()))
    wider = wider.append_column("note", pa.nulls(2, pa.string()))
    sync = GlueSync(glue, source(wider))
    (first, *others) = sync.changes(source(wider).tables())
    assert (first.action, first.what) == ("update", "table tickit.sale")
    assert first.details == (
        "column saleid: int → bigint",
        "column note: none → string",
        "Spark's schema",
    )
    assert len(others) == 2 + 3 * 2  # the other two names, two partitions of each
    assert synced(glue, source(wider))
    table = definition(glue, "sale")
    column = {c["Name"]: c for c in table["StorageDescriptor"]["Columns"]}["saleid"]
    assert (column["Type"], column["Comment"]) == ("bigint", "of a person")
    assert table["Parameters"]["last_commit_time_sync"] == "20240101"


def test_comments_of_the_lake_are_written_and_others_stay(glue: Any) -> None:
    synced(glue, source())
    storage = definition(glue, "sale")["StorageDescriptor"]
    storage["Columns"][1]["Comment"] = "of a person"
    updated(glue, "sale", StorageDescriptor=storage)
    said = {"kind": "a or b", "price": "in dollars"}
    tables = [replace(table, comments=said) for table in source().tables()[:1]]
    sync = GlueSync(glue, source())
    changes = sync.changes(tables)
    assert [change.what for change in changes] == [
        f"table tickit.{name}" for name in ("sale", "sale_rt", "sale_ro")
    ]
    assert changes[0].details == (
        "comment of price: none → in dollars",
        "comment of kind: none → a or b",
    )
    write(glue, changes)
    assert sync.changes(tables) == []
    table = definition(glue, "sale")
    columns = [*table["StorageDescriptor"]["Columns"], *table["PartitionKeys"]]
    comments = {column["Name"]: column["Comment"] for column in columns}
    assert {name: text for name, text in comments.items() if text} == {
        "saleid": "of a person",
        **said,
    }


def test_a_table_that_hudis_own_sync_wrote_needs_nothing(glue: Any) -> None:
    """It says the same with other spaces, parts, and parameters of its own."""
    synced(glue, source())
    table = definition(glue, "sale")
    parameters = table["Parameters"]
    text = parameters["spark.sql.sources.schema.part.0"].replace('"array",', '"array", ')
    parameters |= {
        "spark.sql.create.version": "3.5.3",
        "last_commit_completion_time_sync": "20240101000000000",
        "spark.sql.sources.schema.numParts": "2",
        "spark.sql.sources.schema.part.0": text[:50],
        "spark.sql.sources.schema.part.1": text[50:],
    }
    storage = table["StorageDescriptor"]
    storage["SerdeInfo"]["Parameters"]["path"] = "s3a://memory/tickit/sale"
    updated(glue, "sale", Parameters=parameters, StorageDescriptor=storage)
    assert synced(glue, source()) == []


def test_partitions_come_and_go(glue: Any) -> None:
    synced(glue, source())
    other = SALE.set_column(2, "kind", pa.array(["b", "c"]))
    assert synced(glue, source(other)) == [
        f"{action} partitions of tickit.{name}"
        for name in ("sale", "sale_rt", "sale_ro")
        for action in ("create", "remove")
    ]
    found = glue.get_partitions(DatabaseName="tickit", TableName="sale")["Partitions"]
    assert [one["Values"] for one in found] == [["b"], ["c"]]


def test_hundreds_of_partitions_are_made_in_parts(glue: Any) -> None:
    many = pa.table({"id": range(230), "kind": [f"k{n:03}" for n in range(230)]})
    sync = GlueSync(glue, source(many))
    changes = [c for c in sync.changes(source(many).tables()) if c.what.endswith("of tickit.sale")]
    assert [c.details[-1] for c in changes] == ["and 97 more", "and 97 more", "and 27 more"]
    synced(glue, source(many))
    pages = glue.get_paginator("get_partitions").paginate(DatabaseName="tickit", TableName="sale")
    assert sum(len(page["Partitions"]) for page in pages) == 230


def test_what_is_not_the_lakes_is_not_overwritten(glue: Any) -> None:
    synced(glue, source())
    storage = definition(glue, "date")["StorageDescriptor"]
    elsewhere = (
        {"TableType": "VIRTUAL_VIEW"},
        {"StorageDescriptor": storage | {"Location": "s3://theirs/date"}},
    )
    for change, why in zip(elsewhere, ("is a view", "in s3://theirs/date"), strict=True):
        glue.delete_table(DatabaseName="tickit", Name="sale")
        updated(glue, "date", **change)
        sync = GlueSync(glue, source())
        changes = sync.changes(source().tables())
        with pytest.raises(LabError, match=why):
            write(glue, changes)
        assert [c.what for c in changes if c.refused] == ["table tickit.date"]
        with pytest.raises(glue.exceptions.EntityNotFoundException):
            definition(glue, "sale")
        glue.delete_table(DatabaseName="tickit", Name="date")
        synced(glue, source())


def test_values_of_partitions_are_as_their_folders_are_called() -> None:
    assert partition_values("year=2024/kind=a%2Fb") == ["2024", "a%2Fb"]
    assert partition_values("k=a=b") == ["a=b"]
