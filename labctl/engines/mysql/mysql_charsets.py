"""Character sets of MySQL's columns: Debezium decodes the bytes in the log by those it knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from labctl.sources.base import Source, TableRef

__all__ = ["UNREADABLE", "mysql_misread"]

UNREADABLE = frozenset(
    {
        "armscii8",
        "big5",
        "dec8",
        "eucjpms",
        "euckr",
        "geostd8",
        "hp8",
        "keybcs2",
        "koi8u",
        "sjis",
        "swe7",
        "ujis",
    }
)
"""Character sets that MySQL's driver takes for others that Java has: letters in the log arrive as
others, in sjis the backslash, in ujis and eucjpms the dash. Of gbk, gb18030, cp866, greek, hebrew,
latin1 and tis620, only rare symbols and control characters do."""

_SHOWN = 3
"""Columns of a table that a problem names."""
_UTF8 = frozenset({"utf8", "utf8mb3", "utf8mb4"})
_DECLARED = """
    SELECT TABLE_NAME, COLUMN_NAME, CHARACTER_SET_NAME FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = %s AND CHARACTER_SET_NAME IS NOT NULL AND DATA_TYPE NOT IN ('enum', 'set')
    ORDER BY ORDINAL_POSITION
"""
"""The log has numbers for an ENUM and a SET."""


def mysql_misread(
    database: Source, known: Mapping[TableRef, Mapping[str, str]]
) -> Mapping[TableRef, str]:
    """Return which columns the connector decodes by another character set than theirs, by table.

    Debezium 3.6.1 does not see the default character set that an ALTER TABLE sets, nor
    `COLLATE` after CREATE TABLE, nor `ASCII` and `UNICODE` after a type, nor a collation in quotes.
    """
    by_name = {
        ref: {column.lower(): charset for column, charset in columns.items()}
        for ref, columns in known.items()
    }
    wrong: dict[TableRef, list[str]] = {}
    for schema in sorted({ref.schema for ref in known}):
        for table, column, declared in database.execute(_DECLARED, (schema,)):
            ref = TableRef(schema, table)
            read_as = by_name.get(ref, {}).get(column.lower(), str(declared))
            if _encoding(read_as) != _encoding(declared):
                wrong.setdefault(ref, []).append(f"{column} is {declared}, read as {read_as}")
    return {ref: _first(columns) for ref, columns in wrong.items()}


def _first(columns: Sequence[str]) -> str:
    more = len(columns) - _SHOWN
    return "; ".join(columns[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _encoding(charset: str) -> str:
    name = charset.lower()
    return "utf8" if name in _UTF8 else name
