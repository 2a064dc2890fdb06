"""Notes of bronze's position in topics, for files that do not show it by themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping

__all__ = ["MOST_OFFSETS", "POSITIONS", "note_of", "parse_position"]

POSITIONS = "bronze-positions"
"""Folder of the lake with a note for each topic that has one."""
MOST_OFFSETS = 50_000
"""Most offsets of a partition that files which are closed together may span."""


def note_of(position: Mapping[int, int]) -> bytes:
    """Return the note of `position`: by partition, the offset before which bronze has all."""
    return json.dumps({str(number): offset for number, offset in position.items()}).encode()


def parse_position(note: bytes) -> dict[int, int]:
    """Return the position in a note."""
    return {int(number): offset for number, offset in json.loads(note).items()}
