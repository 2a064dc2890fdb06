"""A request to rebuild a table that cannot be carried out is dropped, and answered."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

from lakecontract.rebuild_request import refusal
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

    def files_below(self, _folder: str) -> list[Any]:
        return []


def test_without_bronze_files_a_request_is_refused_and_the_next_one_stands_again() -> None:
    files = Files()
    config = SimpleNamespace(
        name="sale", topic="sale", bronze_root="topics/sale", key_fields=("salesid",)
    )
    generator = SimpleNamespace(can_be_distinct=True)
    table = SimpleNamespace(config=config, services=threading.Lock(), key_generator=generator)
    rebuilder = Rebuilder(
        cast("Any", None),
        cast("Any", files),
        cast("Any", table),
        bronze_base_path="s3a://lake",
        request_path="rebuild/sale",
        bronze_topics=cast("Any", SimpleNamespace(position_of=lambda _topic: None)),
    )
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
    config = SimpleNamespace(
        name="sale", topic="sale", bronze_root="topics/sale", key_fields=("salesid",)
    )
    table = SimpleNamespace(
        config=config,
        services=threading.Lock(),
        key_generator=SimpleNamespace(can_be_distinct=True),
        state=lambda: SimpleNamespace(schema=None),
    )
    rebuilder = Rebuilder(
        cast("Any", None),
        cast("Any", files),
        cast("Any", table),
        bronze_base_path="s3a://lake",
        request_path="rebuild/sale",
        bronze_topics=cast("Any", SimpleNamespace(position_of=lambda _topic: None)),
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
