"""Names that a component of the pipeline may treat specially."""

from __future__ import annotations

__all__ = ["COLUMN_NAMES", "LONGEST", "TABLE_NAMES"]

LONGEST = "the longest name"
"""Entry of `COLUMN_NAMES` for a name of the length that the engine allows."""

COLUMN_NAMES = (
    "Mixed Case",
    "a.dot",
    "doll$ar",
    'quo"te',
    "it's",
    "back`tick",
    "brack]et",
    "ümläut",
    "emoji 😀",
    "select",
    "order",
    "user",
    "table",
    "timestamp",
    "1digit",
    "under_score",
    "dash-ed",
    "per%cent",
    "com,ma",
    "sl/ash",
    "co:lon",
    "eq=ual",
    "ha#sh",
    "_hidden",
    "__op",
    "_hoodie_record_key",
    "UPPER",
    LONGEST,
)
"""Names for columns."""

TABLE_NAMES = (
    "Mixed {0} Case",
    "a.dot{0}",
    "doll$ar{0}",
    'quo"te{0}',
    "it's{0}",
    "ümläut{0}",
    "emoji😀{0}",
    "dash-ed-{0}",
    "UPPER{0}",
    "per%cent{0}",
    "com,ma{0}",
    "reg.*ex{0}",
    "(paren{0})",
    "order_{0}",
    "ha#sh{0}",
    "eq=ual{0}",
    "{0}" + "x" * 200,
)
"""Names for tables: `{0}` makes them unique. They are cut to the engine's longest name."""
