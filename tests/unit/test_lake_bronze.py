"""Bronze files: listed, read, searched."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import fastavro
import pytest

from labctl.config.lab_config import find_project
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.tables.bronze_folders import lab_bronze
from labctl.lake.bronze_records import Bronze
from labctl.lake.objectstore import LakeStorage
from labctl.lake.records import AvroDecoder, Record, to_table

TOPIC = "tickit.ecomm.sale"


def _connect(avro: str, name: str) -> dict[str, Any]:
    return {"type": avro, "connect.name": name}


SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "Value",
    "fields": [
        {"name": "salesid", "type": "int"},
        {"name": "saletime", "type": ["null", _connect("long", "io.debezium.time.MicroTimestamp")]},
        {"name": "caldate", "type": _connect("int", "io.debezium.time.Date")},
        {"name": "at", "type": _connect("long", "io.debezium.time.MicroTime")},
        {
            "name": "price",
            "type": {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2},
        },
        {
            "name": "any_scale",
            "type": {
                "type": "record",
                "name": "VariableScaleDecimal",
                "connect.name": "io.debezium.data.VariableScaleDecimal",
                "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
            },
        },
        {"name": "__kafka_partition", "type": "int"},
        {"name": "__kafka_offset", "type": "long"},
        {"name": "__kafka_timestamp", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}


def _value(salesid: int, offset: int, micros: int | None = 1_199_145_600_000_001) -> dict[str, Any]:
    return {
        "salesid": salesid,
        "saletime": micros,
        "caldate": 13879,
        "at": 3_600_000_001,
        "price": Decimal("-12.34"),
        "any_scale": {"scale": 3, "value": b"\xff\x00"},
        "__kafka_partition": 0,
        "__kafka_offset": offset,
        "__kafka_timestamp": 1_700_000_000_123,
    }


def _write(root: Path, day: int, start: int, values: list[dict[str, Any]]) -> Path:
    folder = root / f"topics/{TOPIC}/year=2023/month=02/day={day:02d}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{TOPIC}+0+{start:010d}.avro"
    with path.open("wb") as file:
        fastavro.writer(file, fastavro.parse_schema(SCHEMA), values)
    return path


@pytest.fixture
def bronze(tmp_path: Path) -> Bronze:
    _write(tmp_path, 27, 0, [_value(200, 0), _value(201, 1)])
    _write(tmp_path, 27, 2, [_value(200, 2), _value(202, 3)])
    _write(tmp_path, 28, 4, [_value(203, 4)])
    (tmp_path / f"topics/{TOPIC}/year=2023/month=02/day=28/_SUCCESS").touch()
    return Bronze(LakeStorage.local(tmp_path))


def test_lists_the_newest_object_first(bronze: Bronze) -> None:
    objects = bronze.objects(TOPIC)
    assert [o.start_offset for o in objects] == [4, 2, 0]
    assert objects[0].path == f"topics/{TOPIC}/year=2023/month=02/day=28/{TOPIC}+0+0000000004.avro"
    assert bronze.topics() == [TOPIC]


def test_reads_values_as_people_do(bronze: Bronze) -> None:
    (record,) = bronze.read(bronze.objects(TOPIC)[0])
    assert (record.topic, record.partition, record.offset) == (TOPIC, 0, 4)
    assert record.timestamp == datetime(2023, 11, 14, 22, 13, 20, 123_000, UTC)
    assert record.value["saletime"] == datetime(2008, 1, 1, 0, 0, 0, 1, UTC)
    assert record.value["caldate"] == date(2008, 1, 1)
    assert record.value["at"] == time(1, 0, 0, 1)
    assert record.value["price"] == Decimal("-12.34")
    assert record.value["any_scale"] == Decimal("-0.256")


def test_finds_the_newest_record_of_a_key(bronze: Bronze) -> None:
    assert [r.offset for r in bronze.find(TOPIC, {"salesid": "200"})] == [2]
    assert [r.offset for r in bronze.find(TOPIC, {"salesid": 200}, limit=5)] == [2, 0]
    assert bronze.find(TOPIC, {"salesid": 999}) == []
    assert bronze.find(TOPIC, {"nosuch": 1}) == []


def test_finds_the_newest_record_in_files_that_were_open_side_by_side(tmp_path: Path) -> None:
    """The newest file of all has an older record of the key than one that was started before it."""
    for folder, offsets in (("state=open", [0, 30]), ("state=sold", [20, 25])):
        path = tmp_path / f"topics/{TOPIC}/{folder}/{TOPIC}+0+{offsets[0]:010d}.avro"
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            values = [_value(200, offset) for offset in offsets]
            fastavro.writer(file, fastavro.parse_schema(SCHEMA), values)
    (tmp_path / "bronze-positions").mkdir()
    (tmp_path / "bronze-positions" / TOPIC).write_text('{"0": 31}')

    found = Bronze(LakeStorage.local(tmp_path)).find(TOPIC, {"salesid": 200}, limit=3)

    assert [record.offset for record in found] == [30, 25, 20]


def test_records_make_a_table(bronze: Bronze) -> None:
    table = to_table(bronze.find(TOPIC, {"salesid": 200}, limit=5))
    assert table.column("_offset").to_pylist() == [2, 0]
    assert table.column("price").to_pylist() == [Decimal("-12.34")] * 2


def test_a_value_that_is_not_avro_of_its_schema_is_shown() -> None:
    undecoded = Record(TOPIC, 0, 7, None, None, "0x0001ff")
    table = to_table([undecoded, replace(undecoded, offset=8, value={"salesid": 1})])
    assert table.to_pylist()[0]["_value"] == "0x0001ff"
    assert table.column("_value").to_pylist() == ["0x0001ff", None]


def test_values_beyond_the_calendar_stay_numbers() -> None:
    value = _value(1, 1, micros=2**62)
    data = io.BytesIO()
    fastavro.schemaless_writer(data, fastavro.parse_schema(SCHEMA), value)
    assert AvroDecoder(SCHEMA).decode(data.getvalue())["saletime"] == 2**62


def test_a_number_that_is_none_is_shown_as_the_source_has_it(
    tmp_path: Path, bronze: Bronze
) -> None:
    nothing = {"any_scale": {"scale": 1, "value": b""}, "saletime": 2**62}
    _write(tmp_path, 28, 9, [_value(1, 9) | nothing, _value(1, 10)])
    table = to_table(bronze.find(TOPIC, {"salesid": 1}, limit=2))
    assert table.column("any_scale").to_pylist()[-1] == "NaN"
    assert table.column("saletime").to_pylist()[-1] == str(2**62)


def test_a_time_of_more_than_a_day_is_a_duration() -> None:
    value = _value(1, 1) | {"at": 838 * 3_600_000_000}
    data = io.BytesIO()
    fastavro.schemaless_writer(data, fastavro.parse_schema(SCHEMA), value)
    assert AvroDecoder(SCHEMA).decode(data.getvalue())["at"] == timedelta(hours=838)


def test_a_damaged_file_is_named(bronze: Bronze, tmp_path: Path) -> None:
    path = _write(tmp_path, 28, 9, [_value(1, 9)])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(LabError, match=r"0000000009\.avro"):
        bronze.read(bronze.objects(TOPIC)[0])


def test_an_unknown_topic_is_told_which_there_are(bronze: Bronze) -> None:
    with pytest.raises(LabError) as caught:
        bronze.objects("nosuch")
    assert caught.value.exit_code is ExitCode.USAGE
    assert TOPIC in str(caught.value.hint)


def test_files_are_looked_for_where_the_sink_connector_writes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    project = find_project(Path(__file__))
    shutil.copy(project / "lab.toml", tmp_path)
    shutil.copytree(project / "connectors", tmp_path / "connectors")
    shutil.copytree(project / "spark" / "properties", tmp_path / "spark" / "properties")
    file = tmp_path / "connectors" / "sink_connector_kafka_s3_avro_tickit.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"topics.dir": "raw/changes/"}))
    lab = Lab.find(name="elsewhere", project=tmp_path)
    listing = Mock(return_value=[])
    monkeypatch.setattr(LakeStorage, "of", lambda _store: LakeStorage.local(tmp_path))
    monkeypatch.setattr(Lab, "endpoints", Mock())
    monkeypatch.setattr(LakeStorage, "list", listing)

    assert lab_bronze(lab).topics() == []

    listing.assert_called_once_with("raw/changes")
