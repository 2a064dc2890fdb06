"""Names: where a T-SQL object of one, two or three parts lives in PostgreSQL."""

from __future__ import annotations

from labctl.sqlserver.errors import unsupported
from labctl.sqlserver.tsql.lexer import tokenize, unquote

__all__ = ["PgName", "locate", "quoted", "split_name"]

_COMPATIBILITY = {"sysobjects", "systypes", "sysdatabases", "syscolumns", "sysindexes", "sysusers"}

PgName = tuple[str | None, str]
"""A PostgreSQL schema (None for a session's temporary objects) and a relation's name."""


def quoted(name: PgName | str) -> str:
    """A name as PostgreSQL SQL."""
    if isinstance(name, str):
        return '"' + name.replace('"', '""') + '"'
    schema, relation = name
    return f"{quoted(schema or 'pg_temp')}.{quoted(relation)}"


def split_name(text: str) -> list[str]:
    """The parts of a dotted T-SQL name, unquoted; omitted parts are empty."""
    parts = [""]
    for token in tokenize(text):
        if token.key == ".":
            parts.append("")
        else:
            parts[-1] = unquote(token.text)
    return parts


def locate(parts: list[str], current_db: str) -> PgName:
    """The PostgreSQL place of `[[database.]schema.]object`."""
    if len(parts) > 3:
        raise unsupported("a four-part name (a linked server)")
    name = parts[-1].lower()
    if name.startswith("##"):
        raise unsupported("a global temporary table")
    if name.startswith(("#", "@")):
        return None, name
    schema = parts[-2].lower() if len(parts) > 1 else ""
    database = parts[-3].lower() if len(parts) > 2 else ""
    if name in _COMPATIBILITY and schema in {"", "dbo"}:
        schema = "sys"
    return f"{database or current_db.lower()}.{schema or 'dbo'}", name
