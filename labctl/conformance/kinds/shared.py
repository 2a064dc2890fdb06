"""Values that several engines have."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["NINES", "ODD_TEXT", "texts"]

NINES = "9" * 38

ODD_TEXT = (
    'it\'s "quoted", 🎟️ 👩‍👩‍👧 שלום e\u0301\u0302 ﷺ',
    " \t x ",
    "__debezium_unavailable_value",
    "null",
    "NULL",
    "a\nb\r\nc",
    "\u0001\ufffd\uffff",
)
"""Texts that parts on the way may give a meaning to."""


def texts(values: Iterable[str], prefix: str = "") -> tuple[str, ...]:
    """Return text literals of standard SQL."""
    return tuple(f"{prefix}'" + value.replace("'", "''") + "'" for value in values)
