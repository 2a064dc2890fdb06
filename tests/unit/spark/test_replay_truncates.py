"""Dead letters whose rows a TRUNCATE has removed since."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lakehouse.decode import Undecodable
from lakehouse.replay import Replay


def letter(offset: int) -> Undecodable:
    return Undecodable("t", 0, offset, 0, "", b"k", b"v", ())


@pytest.mark.parametrize(("truncated", "taken"), [(-1, [5, 20]), (10, [20]), (20, [20]), (21, [])])
def test_letters_from_before_the_last_truncate_are_put_away(
    monkeypatch: pytest.MonkeyPatch, truncated: int, taken: list[int]
) -> None:
    """The table knows it: Kafka may have dropped the record."""
    letters, put_away, ingested = [letter(5), letter(20)], list[int](), list[int]()
    dead_letters = SimpleNamespace(
        waiting=lambda _topic: letters,
        replayed=lambda records: put_away.extend(sorted(one.offset for one in records)),
    )
    config = SimpleNamespace(topic="t", name="t", deletes="soft")
    writer = SimpleNamespace(table=SimpleNamespace(config=config), truncated=truncated)

    def ingest(_self: Replay, records: Sequence[Undecodable]) -> Sequence[Undecodable]:
        ingested.extend(one.offset for one in records)
        return records

    monkeypatch.setattr(Replay, "_ingest", ingest)
    parts = (None, None, None, writer, dead_letters)
    said = Replay(*(cast("Any", part) for part in parts)).run(put_away=True)
    assert ingested == taken
    assert put_away == [5, 20]
    assert (said["ingested"], said["overtaken"]) == (len(taken), 2 - len(taken))
