"""Glue's texts of types, `struct<a:int,b:array<string>>`, as Trino's types."""

from __future__ import annotations

import re

from sqlapi.sql.errors import SqlError
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

__all__ = ["of_glue"]

_PLAIN = {
    "boolean": BOOLEAN, "tinyint": TINYINT, "smallint": SMALLINT, "int": INTEGER,
    "integer": INTEGER, "bigint": BIGINT, "float": REAL, "double": DOUBLE, "string": VARCHAR,
    "binary": VARBINARY, "date": DATE, "timestamp": TIMESTAMP,
}  # fmt: skip


def of_glue(text: str) -> Type:
    """Raises SqlError for a type that is not offered."""
    kind = text.strip().lower()
    if kind in _PLAIN:
        return _PLAIN[kind]
    if found := re.fullmatch(r"decimal(?:\((\d+)\s*(?:,\s*(\d+))?\))?", kind):
        return decimal(int(found[1] or 10), int(found[2] or 0))
    if found := re.fullmatch(r"(?:varchar|char)\((\d+)\)", kind):
        return VARCHAR
    head, _, rest = kind.partition("<")
    if rest.endswith(">"):
        inside = _parts(rest[:-1])
        if head == "array" and len(inside) == 1:
            return array(of_glue(inside[0]))
        if head == "map" and len(inside) == 2:
            return map_of(of_glue(inside[0]), of_glue(inside[1]))
        if head == "struct":
            pairs = [part.partition(":") for part in inside]
            return row(tuple(of_glue(t) for *_, t in pairs), tuple(n.strip() for n, *_ in pairs))
    raise SqlError("NOT_SUPPORTED", f"Unsupported column type: {text}")


def _parts(text: str) -> list[str]:
    """Split at the commas that stand in no brackets."""
    found, depth, start = [], 0, 0
    for index, sign in enumerate(text):
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and not depth:
            found.append(text[start:index])
            start = index + 1
    return [*found, text[start:]]
