"""Every offset once in bronze, wherever the writer dies and however it restarts."""

from __future__ import annotations

import io
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labctl.lake.bronze_check import check_bronze
from labctl.lake.bronze_records import Bronze
from labctl.lake.objectstore import LakeStorage
from lakecontract.bronze_files import BronzeRecord, cut, with_position_fields
from lakecontract.bronze_partitioner import Place
from lakecontract.sink_config import SinkConfig
from lakehouse.bronze.listing import BronzeListing
from lakehouse.bronze.partition_files import PartitionFiles
from lakehouse.bronze.topics import BronzeTopics
from tests.unit.spark.bronze_sinks import LocalStorage, sink_config

TOPIC = "moma.public.artists"
SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Value",
        "fields": [
            {"name": "nationality", "type": ["null", "string"], "default": None},
            {"name": "changed", "type": "long"},
        ],
    }
)
PARSED_SCHEMA = fastavro.parse_schema(json.loads(SCHEMA))
DAY_MS = 86_400_000

LAYOUTS = {
    "default": sink_config("DefaultPartitioner", flush_size=4),
    "daily": sink_config(flush_size=4),
    "wallclock": sink_config("HourlyPartitioner", flush_size=4, timestamp_extractor="Wallclock"),
    "by time": sink_config(
        "TimeBasedPartitioner",
        flush_size=4,
        rotate_interval_ms=DAY_MS,
        path_format="dd/MM/YYYY",
        timezone="Europe/Berlin",
        partition_duration_ms="3600000",
    ),
    "record field": sink_config(
        flush_size=5, timestamp_extractor="RecordField", timestamp_field="changed"
    ),
    "record field, one file": sink_config(
        timestamp_extractor="RecordField",
        timestamp_field="changed",
        rotate_interval_ms=DAY_MS,
        rotate_on_folder_change=True,
    ),
    "field": sink_config("FieldPartitioner", flush_size=6, partition_field_name="nationality"),
    "fields": sink_config(
        "FieldPartitioner", max_open_files=3, partition_field_name="nationality,__kafka_offset"
    ),
}


class DyingError(Exception):
    """The process has died."""


class MortalStorage(LocalStorage):
    """Dies before what it is asked to change next, after so many changes."""

    def __init__(self) -> None:
        self.left: int | None = None

    def write(self, path: str, content: bytes) -> None:
        self._live()
        super().write(path, content)

    def delete(self, path: str) -> None:
        self._live()
        super().delete(path)

    def _live(self) -> None:
        if self.left == 0:
            raise DyingError
        self.left = None if self.left is None else self.left - 1


@dataclass(frozen=True)
class Row:
    """A record of the topic, as Kafka keeps it."""

    partition: int
    offset: int
    timestamp_ms: int
    nationality: str | None
    changed: int
    schema_id: int


ROWS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(0, 3 * DAY_MS),
        st.sampled_from([None, "American", "Český/Slovak", "a=b", "[x]*?"]),
        st.integers(0, 2 * DAY_MS),
        st.sampled_from([1, 1, 1, 2]),
        # An offset that has no record for bronze: a tombstone, or the end of a transaction.
        st.sampled_from([0, 0, 0, 1]),
    ),
    min_size=1,
    max_size=40,
)
LIVES = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 15), st.integers(0, 48)), max_size=6)
"""How many changes each life makes, how many records its batches have, and its clock's hour."""


def rows_of(drawn: list[tuple[int, int, str | None, int, int, int]]) -> list[Row]:
    ends: dict[int, int] = defaultdict(int)
    rows = []
    for partition, timestamp, nationality, changed, schema_id, skipped in drawn:
        offset = ends[partition] + skipped
        ends[partition] = offset + 1
        rows.append(Row(partition, offset, timestamp, nationality, changed, schema_id))
    return rows


def records_of(rows: list[Row], config: SinkConfig, now_ms: int) -> Iterator[BronzeRecord]:
    folder_of = config.partitioner.for_schema(with_position_fields(SCHEMA, config))
    for row in rows:
        value = io.BytesIO()
        content = {"nationality": row.nationality, "changed": row.changed}
        fastavro.schemaless_writer(value, PARSED_SCHEMA, content)
        place = Place(row.partition, row.timestamp_ms, now_ms)
        folder, time_ms = folder_of(place, {**content, "__kafka_offset": row.offset})
        yield BronzeRecord(
            TOPIC,
            row.partition,
            row.offset,
            row.timestamp_ms,
            row.schema_id,
            value.getvalue(),
            folder,
            time_ms,
        )


def live(
    root: Path,
    storage: MortalStorage,
    config: SinkConfig,
    rows: list[Row],
    *,
    batch: int,
    now_ms: int,
) -> None:
    """Write what is missing, `batch` records at a time, as the application does."""
    any_storage: Any = storage
    topics = BronzeTopics(any_storage, lake=str(root), bronze_base_path=str(root))
    schema = with_position_fields(SCHEMA, config)
    files = PartitionFiles(any_storage, topics, config, lambda _: schema, base_path=str(root))
    begin = files.open(TOPIC, [0, 1])
    files.clear_beyond(TOPIC)
    waiting = [row for row in rows if row.offset >= begin.get(row.partition, 0)]
    for at in range(0, len(waiting), batch):
        part = sorted(waiting[at : at + batch], key=lambda row: row.partition)
        for rotation in cut(records_of(part, config, now_ms), config):
            for _ in files.append(rotation):
                """It is there."""
            whole_before(root, topics, config, rows)


