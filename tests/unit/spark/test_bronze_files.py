"""Bronze files: cut, named and encoded as the S3 sink connector would, without decoding values."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakecontract.bronze_files import (
    BronzeFile,
    BronzeRecord,
    FileName,
    container,
    cut,
    records_in,
    schema_in,
    with_position_fields,
)
from lakecontract.bronze_partitioner import Place
from lakecontract.sink_config import Codec, SinkConfig
from lakehouse.bronze.reader import parts_in
from tests.unit.spark.bronze_sinks import sink_config

TOPIC = "tickit.ecomm.sale"
SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Value",
        "namespace": TOPIC,
        "fields": [
            {"name": "salesid", "type": "int"},
            {"name": "note", "type": ["null", "string"], "default": None},
        ],
    }
)
CONFIG = sink_config()
NOON = int(datetime(2024, 2, 29, 12, tzinfo=UTC).timestamp() * 1000)
DAY_MS = 86_400_000


def no_snappy(_: bytes) -> bytes:
    raise AssertionError("snappy was not asked for")


def record(offset: int, *, partition: int = 0, ms: int = NOON, schema_id: int = 1) -> BronzeRecord:
    value = io.BytesIO()
    fastavro.schemaless_writer(
        value,
        fastavro.parse_schema(json.loads(SCHEMA)),
        {"salesid": offset, "note": f"n° {offset}"},
    )
    folder, time_ms = CONFIG.partitioner.for_schema(SCHEMA)(Place(partition, ms, 0), {})
    return BronzeRecord(TOPIC, partition, offset, ms, schema_id, value.getvalue(), folder, time_ms)


def offsets(records: list[BronzeRecord], config: SinkConfig = CONFIG) -> list[list[int]]:
    return [
        [one.offset for one in file.records]
        for rotation in cut(records, config)
        for file in rotation.files
    ]


def test_a_file_ends_at_flush_size() -> None:
    assert offsets([record(n) for n in range(5)], replace(CONFIG, flush_size=2)) == [
        [0, 1],
        [2, 3],
        [4],
    ]


def test_a_file_never_mixes_schemas() -> None:
    records = [record(0), record(1), record(2, schema_id=2), record(3)]

    assert offsets(records) == [[0, 1], [2], [3]]


def test_a_file_holds_one_day_of_one_partition() -> None:
    records = [
        record(0),
        record(1, ms=NOON + DAY_MS),
        record(2, ms=NOON + DAY_MS),
        record(7, partition=1, ms=NOON + DAY_MS),
    ]

    assert offsets(records) == [[0], [1, 2], [7]]


def test_a_file_spans_less_than_the_rotation_interval() -> None:
    records = [record(0), record(1, ms=NOON + 999), record(2, ms=NOON + 1000)]

    assert offsets(records, replace(CONFIG, rotate_interval_ms=1000)) == [[0, 1], [2]]


def test_no_records_no_file() -> None:
    assert offsets([]) == []


@pytest.mark.parametrize(
    ("ms", "day"),
    [
        (NOON, "year=2024/month=02/day=29"),
        (0, "year=1970/month=01/day=01"),
        (NOON // DAY_MS * DAY_MS - 1, "year=2024/month=02/day=28"),
    ],
)
def test_the_name_says_topic_day_partition_and_first_offset(ms: int, day: str) -> None:
    file = BronzeFile([record(42, partition=3, ms=ms), record(43, partition=3, ms=ms)])

    key = file.key("topics")

    assert key == f"topics/{TOPIC}/{day}/{TOPIC}+3+0000000042.avro"
    assert FileName.parse(key.rsplit("/", 1)[1]) == FileName(TOPIC, 3, 42)


def test_other_names_are_no_bronze_files() -> None:
    assert FileName.parse("_SUCCESS") is None
    assert FileName.parse(f"{TOPIC}+0.avro") is None


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2"])
def test_a_file_reads_back_as_the_values_and_their_places(codec: Codec) -> None:
    records = [record(n, partition=2, ms=NOON + n) for n in range(5000)]
    schema = with_position_fields(SCHEMA, CONFIG)

    content = container(BronzeFile(records), schema, codec, no_snappy)

    rows = list(fastavro.reader(io.BytesIO(content)))
    assert len(rows) == len(records)
    assert rows[4321] == {
        "salesid": 4321,
        "note": "n° 4321",
        "__kafka_partition": 2,
        "__kafka_offset": 4321,
        "__kafka_timestamp": datetime.fromtimestamp((NOON + 4321) / 1000, UTC),
    }


def test_the_same_records_give_the_same_bytes() -> None:
    file = BronzeFile([record(n) for n in range(10)])

    assert container(file, SCHEMA, "deflate", no_snappy) == container(
        file, SCHEMA, "deflate", no_snappy
    )


@given(
    st.lists(
        st.tuples(st.integers(0, 2**62), st.integers(-(2**62), 2**62)), min_size=1, max_size=20
    )
)
def test_every_offset_and_timestamp_survives(places: list[tuple[int, int]]) -> None:
    # Values that no day can be made of: timestamps are read as the plain numbers they are.
    plain = json.loads(with_position_fields(SCHEMA, CONFIG))
    plain["fields"][-1]["type"] = "long"
    records = [replace(record(0), offset=offset, timestamp_ms=ms) for offset, ms in places]

    content = container(BronzeFile(records), json.dumps(plain), "null", no_snappy)

    rows = [dict(row) for row in fastavro.reader(io.BytesIO(content)) if isinstance(row, dict)]
    assert [(row["__kafka_offset"], row["__kafka_timestamp"]) for row in rows] == places


def test_the_schema_is_found_in_the_first_bytes() -> None:
    content = container(BronzeFile([record(0)]), SCHEMA, "null", no_snappy)

    assert schema_in(content) == SCHEMA
    assert schema_in(content[:40]) is None
    with pytest.raises(ValueError, match="no Avro object container"):
        schema_in(b"PAR1" + content)


def test_the_schema_of_a_foreign_file_is_found_too() -> None:
    out = io.BytesIO()
    fastavro.writer(out, json.loads(SCHEMA), [{"salesid": 1, "note": None}], codec="deflate")

    found = schema_in(out.getvalue())

    assert found is not None
    assert [field["name"] for field in json.loads(found)["fields"]] == ["salesid", "note"]


def file_of(*records: BronzeRecord) -> bytes:
    return container(
        BronzeFile(records), with_position_fields(SCHEMA, CONFIG), "deflate", no_snappy
    )


def test_what_small_files_hold_is_told_by_their_bytes() -> None:
    files = [file_of(record(7), record(8)), file_of(record(3, partition=1)), file_of(record(9))]
    parts = parts_in(files)
    assert parts is not None
    assert {part.partition: (part.first, part.last, part.rows) for part in parts} == {
        0: (7, 9, 3),
        1: (3, 3, 1),
    }


@pytest.mark.parametrize(
    "files",
    [[file_of(record(1)), file_of(record(3))], [file_of(record(1))[:-20]], [b"no Avro at all"]],
    ids=["offsets with a gap", "a file cut short", "no file of Avro"],
)
def test_files_with_anything_odd_are_left_to_spark(files: list[bytes]) -> None:
    assert parts_in(files) is None


def test_a_file_that_is_cut_short_anywhere_is_noticed() -> None:
    """Between two blocks too, where it is a whole file to any reader."""
    values = [record(offset) for offset in range(5_000)]
    content = file_of(*values)
    assert records_in(content) == 5_000
    assert content.count(content[-16:]) > 2, "one block alone shows nothing"
    for end in {*range(1, len(content), 997), len(content) - 1, content.index(content[-16:]) + 16}:
        with pytest.raises(ValueError, match=r"cut short|of the 5,000 records|no Avro"):
            records_in(content[:end])
    torn = bytearray(content)
    torn[content.rindex(content[-16:], 0, -16)] ^= 1
    with pytest.raises(ValueError, match="does not end as the others do"):
        records_in(bytes(torn))
