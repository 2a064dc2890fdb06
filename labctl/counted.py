"""Counts with their nouns, for messages."""

from __future__ import annotations

__all__ = ["counted"]

_SINGULAR = {"are": "is", "were": "was"}


def counted(count: int, noun: str, verb: str = "") -> str:
    """Return `1 row`, `2 rows`, or with the verb `are` `1 row is`, `2 rows are`.

    The plural of `noun` must be formed with an s.
    """
    one = count == 1
    said = f"{count:,} {noun if one else noun + 's'}"
    return f"{said} {_SINGULAR[verb] if one else verb}" if verb else said
