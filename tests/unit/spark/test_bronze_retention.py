"""Which bronze files go after the retention, and what stays true of the rest."""

from __future__ import annotations

import io
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import fastavro
import pytest

from lakecontract.bronze_beginning import Beginning
from lakecontract.errors import PermanentError
from lakehouse.bronze.feed import BronzeFeed
from lakehouse.bronze.folders import BronzeFolder, bronze_folders
from lakehouse.bronze.listing import BronzeListing, ListedFile
from lakehouse.bronze.reader import BronzeReader
from lakehouse.bronze.retention import Retention, removable
from lakehouse.bronze.topics import BronzeTopics
from lakehouse.progress import WorkerProgress
from lakehouse.topic_identity import TopicIdentity, TopicState
from tests.unit.spark.bronze_sinks import LocalStorage

TOPIC = "t.sale"
DAY = 86_400
OLD = 1_000
NEW = 3_000
BEFORE = 2_000
SCHEMA = fastavro.parse_schema(
    {"type": "record", "name": "V", "fields": [{"name": "__kafka_offset", "type": "long"}]}
)


def listed(partition: int, offset: int, modified_ms: int) -> ListedFile:
    return ListedFile(f"{partition}+{offset}", 10, partition, offset, modified_ms)


@pytest.mark.parametrize(
    ("times", "needed", "most", "removed"),
    [
        ([OLD, OLD, NEW], {0: 30}, 9, [0, 10]),
        ([OLD, OLD, NEW], None, 9, [0, 10]),
        ([OLD, OLD, OLD], {0: 30}, 9, [0, 10]),  # The last one shows the position.
        ([NEW, OLD, OLD], {0: 30}, 9, []),  # Only files before the first one that stays.
        ([OLD, BEFORE, NEW], {0: 30}, 9, [0]),
        ([OLD, OLD, NEW], {0: 19}, 9, [0]),  # A table reads on in the second file.
        ([OLD, OLD, NEW], {0: 10}, 9, [0]),
        ([OLD, OLD, NEW], {0: 9}, 9, []),
        ([OLD, OLD, NEW], {}, 9, []),  # A table that has not been opened.
        ([OLD, OLD, NEW], {0: 30}, 1, [0]),
        ([OLD], {0: 30}, 9, []),
        ([], {0: 30}, 9, []),
    ],
)
def test_the_oldest_files_go_that_no_table_needs(
    times: list[int], needed: Mapping[int, int] | None, most: int, removed: list[int]
) -> None:
    files = [listed(0, 10 * n, modified) for n, modified in enumerate(times)]

    found = removable(files, BEFORE, needed, most)

    assert [file.start_offset for file in found.files] == removed
    assert found.begins == ({0: 10 * len(removed)} if removed else {})


def test_partitions_are_judged_apart() -> None:
    files = [listed(0, 0, OLD), listed(0, 9, NEW), listed(1, 0, NEW), listed(1, 7, NEW)]
    files += [listed(2, 0, OLD), listed(2, 5, OLD), listed(2, 6, OLD)]

    found = removable(files, BEFORE, {0: 9, 1: 9, 2: 5}, 9)

    assert [file.path for file in found.files] == ["0+0", "2+0"]
    assert found.begins == {0: 9, 2: 5}