def whole_before(root: Path, topics: BronzeTopics, config: SinkConfig, rows: list[Row]) -> None:
    """Whoever reads bronze up to its noted position has everything before it, and once."""
    position = topics.position_of(TOPIC)
    if position is None:
        assert config.rotate_on_folder_change
        return
    listing = BronzeListing(LocalStorage(), f"{root}/topics/{TOPIC}")  # type: ignore[arg-type]
    found = Counter(
        place for file in listing.files_before(position) for place in places_in(Path(file.path))
    )
    wanted = [(r.partition, r.offset) for r in rows if r.offset < position.get(r.partition, 0)]
    assert found == Counter(wanted)


def places_in(path: Path) -> list[tuple[int, int]]:
    records: Any = fastavro.reader(io.BytesIO(path.read_bytes()))
    return [(record["__kafka_partition"], record["__kafka_offset"]) for record in records]


def check(root: Path, config: SinkConfig, rows: list[Row]) -> None:
    """Every record is there once, where it belongs; and `topics bronze check` says the same."""
    topic = root / "topics" / TOPIC
    files = [path for path in topic.rglob("*") if path.is_file()]
    found = Counter(place for path in files for place in places_in(path))
    assert found == Counter((row.partition, row.offset) for row in rows)
    if config.partitioner.extractor != "Wallclock":
        folders = {
            (one.partition, one.offset): one.folder for one in records_of(rows, config, now_ms=0)
        }
        for path in files:
            assert {folders[place] for place in places_in(path)} == {
                path.parent.relative_to(topic).as_posix()
            }
    there = {(row.partition, row.offset) for row in rows}
    skipped = [(p, n) for p in (0, 1) for n in range(50) if (p, n) not in there]
    assert check_bronze(Bronze(LakeStorage.local(root)), TOPIC, elsewhere=skipped) == []


@pytest.mark.parametrize("layout", LAYOUTS)
@given(drawn=ROWS, lives=LIVES)
@settings(max_examples=20, deadline=None, print_blob=True)
def test_every_offset_is_there_once_however_often_the_writer_dies(
    layout: str, drawn: list[Any], lives: list[tuple[int, int, int]]
) -> None:
    config, rows = LAYOUTS[layout], rows_of(drawn)
    with tempfile.TemporaryDirectory() as folder:
        root, storage = Path(folder), MortalStorage()
        for changes, batch, hour in lives:
            storage.left = changes
            with suppress(DyingError):
                live(root, storage, config, rows, batch=batch, now_ms=hour * 3_600_000)
        storage.left = None
        live(root, storage, config, rows, batch=7, now_ms=DAY_MS)
        check(root, config, rows)


@given(drawn=ROWS, lives=LIVES, layouts=st.lists(st.sampled_from(sorted(LAYOUTS)), min_size=6))
@settings(max_examples=20, deadline=None, print_blob=True)
def test_a_changed_layout_loses_and_doubles_nothing(
    drawn: list[Any], lives: list[tuple[int, int, int]], layouts: list[str]
) -> None:
    """Each life is by another layout, which begins where the one before was."""
    rows = rows_of(drawn)
    with tempfile.TemporaryDirectory() as folder:
        root, storage = Path(folder), MortalStorage()
        for (changes, batch, hour), layout in zip(lives, layouts, strict=False):
            storage.left = changes
            with suppress(DyingError):
                live(root, storage, LAYOUTS[layout], rows, batch=batch, now_ms=hour * 3_600_000)
        storage.left = None
        live(root, storage, LAYOUTS["default"], rows, batch=7, now_ms=DAY_MS)
        files = (root / "topics" / TOPIC).rglob("*.avro")
        found = Counter(place for path in files for place in places_in(path))
        assert found == Counter((row.partition, row.offset) for row in rows)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_place_to_die_at(layout: str, tmp_path: Path) -> None:
    """Once, and a second time in what comes next, with batches of other sizes each time."""
    config = LAYOUTS[layout]
    names = ["American", None, "Český/Slovak"]
    rows = rows_of(
        [(n // 3 % 2, n * DAY_MS // 6, names[n % 3], n * DAY_MS // 4, 1, 0) for n in range(14)]
    )
    deaths, whole = 0, False
    for first in range(24):
        if whole:  # with more changes left it would live the same life again
            break
        for second in (0, 1, 3):
            root, storage = tmp_path / f"{first}-{second}", MortalStorage()
            for changes, batch in ((first, 6), (second, 9)):
                storage.left = changes
                try:
                    live(root, storage, config, rows, batch=batch, now_ms=first * 3_600_000)
                    whole = whole or batch == 6
                except DyingError:
                    deaths += 1
            storage.left = None
            live(root, storage, config, rows, batch=4, now_ms=DAY_MS)
            check(root, config, rows)
    assert deaths > 20


def test_a_topic_is_not_remembered_from_before_it_was_away(tmp_path: Path) -> None:
    """One that comes back may be another, whose offsets start again."""
    storage: Any = LocalStorage()
    topics = BronzeTopics(storage, lake=str(tmp_path), bronze_base_path=str(tmp_path))
    config = LAYOUTS["field"]
    schema = with_position_fields(SCHEMA, config)
    files = PartitionFiles(storage, topics, config, lambda _: schema, base_path=str(tmp_path))
    files.open(TOPIC, [0])
    rows = [Row(0, offset, 0, "American", 0, 1) for offset in range(3)]
    for rotation in cut(records_of(rows, config, now_ms=0), config):
        assert list(files.append(rotation))
    assert files.position(TOPIC) == {0: 3}
    files.forget()
    assert files.position(TOPIC) == {}
