"""Debezium's column filters: expressions that match `schema.table.column`, ignoring case.

For MySQL, the schema is the database. An expression that begins with `(?-i)` is case-sensitive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from labctl.kafkaconnect.keys.lists import names
from labctl.sources.base import TableRef

__all__ = [
    "COLUMNS",
    "COLUMNS_LEFT_OUT",
    "column_entry",
    "excluding",
    "is_taken",
    "pattern_of",
    "with_columns_left_out",
]

COLUMNS, COLUMNS_LEFT_OUT = "column.include.list", "column.exclude.list"
_EXACT_CASE = "(?-i)"


def is_taken(config: Mapping[str, str], ref: TableRef, column: str) -> bool:
    """Return whether a connector's filters let a column through; True if only Java can tell."""
    name = f"{ref}.{column}"
    if config.get(COLUMNS):
        return _matches(config[COLUMNS], name, unknown=True)
    return not _matches(config.get(COLUMNS_LEFT_OUT, ""), name, unknown=False)


def pattern_of(ref: TableRef) -> str:
    """Return the expression that matches only this table, escaped for a JSON string."""
    return _in_json(f"{_literal(ref.schema)}\\.{_literal(ref.name)}")


def excluding(ref: TableRef, column: str) -> str:
    """Return the expression that matches only this column, escaped for a JSON string."""
    return _in_json(column_entry(ref, column))


def column_entry(ref: TableRef, column: str) -> str:
    """Return the expression that matches only this column, as an entry of a filter list."""
    exact = f"{_literal(ref.schema)}\\.{_literal(ref.name)}\\.{_literal(column)}"
    # Debezium strips blanks around an entry, so a final blank needs brackets.
    return _EXACT_CASE + re.sub(" $", "[ ]", exact)


def with_columns_left_out(
    config: Mapping[str, str], ref: TableRef, columns: Sequence[str]
) -> str | None:
    """Return the exclude list extended by these columns.

    It is None if the connector leaves them out already, or if it has an include list.
    """
    new = [column_entry(ref, column) for column in columns if is_taken(config, ref, column)]
    if not new or config.get(COLUMNS):
        return None
    return ",".join([*names(config.get(COLUMNS_LEFT_OUT)), *new])


def _literal(name: str) -> str:
    """Return an expression for a name. A comma would end the entry, so `.` stands for it."""
    return re.sub(
        r"[^A-Za-z0-9_ ]", lambda m: "." if m[0] == "," or m[0] > "~" else f"\\{m[0]}", name
    )


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _matches(listed: str, name: str, *, unknown: bool) -> bool:
    for entry in names(listed):
        exact = entry.startswith(_EXACT_CASE)
        try:
            found = re.fullmatch(
                entry.removeprefix(_EXACT_CASE), name, re.NOFLAG if exact else re.IGNORECASE
            )
        except re.error:
            if unknown:
                return True
            continue
        if found:
            return True
    return False
