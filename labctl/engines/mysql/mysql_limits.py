"""The limits of capturing a MySQL table."""

from __future__ import annotations

import re

from labctl.sources.base import Source, TableRef
from labctl.sources.capture_limits import Lack, Limits

__all__ = ["mysql_limits"]

_ESCAPED = (
    "an ENUM with a comma in one of its names, before which Debezium writes a backslash in each "
    "change; rename it without one"
)


def mysql_limits(database: Source, ref: TableRef, _publication: str) -> Limits:
    """Return the limits of a table: Debezium's parser escapes commas in the names of an ENUM."""
    declared = database.execute(
        "SELECT COLUMN_NAME, COLUMN_KEY, COLUMN_TYPE FROM information_schema.COLUMNS"
        " WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND DATA_TYPE = 'enum'"
        " ORDER BY ORDINAL_POSITION",
        (ref.schema, ref.name),
    )
    # Each name is in quotes; a quote within it is doubled.
    found = [
        (str(name), key)
        for name, key, kind in declared
        if any("," in one for one in re.findall(r"'((?:[^']|'')*)'", str(kind)))
    ]
    lost = [name for name, key in found if key == "PRI"]
    refused = f"its key column is {lost[0]}, {_ESCAPED}" if lost else None
    return Limits(refused, (Lack(tuple(name for name, _ in found), _ESCAPED),))
