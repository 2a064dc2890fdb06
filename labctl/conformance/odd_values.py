"""Values that several engines use."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["MEGABYTE", "NINES", "ODD_TEXT", "PLACEHOLDER", "text_pairs", "texts"]

MEGABYTE = 1_000_000
"""Length of the longest values."""
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


_PAIRS = (
    ("a", "b"),
    ("a,l:b", "c"),
    ("a", "b,l:c"),
    ("", ""),
    ("", "__empty__"),
    ("__empty__", ""),
    ("__null__", "x"),
    ("x", "__null__"),
    ("__escaped__", "a,l:b"),
    ("__escaped__a%2Cl%3Ab", "c"),
    ("a%2Cl%3Ab", "c"),
    ("k:a", "l:b"),
    ("k:a,l:b", ""),
    ("", "k:a,l:b"),
    (",l:", ":"),
    (":", ",l:"),
    (",", ","),
    ("ä,l:😀", "null"),
)
"""Keys of two texts, named `k` and `l`: some are the same once they are joined."""


def text_pairs(prefix: str = "", *, wide: bool = True) -> tuple[tuple[str, str], ...]:
    """Return literals for keys of two texts; without `wide`, none has a character of four bytes."""
    pairs = [pair for pair in _PAIRS if wide or "😀" not in "".join(pair)]
    literals = texts((text for pair in pairs for text in pair), prefix)
    return tuple(zip(literals[::2], literals[1::2], strict=True))
