"""Glue's catalog, by boto3."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from labctl.lake.glue_sync import GlueSync
from sqlapi.sources.memory import MemorySource
from tests.integration.sqlapi.conftest import BUCKET, Athena, Endpoint

COLUMNS = [{"Name": "id", "Type": "int", "Comment": "the key"}]


@pytest.fixture
def glue(endpoint: Endpoint) -> Any:
    return endpoint.client("glue")


@pytest.fixture
def database(glue: Any) -> str:
    name = f"d_{uuid4().hex[:8]}"
    glue.create_database(DatabaseInput={"Name": name, "Description": "of a test"})
    return name


def _table(name: str, columns: list[dict[str, str]] = COLUMNS, **more: Any) -> dict[str, Any]:
    parquet = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
    place = {"Location": f"s3://{BUCKET}/nothing", "InputFormat": parquet, "SerdeInfo": {}}
    storage = {"Columns": columns, **place}
    return {"Name": name, "TableType": "EXTERNAL_TABLE", "StorageDescriptor": storage, **more}


def test_databases(glue: Any, database: str) -> None:
    assert glue.get_database(Name=database)["Database"]["Description"] == "of a test"
    with pytest.raises(glue.exceptions.AlreadyExistsException):
        glue.create_database(DatabaseInput={"Name": database.upper()})
    glue.update_database(Name=database, DatabaseInput={"Name": database, "Description": "new"})
    assert glue.get_database(Name=database)["Database"]["Description"] == "new"
    pages = glue.get_paginator("get_databases").paginate(PaginationConfig={"PageSize": 2})
    names = [d["Name"] for p in pages for d in p["DatabaseList"]]
    assert names == sorted(names)
    assert database in names
    glue.delete_database(Name=database)
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.get_database(Name=database)


def test_tables_and_their_versions(glue: Any, database: str) -> None:
    glue.create_table(DatabaseName=database, TableInput=_table("One"))
    with pytest.raises(glue.exceptions.AlreadyExistsException):
        glue.create_table(DatabaseName=database, TableInput=_table("one"))
    wider = [*COLUMNS, {"Name": "name", "Type": "string"}]
    glue.update_table(DatabaseName=database, TableInput=_table("one", wider))
    got = glue.get_table(DatabaseName=database, Name="ONE")["Table"]
    assert (got["VersionId"], got["StorageDescriptor"]["Columns"]) == ("1", wider)
    versions = glue.get_table_versions(DatabaseName=database, TableName="one")["TableVersions"]
    assert [v["VersionId"] for v in versions] == ["1", "0"]
    first = glue.get_table_version(DatabaseName=database, TableName="one", VersionId="0")
    assert first["TableVersion"]["Table"]["StorageDescriptor"]["Columns"] == COLUMNS
    with pytest.raises(glue.exceptions.ConcurrentModificationException):
        glue.update_table(DatabaseName=database, TableInput=_table("one"), VersionId="0")
    glue.create_table(DatabaseName=database, TableInput=_table("two"))
    listed = glue.get_tables(DatabaseName=database, Expression="t.*")["TableList"]
    assert [t["Name"] for t in listed] == ["two"]
    failed = glue.batch_delete_table(DatabaseName=database, TablesToDelete=["two", "three"])
    assert [e["TableName"] for e in failed["Errors"]] == ["three"]
    glue.delete_table(DatabaseName=database, Name="one")
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.get_table(DatabaseName=database, Name="one")


def test_partitions(glue: Any, database: str) -> None:
    keys = [{"Name": "year", "Type": "int"}, {"Name": "kind", "Type": "string"}]
    glue.create_table(DatabaseName=database, TableInput=_table("t", PartitionKeys=keys))
    one = {"DatabaseName": database, "TableName": "t"}
    made = glue.batch_create_partition(
        **one, PartitionInputList=[{"Values": [str(y), "a"]} for y in (2023, 2024, 2024, 999)]
    )
    assert [e["ErrorDetail"]["ErrorCode"] for e in made["Errors"]] == ["AlreadyExistsException"]
    with pytest.raises(ClientError, match="number of partition"):
        glue.create_partition(**one, PartitionInput={"Values": ["1"]})
    found = glue.get_partitions(**one, Expression="year > 2000 AND kind = 'a'")["Partitions"]
    assert [p["Values"][0] for p in found] == ["2023", "2024"]
    glue.update_partition(
        **one, PartitionValueList=["2023", "a"],
        PartitionInput={"Values": ["2023", "a"], "Parameters": {"x": "1"}},
    )  # fmt: skip
    got = glue.get_partition(**one, PartitionValues=["2023", "a"])["Partition"]
    assert got["Parameters"] == {"x": "1"}
    several = glue.batch_get_partition(**one, PartitionsToGet=[{"Values": ["2024", "a"]}])
    assert len(several["Partitions"]) == 1
    glue.delete_partition(**one, PartitionValues=["2023", "a"])
    failed = glue.batch_delete_partition(
        **one, PartitionsToDelete=[{"Values": ["2023", "a"]}, {"Values": ["2024", "a"]}]
    )
    assert len(failed["Errors"]) == 1


def test_a_partition_that_was_made_without_keys(glue: Any, athena: Athena, database: str) -> None:
    """The table may get keys later; nothing that lists partitions fails for it."""
    glue.create_table(DatabaseName=database, TableInput=_table("t"))
    glue.create_partition(DatabaseName=database, TableName="t", PartitionInput={})
    keys = [{"Name": "k", "Type": "string"}]
    glue.update_table(DatabaseName=database, TableInput=_table("t", PartitionKeys=keys))
    assert athena.rows("SHOW PARTITIONS t", database) == [[""]]
    (found,) = glue.get_partitions(DatabaseName=database, TableName="t")["Partitions"]
    assert found["Values"] == []
    pages = glue.get_partitions(DatabaseName=database, TableName="t", Expression="k = 'a'")
    assert pages["Partitions"] == []


def test_a_pattern_takes_no_longer_than_its_text(glue: Any, athena: Athena) -> None:
    assert glue.get_tables(DatabaseName="tickit", Expression="(a+)+$|sale")["TableList"]
    with pytest.raises(glue.exceptions.InvalidInputException, match="Invalid expression"):
        glue.get_tables(DatabaseName="tickit", Expression="(?=sale)")
    listed = athena.client.list_table_metadata(
        CatalogName="AwsDataCatalog", DatabaseName="tickit", Expression="^cat"
    )
    assert [one["Name"] for one in listed["TableMetadataList"]] == ["category"]
    assert athena.rows(f"SHOW TABLES IN tickit '{'*a' * 40}|sal*'") == [["sale"]]


def test_tables_of_the_source_are_there_undefined(glue: Any) -> None:
    table = glue.get_table(DatabaseName="moma", Name="artists_ro")["Table"]
    assert table["StorageDescriptor"]["InputFormat"].endswith("HoodieParquetInputFormat")
    assert table["StorageDescriptor"]["SerdeInfo"]["Parameters"]["hoodie.query.as.ro.table"]
    names = [t["Name"] for t in glue.get_tables(DatabaseName="moma")["TableList"]]
    assert names == ["artists", "artists_ro", "artists_rt"]
    one = {"DatabaseName": "moma", "TableName": "artists_ro"}
    found = glue.get_partitions(**one)["Partitions"]
    assert [p["Values"] for p in found] == [["%C3%96per"], ["Musicals"]]
    (one_of_two,) = glue.get_partitions(**one, Expression="name = 'Musicals'")["Partitions"]
    place = one_of_two["StorageDescriptor"]["Location"]
    assert place == "s3://memory/moma/artists/Name=Musicals"


def test_a_table_of_the_source_has_one_definition(glue: Any, source: MemorySource) -> None:
    """It cannot be defined beside what follows from its files; and so a sync has nothing to do."""
    table = _table("artists")
    with pytest.raises(glue.exceptions.AlreadyExistsException):
        glue.create_table(DatabaseName="moma", TableInput=table)
    for call in (
        partial(glue.update_table, DatabaseName="moma", TableInput=table),
        partial(glue.delete_table, DatabaseName="moma", Name="artists"),
        partial(
            glue.create_partition,
            DatabaseName="moma",
            TableName="artists",
            PartitionInput={"Values": ["x"]},
        ),
    ):
        with pytest.raises(glue.exceptions.InvalidInputException, match="follows from its files"):
            call()
    assert GlueSync(glue, source).changes(source.tables()) == []


def test_what_is_wrong_is_said(glue: Any, endpoint: Endpoint) -> None:
    with pytest.raises(ClientError) as caught:
        endpoint.client("athena").get_query_results(QueryExecutionId="x", MaxResults=5000)
    assert caught.value.response["Error"]["Code"] == "InvalidRequestException"
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.get_tables(DatabaseName="none")


def test_statistics_of_columns_are_kept(glue: Any, database: str) -> None:
    """As Trino's metastore sends them after CREATE TABLE, with values in base64."""
    keys = [{"Name": "k", "Type": "string"}]
    glue.create_table(DatabaseName=database, TableInput=_table("t", PartitionKeys=keys))
    place = {"DatabaseName": database, "TableName": "t"}
    glue.create_partition(**place, PartitionInput={"Values": ["a"]})
    told = [
        {
            "ColumnName": "id", "ColumnType": "int",
            "AnalyzedTime": datetime(2024, 1, 2, tzinfo=UTC),
            "StatisticsData": {
                "Type": "LONG",
                "LongColumnStatisticsData": {
                    "MinimumValue": 1, "MaximumValue": 9, "NumberOfNulls": 0,
                    "NumberOfDistinctValues": 3,
                },
            },
        },
        {
            "ColumnName": "price", "ColumnType": "decimal(8,2)",
            "AnalyzedTime": datetime(2024, 1, 2, tzinfo=UTC),
            "StatisticsData": {
                "Type": "DECIMAL",
                "DecimalColumnStatisticsData": {
                    "MinimumValue": {"UnscaledValue": b"\x01\x02", "Scale": 2},
                    "NumberOfNulls": 1, "NumberOfDistinctValues": 2,
                },
            },
        },
    ]  # fmt: skip
    asked = {"ColumnNames": ["id", "price", "nope"]}
    places: list[dict[str, Any]] = [{}, {"PartitionValues": ["a"]}]
    for values in places:
        of = "partition" if values else "table"
        update = getattr(glue, f"update_column_statistics_for_{of}")
        read = getattr(glue, f"get_column_statistics_for_{of}")
        assert read(**place, **values, **asked)["ColumnStatisticsList"] == []
        update(**place, **values, ColumnStatisticsList=told)
        update(**place, **values, ColumnStatisticsList=told[:1])
        assert read(**place, **values, **asked)["ColumnStatisticsList"] == told
        delete = getattr(glue, f"delete_column_statistics_for_{of}")
        delete(**place, **values, ColumnName="id")
        with pytest.raises(glue.exceptions.EntityNotFoundException):
            delete(**place, **values, ColumnName="id")
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.get_column_statistics_for_table(**{**place, "TableName": "nope"}, **asked)
    lake = {"DatabaseName": "tickit", "TableName": "sale"}
    assert glue.get_column_statistics_for_table(**lake, **asked)["ColumnStatisticsList"] == []
    with pytest.raises(glue.exceptions.InvalidInputException, match="of the lake"):
        glue.update_column_statistics_for_table(**lake, ColumnStatisticsList=told)


def test_a_table_with_partition_indexes_is_not_stored(glue: Any, database: str) -> None:
    index = {"Keys": ["k"], "IndexName": "i"}
    with pytest.raises(ClientError, match="Partition index i"):
        glue.create_table(
            DatabaseName=database, TableInput=_table("t"), PartitionIndexes=[index]
        )  # fmt: skip
    assert glue.get_tables(DatabaseName=database)["TableList"] == []


def test_a_view_has_an_owner(glue: Any, athena: Athena, database: str) -> None:
    """Trino runs a view as the owner that its definition in Glue has."""
    athena.rows("CREATE VIEW v AS SELECT 1 AS x", database)
    assert glue.get_table(DatabaseName=database, Name="v")["Table"]["Owner"]
