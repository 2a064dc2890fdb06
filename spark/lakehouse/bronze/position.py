"""Notes of how far topics are in bronze, where their files do not say it by themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping

__all__ = ["MOST_OFFSETS", "POSITIONS", "note_of", "parse_position"]

POSITIONS = "bronze-positions"
"""Folder of the lake with a note for each topic that has one."""
MOST_OFFSETS = 50_000
"""Of a partition, that files which are closed together span at most."""


def note_of(position: Mapping[int, int]) -> bytes:
    """The note of `position`: by partition, the offset that bronze has everything before."""
    return json.dumps({str(number): offset for number, offset in position.items()}).encode()


def parse_position(note: bytes) -> dict[int, int]:
    """The position that a note says."""
    return {int(number): offset for number, offset in json.loads(note).items()}
