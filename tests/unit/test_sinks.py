"""Which sink connector's file writes the bronze files of which topic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connector_files import read_connector
from labctl.sinks import check_sinks, require_readable
from labctl.tables import LabTable
from lakecontract.properties import load_tables

SHIPPED = Path(__file__).parents[2] / "connectors" / "sink_connector_kafka_s3_avro_tickit.json"


def sinks_of(tmp_path: Path, *sinks: dict[str, Any]) -> list[Path]:
    """A project with the shipped sink's file, once with each of these changes."""
    shipped = read_connector(SHIPPED)
    folder = tmp_path / "connectors"
    folder.mkdir()
    paths = [folder / f"sink_connector_{name}.json" for name in "abc"[: len(sinks)]]
    for path, changes in zip(paths, sinks, strict=True):
        path.write_text(json.dumps({**shipped.config, **changes}, indent=2))
    return paths


def tables_of(tmp_path: Path, *topics: str, **properties: str) -> list[LabTable]:
    folder = tmp_path / "properties"
    folder.mkdir()
    for topic in topics:
        values = {
            "hoodie.table.name": topic.rsplit(".", 1)[1],
            "hoodie.datasource.write.table.type": "MERGE_ON_READ",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.table.ordering.fields": "__kafka_offset",
            "hoodie.streamer.source.kafka.topic": topic,
            "hoodie.streamer.source.dfs.root": f"topics/{topic}",
            "hoodie.database.name": "tickit",
            **properties,
        }
        text = "".join(f"{key}={value}\n" for key, value in values.items())
        (folder / f"{topic}.properties").write_text(text)
    return [LabTable("s", "postgres", "public", "t", table) for table in load_tables([folder])]


def test_a_sink_files_mistakes_are_all_told_before_anything_starts(tmp_path: Path) -> None:
    sinks_of(tmp_path, {"flush.size": 0, "timezone": "Europe/Atlantis"})
    tables = tables_of(tmp_path, "tickit.ems.event")
    with pytest.raises(LabError) as raised:
        check_sinks(tmp_path, tables, written_by_spark=True)
    assert raised.value.exit_code is ExitCode.USAGE
    assert len(raised.value.details) == 1
    # In containers the connector itself may be there, which can do all of it.
    assert check_sinks(tmp_path, tables, written_by_spark=False)


def test_a_lab_uses_the_sinks_that_take_its_tables_topics(tmp_path: Path) -> None:
    other = {"topics.regex": "moma[.].+", "flush.size": "nonsense"}
    sinks_of(tmp_path, {}, other)
    tables = tables_of(tmp_path, "tickit.ems.event", "tickit.crm.user")
    (sink,) = check_sinks(tmp_path, tables, written_by_spark=True)
    assert sink.file.name == "sink_connector_a"
    assert list(sink.tables) == tables


def test_a_topic_that_no_sink_takes(tmp_path: Path) -> None:
    (path,) = sinks_of(tmp_path, {})
    tables = tables_of(tmp_path, "tickit.ems.event", "eu.shop.orders")
    with pytest.raises(LabError, match=r"properties:5: no sink takes .*eu\.shop\.orders") as raised:
        check_sinks(tmp_path, tables, written_by_spark=True)
    assert raised.value.details == (f"{path}:4 takes topics.regex=tickit\\.(ems|ecomm|crm)\\..+",)


def test_a_topic_that_two_sinks_take(tmp_path: Path) -> None:
    sinks_of(tmp_path, {}, {"topics.regex": "tickit[.]ems[.].+"})
    with pytest.raises(LabError, match=r"a\.json:4 and .*b\.json:4 both take .*ems\.event"):
        check_sinks(tmp_path, tables_of(tmp_path, "tickit.ems.event"), written_by_spark=False)


def test_a_table_that_looks_elsewhere_for_its_bronze_files(tmp_path: Path) -> None:
    sinks_of(tmp_path, {"topics.dir": "raw/changes/"})
    tables = tables_of(tmp_path, "tickit.ems.event")
    with pytest.raises(LabError, match=r"properties:6: .*topics/.*raw/changes/tickit\.ems\.event"):
        check_sinks(tmp_path, tables, written_by_spark=True)


def test_silver_does_not_read_what_the_connector_writes_by_value(tmp_path: Path) -> None:
    field = "io.confluent.connect.storage.partitioner.FieldPartitioner"
    sinks_of(tmp_path, {"partitioner.class": field, "partition.field.name": "catid"})
    tables = tables_of(tmp_path, "tickit.ems.event")
    sinks = check_sinks(tmp_path, tables, written_by_spark=True)
    with pytest.raises(LabError, match="cannot read bronze"):
        require_readable(sinks)
