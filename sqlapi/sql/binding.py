"""Arguments that a function's SQL contains more than once.

A long argument is written once and gets a name: otherwise `f(f(f(x)))` would double at each `f`.
DuckDB expands a macro's parameters before it plans, so a macro repeats its arguments as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlapi.sql.code import Code
from sqlapi.sql.macros import MACROS

__all__ = ["applied", "bound", "fits_lambda", "is_short", "level_of"]

_SHORT = 200
"""Largest number of characters of an argument that may be repeated."""
_CONSTANT = re.compile(
    r"-?\d+|'[^']*'|true|false|NULL|(?:CAST\()?(?:-?\d+|'[^']*'|NULL)(?: AS [A-Z0-9(),]+\))?"
    r"|\"[bl]\d+\"(?:\.\w+)?"
)
_OUTSIDE = re.compile(
    r"\bSELECT\b|\bOVER \(|\b(?:sum|avg|count|min|max|any_value|bool_and|bool_or|stddev_samp"
    r"|stddev_pop|var_samp|var_pop|arg_min_null|arg_max_null|arg_min|arg_max"
    r"|corr|covar_pop|covar_samp|regr_slope|regr_intercept|list|histogram|bit_and|bit_or"
    r"|bit_xor|string_agg|grouping)\("
)
_BOUND = re.compile(r"\"b(\d+)\"")


def _repeating() -> list[str]:
    """Return the macros that use a parameter more than once, or pass it to such a macro."""
    found: list[str] = []
    for macro in MACROS:
        head, _, body = macro.partition(" AS ")
        name, _, parameters = head.partition("(")
        counts = [len(re.findall(rf"\b{p}\b", body)) for p in parameters.rstrip(")").split(", ")]
        if max(counts) > 1 or any(f"{other}(" in body for other in found):
            found.append(name)
    return found


_REPEATING = re.compile(rf"\b(?:{'|'.join(_repeating())})\(")


def is_short(sql: str) -> bool:
    """Return whether SQL stays short if it is repeated, even after macros are expanded."""
    return len(sql) <= _SHORT and len(_REPEATING.findall(sql, 0, _SHORT)) <= 1


def fits_lambda(sql: str) -> bool:
    """Return whether SQL fits in a lambda's body: it has no query, window or aggregate."""
    return not _OUTSIDE.search(sql)


def level_of(*texts: str) -> int:
    """Return a number for a new name that none of the names in `texts` has."""
    return 1 + max((int(n) for sql in texts for n in _BOUND.findall(sql)), default=0)


def applied(make: Callable[..., Code], *codes: Code) -> Code:
    """Return `make(*codes)`, which evaluates and contains each long argument only once.

    `make` may be called twice. Its SQL must always need the value of each argument.
    """
    if all(is_short(code.sql) for code in codes):
        return make(*codes)
    names = _names(codes)
    shorter = make(
        *(replace(c, sql=n) if n else c for c, n in zip(codes, names, strict=True))
    )  # fmt: skip
    if not any(names) or (
        not _REPEATING.search(shorter.sql)
        and all(shorter.sql.count(name) <= 1 for name in names if name)
    ):
        return make(*codes)
    given = [(n, c.sql) for c, n in zip(codes, names, strict=True) if n]
    return replace(shorter, sql=bound(given, shorter.sql))


def _names(codes: Sequence[Code]) -> list[str]:
    """Return a name for each value; '' for a constant."""
    level = level_of(*(code.sql for code in codes))
    several = sum(not _CONSTANT.fullmatch(code.sql) for code in codes) > 1
    return [
        "" if _CONSTANT.fullmatch(code.sql) else f'"b{level}"' + (f".v{i}" if several else "")
        for i, code in enumerate(codes)
    ]


def bound(given: Sequence[tuple[str, str]], body: str) -> str:
    """Return `body` with values for the names in it: `"b1"`, or `"b1".v0`, `"b1".v1` and so on."""
    variable = given[0][0].partition(".")[0]
    if given[0][0] == variable:
        values = given[0][1]
    else:
        inside = ", ".join(f"{name.partition('.')[2]} := {sql}" for name, sql in given)
        values = f"struct_pack({inside})"
    return f"list_extract(list_transform([{values}], lambda {variable}: {body}), 1)"
