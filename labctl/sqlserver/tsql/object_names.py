"""Names of T-SQL objects, of one to three parts, and their PostgreSQL counterparts."""

from __future__ import annotations

from psycopg.sql import Identifier

from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.tsql.lexer import tokenize, unquote

__all__ = ["PgName", "identifier", "locate", "quoted", "split_name", "whole_name"]

_COMPATIBILITY = {"sysobjects", "systypes", "sysdatabases", "syscolumns", "sysindexes", "sysusers"}

_LONGEST = 63
"""Maximum bytes of a PostgreSQL name."""

PgName = tuple[str | None, str]
"""A PostgreSQL schema (None for a session's temporary objects) and a relation name."""


def identifier(name: PgName | str) -> Identifier:
    """Return a name for composed SQL."""
    if isinstance(name, str):
        return Identifier(name)
    schema, relation = name
    return Identifier(schema or "pg_temp", relation)


def quoted(name: PgName | str) -> str:
    """Return a name as text for `regclass`, to be used as a value, never as SQL."""
    if isinstance(name, str):
        return '"' + name.replace('"', '""') + '"'
    schema, relation = name
    return f"{quoted(schema or 'pg_temp')}.{quoted(relation)}"


def split_name(text: str) -> list[str]:
    """Return the unquoted parts of a dotted T-SQL name; omitted parts are empty."""
    parts = [""]
    for token in tokenize(text):
        if token.key == ".":
            parts.append("")
        else:
            parts[-1] = unquote(token.text)
    return parts


def locate(parts: list[str], current_db: str) -> PgName:
    """Return the PostgreSQL name of `[[database.]schema.]object`.

    Raises `SqlError` 103 for a name that PostgreSQL would truncate, since the result could be
    another object's name.
    """
    if len(parts) > 3:
        raise unsupported("a four-part name (a linked server)")
    name = parts[-1].lower()
    if name.startswith("##"):
        raise unsupported("a global temporary table")
    if name.startswith(("#", "@")):
        return None, whole_name(name)
    schema = parts[-2].lower() if len(parts) > 1 else ""
    database = parts[-3].lower() if len(parts) > 2 else ""
    if name in _COMPATIBILITY and schema in {"", "dbo"}:
        schema = "sys"
    return whole_name(f"{database or current_db.lower()}.{schema or 'dbo'}"), whole_name(name)


def whole_name(name: str) -> str:
    """Return a name. Raises `SqlError` 103 if PostgreSQL would truncate it."""
    if len(name.encode()) > _LONGEST:
        raise SqlError(
            103,
            f"The identifier that starts with '{name[:30]}' is too long for this SQL Server "
            f"stand-in: {_LONGEST} bytes for a table or column, and for a schema with its "
            "database's name.",
            severity=15,
            state=4,
        )
    return name
