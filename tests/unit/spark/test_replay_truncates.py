"""Dead letters whose rows a TRUNCATE has removed since."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock

from lakehouse.decode import Undecodable
from lakehouse.replay import Replay
from lakehouse.truncates import Truncate


def letter(offset: int) -> Undecodable:
    return Undecodable("t", 0, offset, 0, "", b"k", b"v", ())


def test_a_topic_is_searched_from_the_first_letter_on() -> None:
    asked: list[Any] = []

    def read(spans: Any) -> Any:
        asked.append(spans)
        return MagicMock()

    kafka = SimpleNamespace(earliest=lambda _of: {"t": {0: 3}}, read=read)
    decoder = SimpleNamespace(
        schema_ids=lambda *_, **__: [], truncates=lambda *_: [Truncate(0, 1_000_000, 1)]
    )
    writer = SimpleNamespace(
        table=SimpleNamespace(config=SimpleNamespace(topic="t")), next_offsets={0: 1_000_020}
    )
    parts = (None, kafka, decoder, writer, None)
    replay = Replay(*(cast("Any", part) for part in parts))

    before, behind = letter(999_990), letter(1_000_010)
    assert replay._truncated([behind, before]) == [before]
    assert asked == [{"t": {0: range(999_990, 1_000_020)}}]