class Lake:
    """A folder for the bucket, with one topic's files and their retention of one day."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.storage = LocalStorage()
        self.topics = BronzeTopics(
            cast("Any", self.storage), lake=str(path), bronze_base_path=str(path)
        )
        self.folders: list[BronzeFolder] = []
        self.folder({0: 1_000})

    def folder(self, taken: Mapping[int, int] | None, **facts: Any) -> None:
        path = str(self.path / "topics" / TOPIC)
        self.folders = [BronzeFolder(TOPIC, path, taken, **({"is_in_order": True} | facts))]

    def write(
        self, folder: str, offsets: Sequence[int], *, days: float, partition: int = 0
    ) -> None:
        out = io.BytesIO()
        fastavro.writer(out, SCHEMA, [{"__kafka_offset": offset} for offset in offsets])
        name = f"{TOPIC}+{partition}+{offsets[0]:010d}.avro"
        self.put(f"topics/{TOPIC}/{folder}/{name}", out.getvalue(), days)

    def put(self, key: str, content: bytes, days: float) -> None:
        self.storage.write(str(self.path / key), content)
        written = time.time() - days * DAY
        os.utime(self.path / key, (written, written))

    def retention(self) -> Retention:
        return Retention(cast("Any", self.storage), self.topics, DAY, lambda: self.folders)

    def files(self, below: str = "topics") -> list[str]:
        return sorted(path.name for path in (self.path / below).rglob("*") if path.is_file())

    def starts(self) -> list[int]:
        return [int(name.removesuffix(".avro").rsplit("+", 1)[1]) for name in self.files()]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path)
    for start, days in ((0, 4), (10, 3), (20, 2), (30, 0.5), (40, 0.1)):
        lake.write(f"day={start // 20}", range(start, start + 10), days=days)
    return lake


def test_a_pass_removes_old_files_and_notes_where_bronze_begins(lake: Lake) -> None:
    retention = lake.retention()

    assert retention.remove_due() is False

    assert lake.starts() == [30, 40]
    assert not (lake.path / "topics" / TOPIC / "day=0").exists()
    begin = lake.topics.beginning_of(TOPIC)
    assert begin is not None
    assert begin.offsets == {0: 30}
    # The third file, the last one removed, was written two days ago.
    age = time.time() - datetime.fromisoformat(begin.since).timestamp()
    assert 1.9 * DAY < age < 2.1 * DAY
    status = retention.status()
    assert (status["files"], status["error"]) == ({TOPIC: 3}, None)
    assert status["bytes"][TOPIC] > 0
    assert status["begins"] == {TOPIC: {"offsets": {"0": 30}, "since": begin.since}}
    # A second pass, and one of another process, change nothing, and know where bronze begins.
    for again in (retention, lake.retention()):
        again.remove_due()
        assert again.status()["begins"] == status["begins"]
    assert lake.starts() == [30, 40]


def test_bronze_in_use_is_left_alone(lake: Lake) -> None:
    retention = lake.retention()
    with lake.topics.in_use(TOPIC):
        retention.remove_due()
    assert lake.starts() == [0, 10, 20, 30, 40]

    with lake.topics.removing(TOPIC, lake.topics.uses(TOPIC) - 1) as may_remove:
        assert not may_remove  # It was in use after this removal was planned.
    retention.remove_due()
    assert lake.starts() == [30, 40]


@pytest.mark.parametrize("deletions", range(4))
def test_a_removal_that_was_cut_short_is_noted_and_completed(
    lake: Lake, deletions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = deletions

    def delete(path: str) -> None:
        nonlocal left
        if left == 0:
            raise OSError("the store went away")
        left -= 1
        Path(path).unlink()

    with monkeypatch.context() as patch:
        patch.setattr(lake.storage, "delete", delete)
        retention = lake.retention()
        retention.remove_due()
    if deletions < 3:
        assert retention.status()["error"] == "the store went away"
    assert len(lake.starts()) == 5 - deletions
    begin = lake.topics.beginning_of(TOPIC)
    assert begin is not None
    assert begin.offsets == {0: 30}
    with pytest.raises(PermanentError, match="bronze begins at offset 30 of partition 0"):
        lake.topics.require_all_from(TOPIC, {}, "sale")

    lake.retention().remove_due()
    assert lake.starts() == [30, 40]
    assert lake.topics.beginning_of(TOPIC) == begin


def by_name(lake: Lake) -> None:
    lake.write("name=a", [0, 3], days=3)
    lake.write("name=b", [1, 12], days=3)
    lake.write("name=a2", [4, 11], days=0.5)


def noted(lake: Lake) -> None:
    lake.topics.note_position(TOPIC, {0: 13})


def by_the_connector(lake: Lake) -> None:
    lake.folder({0: 1_000}, is_in_order=False)


@pytest.mark.parametrize("kind", [noted, by_the_connector])
def test_a_file_with_a_later_record_stays(tmp_path: Path, kind: Callable[[Lake], None]) -> None:
    """Files of several folders are open at a time: their offsets interleave."""
    lake = Lake(tmp_path)
    by_name(lake)
    kind(lake)

    lake.retention().remove_due()

    assert lake.starts() == [1, 4]
    begin = lake.topics.beginning_of(TOPIC)
    assert begin is not None
    assert begin.offsets == {0: 4}


def test_a_partition_whose_files_stay_keeps_its_beginning(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    by_name(lake)
    for offsets, days in (([0, 9], 3.0), ([5], 0.5)):
        lake.write("name=c", offsets, days=days, partition=1)
    lake.topics.note_position(TOPIC, {0: 13, 1: 10})
    lake.folder({0: 1_000, 1: 1_000})

    lake.retention().remove_due()

    begin = lake.topics.beginning_of(TOPIC)
    assert begin is not None
    assert begin.offsets == {0: 4}


def test_a_store_that_does_not_answer_is_reported_and_asked_again(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    retention = lake.retention()

    def fails(_folder: str, **_times: Any) -> list[Any]:
        raise OSError("the store went away")

    with monkeypatch.context() as patch:
        patch.setattr(lake.storage, "files_below", fails)
        assert retention.remove_due() is False
    assert retention.status()["error"] == "the store went away"

    retention.remove_due()
    assert retention.status()["error"] is None
    assert lake.starts() == [30, 40]


def test_folders_that_cannot_be_listed_are_reported(lake: Lake) -> None:
    def folders() -> list[BronzeFolder]:
        raise OSError("no such bucket")

    retention = Retention(cast("Any", lake.storage), lake.topics, DAY, folders)
    retention.remove_due()
    assert retention.status()["error"] == "no such bucket"


def test_a_damaged_file_whose_end_is_unknown_stays(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    by_name(lake)
    noted(lake)
    lake.put(f"topics/{TOPIC}/name=a/{TOPIC}+0+{0:010d}.avro", b"Obj", 3)

    lake.retention().remove_due()

    assert lake.starts() == [0, 1, 4]
    assert lake.topics.beginning_of(TOPIC) is None


def test_files_after_the_noted_position_are_not_looked_at(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    for start in (0, 10, 20):
        lake.write("name=a", [start], days=3)
    lake.topics.note_position(TOPIC, {0: 11})

    lake.retention().remove_due()

    assert lake.starts() == [10, 20]


def test_old_files_that_were_put_aside_go_too(lake: Lake) -> None:
    lake.put(f"retired/{TOPIC}/1/day=0/old.avro", b"old", 2)
    lake.put(f"retired/{TOPIC}/2/day=0/new.avro", b"new", 0.5)
    retention = lake.retention()

    retention.remove_due()

    assert lake.files("retired") == ["new.avro"]
    assert not (lake.path / "retired" / TOPIC / "1").exists()
    assert (retention.status()["files"]["retired"], retention.status()["bytes"]["retired"]) == (
        1,
        3,
    )


def test_bronze_that_was_put_aside_begins_again(lake: Lake) -> None:
    lake.retention().remove_due()
    lake.topics.ask_to_retire(TOPIC)

    lake.topics.retire(str(lake.path / "topics"), lambda _topic: True)

    lake.topics.require_all_from(TOPIC, {}, "sale")


def test_a_table_may_go_on_after_the_beginning(lake: Lake) -> None:
    lake.topics.note_beginning(TOPIC, Beginning({0: 30, 1: 5}, "2026"))
    lake.topics.require_all_from(TOPIC, {0: 30, 1: 7}, "sale")
    for lacking in ({0: 29, 1: 7}, {0: 30}, {}):
        with pytest.raises(PermanentError, match="labctl table rebuild sale --from-topic"):
            lake.topics.require_all_from(TOPIC, lacking, "sale")


def test_a_topic_is_needed_as_far_as_its_slowest_table_and_sinks_add_theirs(lake: Lake) -> None:
    for topic in ("t.other", "u.foreign"):
        lake.put(f"topics/{topic}/day=0/{topic}+0+0000000000.avro", b"", 0)
    config = cast("Any", SimpleNamespace(topic=TOPIC, bronze_root=f"topics/{TOPIC}"))
    sink = SimpleNamespace(
        topics_path=str(lake.path / "topics"), reads=lambda topic: topic.startswith("t.")
    )

    def folders(sinks: list[Any], *offsets: Mapping[str, int]) -> dict[str, BronzeFolder]:
        tables = [(config, one) for one in offsets]
        found = bronze_folders(cast("Any", lake.storage), str(lake.path), tables, sinks, "bronze")
        return {folder.topic: folder for folder in found}

    found = folders([sink], {"0": 80_000, "1": 5}, {"0": 60_000})
    assert sorted(found) == ["t.other", TOPIC]
    assert found["t.other"].taken is None
    assert found[TOPIC].taken == {0: 60_000, 1: 0}
    assert found[TOPIC].needed(is_noted=True) == {0: 10_000, 1: -50_000}
    assert found[TOPIC].needed(is_noted=False) == found[TOPIC].taken
    assert found[TOPIC].is_in_order
    by_connector = folders([], {})
    assert list(by_connector) == [TOPIC]
    assert by_connector[TOPIC].taken == {}
    assert not by_connector[TOPIC].is_in_order


def bronze_feed(
    lake: Lake,
    progress: WorkerProgress,
    topic: str,
    written: dict[str, int],
    *,
    refill: bool = False,
    opened: list[TopicState] | None = None,
) -> BronzeFeed:
    """Return a feed of a table whose topic's records up to `written` are in bronze, if any are.

    It adds to `opened` what the table is opened with.
    """
    config = SimpleNamespace(name="sale", topic=topic, bronze_root=f"topics/{topic}")
    generator = SimpleNamespace(keys=None)
    writer = SimpleNamespace(
        table=SimpleNamespace(config=config, key_generator=generator),
        progress=progress,
        next_offsets={},
        open=(opened if opened is not None else []).append,
        is_to_refill=lambda: refill,
    )
    return BronzeFeed(
        cast("Any", None),
        cast("Any", lake.storage),
        cast("Any", writer),
        base_path=str(lake.path),
        arrived=threading.Event(),
        bronze_topics=lake.topics,
        written=lambda: written,
        once=True,
    )


def test_a_table_is_not_begun_from_bronze_that_lacks_removed_records(lake: Lake) -> None:
    lake.retention().remove_due()
    feed = bronze_feed(lake, WorkerProgress(), TOPIC, {})
    with pytest.raises(PermanentError, match="Table sale cannot be written from bronze"):
        feed.start()
    assert not feed.is_alive()


def test_a_table_fed_from_bronze_is_told_of_the_partitions_and_begins_again_with_more(
    lake: Lake,
) -> None:
    lake.topics.remember(TOPIC, TopicIdentity("kafka's", 1))
    lake.retention().remove_due()
    opened: list[TopicState] = []
    feed = bronze_feed(lake, WorkerProgress(), TOPIC, {}, opened=opened)
    with pytest.raises(PermanentError):
        feed.start()
    assert [(topic.id, topic.partitions) for topic in opened] == [("kafka's", 1)]

    lake.topics.remember(TOPIC, TopicIdentity("kafka's", 2))
    with pytest.raises(OSError, match="more partitions"):
        feed._ingest([])


def test_a_table_waits_for_no_record_that_bronze_will_never_have(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A topic that was emptied before bronze was written: the table begins with what follows."""
    progress = WorkerProgress(begins={})
    feed = bronze_feed(lake, progress, "t.emptied", {"0": 7, "1": 0})
    assert str(feed.waiting_for()).startswith("bronze files in")
    assert progress.snapshot()["begins"] == {"0": 7, "1": 0}
    # Its rows are to go, also if none comes.
    assert bronze_feed(lake, progress, "t.emptied", {}, refill=True).waiting_for() is None

    feed = bronze_feed(lake, progress, TOPIC, {"0": 7, "1": 3})
    assert feed.waiting_for() is None
    monkeypatch.setattr("lakehouse.bronze.feed.InheritableThread", threading.Thread)
    monkeypatch.setattr(feed, "_run", lambda: None)
    feed.start()
    assert progress.snapshot()["begins"] == {"1": 3}


def test_a_file_that_was_removed_after_it_was_listed_is_not_damaged(lake: Lake) -> None:
    class Emptied(LocalStorage):
        def read(self, path: str, limit: int | None = None) -> bytes:
            if not Path(path).exists():
                raise OSError(f"java.io.FileNotFoundException: {path}")
            return super().read(path, limit)

    files = BronzeListing(cast("Any", lake.storage), lake.folders[0].path).every_file()
    Path(files[0].path).unlink()
    reader = BronzeReader(cast("Any", None), cast("Any", Emptied()), cast("Any", None))
    assert reader.unreadable(files) is None
    Path(files[1].path).write_bytes(b"Obj")
    assert files[1].path in str(reader.unreadable(files))
