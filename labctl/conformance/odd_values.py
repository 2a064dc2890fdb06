"""Values that several engines use."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["NINES", "ODD_TEXT", "PLACEHOLDER", "texts"]

NINES = "9" * 38

ODD_TEXT = (
    'it\'s "quoted", 🎟️ 👩‍👩‍👧 שלום e\u0301\u0302 ﷺ',
    " \t x ",
    "null",
    "NULL",
    "a\nb\r\nc",
    "\u0001\ufffd\uffff",
)
"""Texts that a component of the pipeline may treat specially."""

PLACEHOLDER = "__debezium_unavailable_value"
"""Text that Debezium writes for a value that it does not have."""


def texts(values: Iterable[str], prefix: str = "") -> tuple[str, ...]:
    """Return text literals of standard SQL."""
    return tuple(f"{prefix}'" + value.replace("'", "''") + "'" for value in values)
