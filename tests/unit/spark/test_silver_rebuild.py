"""A request to rebuild a table that cannot be carried out is dropped, and answered."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

from lakecontract.bronze_beginning import Beginning
from lakecontract.rebuild_request import refusal
from lakehouse.bronze.topics import BronzeTopics
from lakehouse.rebuild import Rebuilder


class Files(dict[str, bytes]):
    """`LakeFiles` in memory, with no folders in it."""

    def exists(self, path: str) -> bool:
        return path in self

    def read(self, path: str) -> bytes:
        return self[path]

    def write(self, path: str, content: bytes) -> None:
        self[path] = content

    def delete(self, path: str) -> None:
        self.pop(path, None)

    def files_below(self, _folder: str, **_times: Any) -> list[Any]:
        return []


def topics_in(files: Files) -> BronzeTopics:
    return BronzeTopics(cast("Any", files), lake="s3a://lake", bronze_base_path="s3a://lake")


def rebuilder_of(files: Files, topics: BronzeTopics, topic: str, **state: Any) -> Any:
    """The rebuilder of a table of that topic, and its table, which may have a `state`."""
    config = SimpleNamespace(
        name="sale", topic=topic, bronze_root=f"topics/{topic}", key_fields=("salesid",)
    )
    generator = SimpleNamespace(can_be_distinct=True)
    table = SimpleNamespace(
        config=config, services=threading.Lock(), key_generator=generator, **state
    )
    rebuilder = Rebuilder(
        cast("Any", None),
        cast("Any", files),
        cast("Any", table),
        bronze_base_path="s3a://lake",
        request_path="rebuild/sale",
        bronze_topics=topics,
    )
    return rebuilder, table


def test_without_bronze_files_a_request_is_refused_and_the_next_one_stands_again() -> None:
    files = Files()
    rebuilder, table = rebuilder_of(files, topics_in(files), "sale")
    assert not rebuilder.is_requested()
    rebuilder.request()
    assert rebuilder.is_requested()

    why = rebuilder.run()

    assert why is not None
    assert "there is nothing in s3a://lake/topics/sale. Nothing was changed" in why
    assert refusal(files["rebuild/sale"]) == why
    assert not rebuilder.is_requested()
    assert not table.services.locked()
    rebuilder.request()
    assert rebuilder.is_requested()


def test_bronze_with_truncates_alone_has_no_rows_to_write(monkeypatch: Any) -> None:
    files = Files({"rebuild/sale": b""})
    rebuilder, _ = rebuilder_of(
        files, topics_in(files), "sale", state=lambda: SimpleNamespace(schema=None)
    )
    of_truncate = SimpleNamespace(schema=SimpleNamespace(is_truncate=True))
    listing = SimpleNamespace(files_before=lambda _position: ["a file"])
    reader = SimpleNamespace(
        check_whole=lambda _files: None,
        by_schema=lambda _files: [of_truncate],
        truncates=lambda _groups: [],
    )
    monkeypatch.setattr(rebuilder, "_listing", listing)
    monkeypatch.setattr(rebuilder, "_reader", reader)

    assert "there is no row in s3a://lake/topics/sale" in str(rebuilder.run())


def test_bronze_that_lacks_removed_records_is_refused_before_it_is_read() -> None:
    files = Files({"rebuild/sale": b""})
    topics = topics_in(files)
    topics.note_beginning("t.sale", Beginning({0: 0, 1: 1200}, "2026-11-01T00:00:00.000+00:00"))
    rebuilder, _ = rebuilder_of(files, topics, "t.sale")

    why = str(rebuilder.run())

    assert why.startswith("Table sale cannot be written from bronze: for its topic t.sale")
    assert "offset 1,200 of partition 1" in why
    assert "since 2026-11-01T00:00:00.000+00:00" in why
    assert "labctl table rebuild sale --from-topic" in why
    assert refusal(files["rebuild/sale"]) == why
