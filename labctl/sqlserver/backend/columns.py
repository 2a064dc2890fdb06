"""SQL Server's description of PostgreSQL result columns."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from psycopg.pq.abc import PGresult
from psycopg.sql import SQL, Composable

from labctl.sqlserver.backend.connection import Backend
from labctl.sqlserver.client_errors import unsupported
from labctl.sqlserver.sqltypes import MAX, SqlType

__all__ = ["Catalog", "ColumnFacts", "RowSource", "TypeMap"]

_PLAIN = {
    "int2": SqlType("smallint"),
    "int4": SqlType("int"),
    "int8": SqlType("bigint"),
    "float4": SqlType("real"),
    "float8": SqlType("float"),
    "date": SqlType("date"),
    "uuid": SqlType("uniqueidentifier"),
    "bool": SqlType("bit"),
    "text": SqlType("nvarchar", length=MAX),
    "name": SqlType("nvarchar", length=128),
    "char": SqlType("nchar", length=1),
    "oid": SqlType("bigint"),
    "bytea": SqlType("varbinary", length=MAX),
    "unknown": SqlType("nvarchar", length=MAX),
    "void": SqlType("nvarchar", length=1),
    "mssql.bit": SqlType("bit"),
    "mssql.tinyint": SqlType("tinyint"),
    "mssql.money": SqlType("money"),
    "mssql.smallmoney": SqlType("smallmoney"),
    "mssql.datetime": SqlType("datetime"),
    "mssql.smalldatetime": SqlType("smalldatetime"),
    "mssql.datetimeoffset": SqlType("datetimeoffset", scale=7),
}
_SIZED = {
    "varchar": "varchar",
    "bpchar": "char",
    "mssql.nvarchar": "nvarchar",
    "mssql.nchar": "nchar",
    "mssql.varbinary": "varbinary",
    "mssql.binary": "binary",
}
_FRACTIONAL = {"time": "time", "timestamp": "datetime2", "timestamptz": "datetime2"}
_HEADER = 4
_UNSIZED_NAMES = {"bpchar": "varchar", "mssql.nchar": "nvarchar", "mssql.binary": "varbinary"}


class TypeMap:
    """The names of PostgreSQL's types by OID in this database."""

    def __init__(self, names: dict[int, str]) -> None:
        self.names = names

    @classmethod
    async def load(cls, backend: Backend) -> TypeMap:
        rows = await backend.rows(
            SQL(
                "SELECT t.oid, CASE n.nspname WHEN 'mssql' THEN 'mssql.' ELSE '' END || t.typname "
                "FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace "
                "WHERE n.nspname IN ('pg_catalog', 'mssql') AND t.typtype IN ('b', 'p')"
            )
        )
        return cls({int(oid or 0): name or "" for oid, name in rows})

    def describe(self, oid: int, typmod: int) -> SqlType:
        """Return the SQL Server type; a decimal of unknown scale has scale -1."""
        name = self.names.get(oid, "")
        if name in _PLAIN:
            return _PLAIN[name]
        if name in _SIZED:
            if typmod > _HEADER:
                return SqlType(_SIZED[name], length=typmod - _HEADER)
            return SqlType(_UNSIZED_NAMES.get(name, _SIZED[name]), length=_unsized_length(name))
        if name in _FRACTIONAL:
            return SqlType(_FRACTIONAL[name], scale=typmod if typmod >= 0 else 7)
        if name == "numeric":
            if typmod < _HEADER:
                return SqlType("decimal", precision=38, scale=-1)
            packed = typmod - _HEADER
            return SqlType("decimal", precision=packed >> 16 & 0xFFFF, scale=packed & 0x7FF)
        raise unsupported(f"a result of PostgreSQL's type {name or oid}")


def _unsized_length(name: str) -> int:
    return 8000 if name == "mssql.binary" else MAX


class RowSource(Protocol):
    """An object that answers small queries."""

    async def rows(
        self, sql: Composable, parameters: Sequence[str | None] = ()
    ) -> list[tuple[str | None, ...]]: ...


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """The declaration of a table column."""

    name: str
    nullable: bool
    identity: bool


class Catalog:
    """A cache of table columns' declarations, cleared after every DDL statement."""

    def __init__(self, backend: RowSource) -> None:
        self.backend = backend
        self._tables: dict[int, dict[int, ColumnFacts]] = {}
        self._identities: dict[tuple[str, str], bool] = {}
        self._lock = asyncio.Lock()

    def forget(self) -> None:
        self._tables.clear()
        self._identities.clear()

    async def has_identity(self, backend: Backend, schema: str, name: str) -> bool:
        """Return whether a table has an identity column; query the session's connection."""
        key = (schema, name)
        if key not in self._identities:
            rows = await backend.rows(
                SQL(
                    "SELECT 1 FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
                    "JOIN pg_namespace n ON n.oid = c.relnamespace "
                    "WHERE n.nspname = $1 AND c.relname = $2 AND a.attidentity <> ''"
                ),
                [schema, name],
            )
            self._identities[key] = bool(rows)
        return self._identities[key]

    async def learn(self, result: PGresult) -> None:
        """Load the declarations of the tables that a result's columns come from."""
        wanted = {result.ftable(i) for i in range(result.nfields)} - {0} - self._tables.keys()
        for table in wanted:
            async with self._lock:
                rows = await self.backend.rows(
                    SQL(
                        "SELECT a.attnum, coalesce(col_description(a.attrelid, a.attnum), "
                        "a.attname), a.attnotnull, a.attidentity <> '' FROM pg_attribute a "
                        "WHERE a.attrelid = $1::oid AND a.attnum > 0"
                    ),
                    [str(table)],
                )
            self._tables[table] = {
                int(number or 0): ColumnFacts(name or "", notnull != "t", identity == "t")
                for number, name, notnull, identity in rows
            }

    def facts(self, result: PGresult, column: int) -> ColumnFacts | None:
        return self._tables.get(result.ftable(column), {}).get(result.ftablecol(column))
