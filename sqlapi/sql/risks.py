"""Expressions that may fail, or be refused, at run time, which TRY must not hide."""

from __future__ import annotations

import re

from sqlapi.sql.code import FAILURE
from sqlapi.sql.macros import MACROS, TOO_LONG_ONLY
from sqlapi.sql.udfs import REFUSING, UDFS

__all__ = ["may_fail", "refuses"]

_NEVER_FAIL = (
    "t_normalize", "t_reversed", "t_reversed_bytes", "t_date_format", "t_format_datetime",
    "t_json_scalar_at", "t_json_array_length", *TOO_LONG_ONLY,
)  # fmt: skip


def _named(*kinds: str) -> set[str]:
    return {m.partition("(")[0] for m in MACROS if any(kind in m for kind in kinds)}


def _pattern(names: set[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(sorted(names))})\(")


_REFUSING = _pattern(_named(f"{FAILURE}NOT_SUPPORTED") | set(REFUSING))
_FAILING = _pattern(
    (_named(FAILURE) | {name for name, (_, _, gives) in UDFS.items() if gives != "DOUBLE"})
    - set(_NEVER_FAIL)
)


def refuses(sql: str) -> bool:
    """Return whether SQL may meet a value that is not supported."""
    return f"{FAILURE}NOT_SUPPORTED" in sql or bool(_REFUSING.search(sql))


def may_fail(sql: str) -> bool:
    """Return whether a function in the SQL fails for some values, in Trino or here."""
    return FAILURE in sql or bool(_FAILING.search(sql))
