"""The folders and files of the S3 sink connector's partitioners, as its source has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from lakecontract.bronze_files import BronzeRecord, cut
from lakecontract.bronze_partitioner import (
    FolderError,
    Place,
    check_folder,
    is_by_value,
    partitioner_problems,
)
from lakecontract.bronze_path_format import parse_millis, parse_pattern
from lakecontract.sink_config import SinkConfig
from tests.unit.spark.bronze_sinks import PARTITIONER, sink_config

TOPIC = "moma.public.artists"
MOMENT = 1_709_167_800_123
"""2024-02-29 00:50:00.123 UTC, a Thursday."""
NOW = 1_800_000_000_000
LOGICAL = "org.apache.kafka.connect.data."


def folder(
    config: SinkConfig,
    *,
    fields: Mapping[str, Any] | None = None,
    default: Any = None,
    partition: int = 3,
    ms: int = MOMENT,
) -> str:
    """Of a record whose value has `fields`: by name, type and value."""
    schema = {
        "type": "record",
        "name": "Value",
        "fields": [
            {"name": name, "type": kind, "default": default}
            for name, (kind, _) in (fields or {}).items()
        ],
    }
    value = {name: content for name, (_, content) in (fields or {}).items()}
    found, _ = config.partitioner.for_schema(json.dumps(schema))(Place(partition, ms, NOW), value)
    return found


def by_time(pattern: str, zone: str = "UTC", ms: int = 1, extractor: str = "Record") -> SinkConfig:
    return sink_config(
        "TimeBasedPartitioner",
        path_format=pattern,
        timezone=zone,
        partition_duration_ms=str(ms),
        timestamp_extractor=extractor,
        timestamp_field="changed",
    )


def test_a_day_before_1970_is_named_after_its_end_as_java_divides() -> None:
    assert folder(sink_config(), ms=-1) == "year=1970/month=01/day=01"


def test_the_default_is_by_partition() -> None:
    assert folder(sink_config("DefaultPartitioner")) == "partition=3"
    assert not sink_config("DefaultPartitioner").partitioner.is_by_value


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (sink_config(), "year=2024/month=02/day=29"),
        (sink_config(timezone="America/New_York"), "year=2024/month=02/day=28"),
        (sink_config("HourlyPartitioner"), "year=2024/month=02/day=29/hour=00"),
        (
            sink_config("HourlyPartitioner", timezone="+05:30"),
            "year=2024/month=02/day=29/hour=06",
        ),
        (by_time("YYYY/MM/dd/HHmm", ms=600_000), "2024/02/29/0050"),
        (by_time("YYYY/MM/dd/HHmm", ms=3_600_000), "2024/02/29/0000"),
        (by_time("YYYY/MM/dd/HHmm", "Europe/Berlin", 86_400_000), "2024/02/29/0000"),
        (by_time("'dt'=YY-M-d/"), "dt=24-2-29"),
        (by_time("xxxx-'W'ww-e"), "2024-W09-4"),
        (by_time("DDD 'o''clock' k:h:K ss.SSS ''"), "060 o'clock 24:12:0 00.123 '"),
    ],
)
def test_folders_by_the_time_of_the_record(config: SinkConfig, expected: str) -> None:
    assert folder(config) == expected


def test_the_clock_is_read_for_wallclock_alone() -> None:
    config = sink_config(timestamp_extractor="Wallclock")
    assert folder(config) == "year=2027/month=01/day=15"
    assert not config.partitioner.is_by_value


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("long", MOMENT, "2024-02-29"),
        ("int", 86_400_000, "1970-01-02"),
        (["null", "long"], MOMENT, "2024-02-29"),
        ({"type": "long", "connect.name": f"{LOGICAL}Timestamp"}, MOMENT, "2024-02-29"),
        # Microseconds are read as milliseconds, as the connector does.
        (
            {"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"},
            10**15,
            "33658-09-27",
        ),
        ("long", -1, "1969-12-31"),
        ("string", "1709167800123", "2024-02-29"),
        ("string", "2024-02-29", "2024-02-29"),
        ("string", "2024-02-29T23:50:00.5-02:00", "2024-03-01"),
        ("string", "2024-02-29T00:50:00.123456Z", "2024-02-29"),
        ("string", "2024", "1970-01-01"),
    ],
)
def test_folders_by_a_field_that_is_a_time(kind: Any, value: Any, expected: str) -> None:
    config = by_time("YYYY-MM-dd", extractor="RecordField")
    assert config.partitioner.is_by_value
    assert folder(config, fields={"changed": (kind, value)}) == expected


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        (["null", "long"], None, "its changed is null"),
        ("string", "yesterday", "its changed is no time"),
        ("double", 1.5, "its changed is of the type double, which is no time"),
        ({"type": "int", "logicalType": "date"}, 1, "of the type date"),
        ({"type": "int", "connect.type": "int16"}, 1, "of the type int16"),
    ],
)
def test_what_is_no_time_has_no_folder(kind: Any, value: Any, why: str) -> None:
    config = sink_config(timestamp_extractor="RecordField", timestamp_field="changed")
    with pytest.raises(FolderError, match=why):
        folder(config, fields={"changed": (kind, value)})


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("string", "American", "nationality=American"),
        (["null", "string"], None, "nationality=null"),
        ("string", "null", "nationality=null"),
        ("string", "", "nationality="),
        ("string", "Ivorian/Malian [1] 100%?", "nationality=Ivorian/Malian [1] 100%?"),
        ("string", "Čeština \u4e2d\u6587", "nationality=Čeština \u4e2d\u6587"),
        ("boolean", True, "nationality=true"),
        ("long", -7, "nationality=-7"),
        ({"type": "int", "connect.type": "int16"}, 7, "nationality=7"),
        ({"type": "enum", "name": "e", "symbols": ["A"]}, "A", "nationality=A"),
    ],
)
def test_folders_by_a_field(kind: Any, value: Any, expected: str) -> None:
    config = sink_config("FieldPartitioner", partition_field_name="nationality")
    assert folder(config, fields={"nationality": (kind, value)}) == expected
    check_folder(expected)


def test_folders_by_several_fields_and_nested_ones() -> None:
    config = sink_config("FieldPartitioner", partition_field_name="born, place.city")
    place = {"type": "record", "name": "Place", "fields": [{"name": "city", "type": "string"}]}
    fields = {"born": ("int", 1907), "place": (place, {"city": "Coyoacán"})}
    assert folder(config, fields=fields) == "born=1907/place.city=Coyoacán"


def test_a_null_has_its_default_as_connect_reads_it() -> None:
    config = sink_config("FieldPartitioner", partition_field_name="kind")
    fields = {"kind": (["string", "null"], None)}
    assert folder(config, fields=fields, default="other") == "kind=other"


@pytest.mark.parametrize("kind", ["double", "bytes", {"type": "int", "logicalType": "date"}])
def test_a_type_that_names_no_folder(kind: Any) -> None:
    config = sink_config("FieldPartitioner", partition_field_name="price")
    with pytest.raises(FolderError, match="its price is of the type"):
        folder(config, fields={"price": (kind, None)})


@pytest.mark.parametrize("value", ["..", "a//b", "a/", "/..", "x" * 1000])
def test_folders_that_no_store_takes(value: str) -> None:
    with pytest.raises(FolderError, match="its folder"):
        check_folder(f"{value}/nationality={value}")


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"partitioner.class": "com.example.Own"}, "partitioner.class=com.example.Own cannot be"),
        ({"timezone": "Europe/Atlantis"}, "Europe/Atlantis is no time zone"),
        ({"timezone": ""}, "timezone is missing"),
        ({"locale": ""}, "locale is missing"),
        ({"timestamp.extractor": "com.example.Own"}, "timestamp.extractor=com.example.Own"),
        ({"path.format": "'month'=MMM"}, "MMM stands for a name"),
        ({"path.format": "YYYY/jj"}, "jj stands for nothing known"),
        ({"path.format": "YYYY//MM"}, "a folder without a name"),
        ({"partition.duration.ms": "-1"}, "partition.duration.ms=-1"),
        (
            {"timestamp.extractor": "RecordField", "timestamp.field": "a..b"},
            "a field without a name",
        ),
        (
            {"partitioner.class": f"{PARTITIONER}FieldPartitioner"},
            "partition.field.name is missing",
        ),
    ],
)
def test_what_cannot_be_named_the_same_way_is_refused(values: dict[str, str], problem: str) -> None:
    sound = {
        "partitioner.class": f"{PARTITIONER}TimeBasedPartitioner",
        "path.format": "YYYY",
        "partition.duration.ms": "1",
        "timezone": "UTC",
        "locale": "en",
    }
    assert partitioner_problems(sound) == []
    (found,) = partitioner_problems(sound | values)
    assert problem in found


def test_without_a_class_the_connector_takes_its_default() -> None:
    assert partitioner_problems({"timezone": "UTC"}) == []
    assert not is_by_value({"timezone": "UTC"})
    assert is_by_value({"partitioner.class": f"{PARTITIONER}FieldPartitioner"})


@pytest.mark.parametrize("text", ["", "12:30", "2024-13-01", "20240229x", "T25", "2024-02-29 10"])
def test_texts_that_are_no_times(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_millis(text)


def test_a_pattern_of_text_alone() -> None:
    assert len(parse_pattern("'all'")) == 1


def record(offset: int, folder: str, *, time_ms: int | None = None, schema_id: int = 1) -> Any:
    return BronzeRecord(TOPIC, 0, offset, 0, schema_id, b"", folder, time_ms)


def rotations(records: list[BronzeRecord], config: SinkConfig) -> list[dict[str, list[int]]]:
    return [
        {file.records[0].folder: [one.offset for one in file.records] for file in rotation.files}
        for rotation in cut(records, config)
    ]


FIELD = sink_config("FieldPartitioner", partition_field_name="n")
AB = [record(n, f"n={'ab'[n % 2]}") for n in range(5)]


def test_files_of_several_folders_are_open_side_by_side() -> None:
    assert rotations(AB, FIELD) == [{"n=a": [0, 2, 4], "n=b": [1, 3]}]


def test_flush_size_counts_the_records_of_all_of_them() -> None:
    assert rotations(AB, replace(FIELD, flush_size=3)) == [
        {"n=a": [0, 2], "n=b": [1]},
        {"n=b": [3], "n=a": [4]},
    ]


def test_one_more_folder_than_may_be_open_closes_all() -> None:
    assert rotations([*AB, record(5, "n=c")], replace(FIELD, max_open_files=2)) == [
        {"n=a": [0, 2, 4], "n=b": [1, 3]},
        {"n=c": [5]},
    ]


def test_a_second_schema_in_a_folder_closes_all() -> None:
    records = [record(0, "n=a"), record(1, "n=b", schema_id=2), record(2, "n=b")]
    assert rotations(records, FIELD) == [{"n=a": [0], "n=b": [1]}, {"n=b": [2]}]


def test_by_time_one_folder_is_open_unless_it_is_a_fields() -> None:
    assert rotations(AB, sink_config()) == [
        {"n=a": [0]},
        {"n=b": [1]},
        {"n=a": [2]},
        {"n=b": [3]},
        {"n=a": [4]},
    ]


def test_the_rotation_interval_is_of_the_folders_time() -> None:
    config = replace(FIELD, rotate_interval_ms=1000)
    records = [record(n, "n=a", time_ms=time) for n, time in enumerate((5_000, 5_999, 0, 6_000))]
    assert rotations(records, config) == [{"n=a": [0, 1, 2]}, {"n=a": [3]}]


def test_a_files_key_is_its_folder_and_its_first_record() -> None:
    (rotation,) = cut(AB[1:2], FIELD)
    assert rotation.files[0].key("raw") == f"raw/{TOPIC}/n=b/{TOPIC}+0+0000000001.avro"
