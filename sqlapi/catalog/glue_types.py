"""Glue's type names, such as `struct<a:int,b:array<string>>`, as Trino's types."""

from __future__ import annotations

import re

from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    REAL,
    SMALLINT,
    TIMESTAMP,
    TINYINT,
    VARBINARY,
    VARCHAR,
    Type,
    array,
    decimal,
    map_of,
    row,
)

__all__ = ["of_glue", "shown_type"]

_DEEPEST = 30
"""Levels of nested types."""
_SHOWN = 200
_PLAIN = {
    "boolean": BOOLEAN, "tinyint": TINYINT, "smallint": SMALLINT, "int": INTEGER,
    "integer": INTEGER, "bigint": BIGINT, "float": REAL, "double": DOUBLE, "string": VARCHAR,
    "binary": VARBINARY, "date": DATE, "timestamp": TIMESTAMP,
}  # fmt: skip


def of_glue(text: str) -> Type:
    """Return Trino's type. Raises SqlError for one that is not supported."""
    return _of_glue(text, text, _DEEPEST)


def shown_type(text: str) -> str:
    """Return Trino's name of the type, with the lengths of its strings.

    Queries do not enforce these lengths: `of_glue` leaves them out. Raises SqlError.
    """
    return str(_of_glue(text, text, _DEEPEST, lengths=True))


def _of_glue(text: str, whole: str, deeper: int, *, lengths: bool = False) -> Type:
    kind = text.strip().lower()
    if kind in _PLAIN:
        return _PLAIN[kind]
    if found := re.fullmatch(r"decimal(?:\(([0-9]{1,4})\s*(?:,\s*([0-9]{1,4}))?\))?", kind):
        return decimal(int(found[1] or 10), int(found[2] or 0))
    if found := re.fullmatch(r"(varchar|char)\(([0-9]{1,5})\)", kind):
        return Type(found[1], size=int(found[2])) if lengths else VARCHAR
    head, _, rest = kind.partition("<")
    if rest.endswith(">") and deeper:
        inside = _parts(rest[:-1])
        if head == "array" and len(inside) == 1:
            return array(_of_glue(inside[0], whole, deeper - 1, lengths=lengths))
        if head == "map" and len(inside) == 2:
            key, value = (_of_glue(one, whole, deeper - 1, lengths=lengths) for one in inside)
            return map_of(key, value)
        if head == "struct":
            pairs = [part.partition(":") for part in inside]
            kinds = tuple(_of_glue(one, whole, deeper - 1, lengths=lengths) for *_, one in pairs)
            return row(kinds, tuple(name.strip() for name, *_ in pairs))
    raise SqlError("NOT_SUPPORTED", f"Unsupported column type: {whole[:_SHOWN]}")


def _parts(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    found, depth, start = [], 0, 0
    for index, sign in enumerate(text):
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and not depth:
            found.append(text[start:index])
            start = index + 1
    return [*found, text[start:]]
