"""SQL Server's data types: their declarations and the PostgreSQL types that represent them.

Types that PostgreSQL has use PostgreSQL's type. The others (`bit`, `nvarchar`, `money`, …) are base
types installed in the schema `mssql`. PostgreSQL itself then reports the declared type of each
column or expression with the result, without further bookkeeping.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from psycopg.sql import SQL

from labctl.sqlserver.client_errors import SqlError, unsupported

__all__ = ["MAX", "SqlType", "parse_type"]

MAX = -1
"""The length of `varchar(max)`, `nvarchar(max)` and `varbinary(max)`."""

_ALIASES = {
    "integer": "int",
    "dec": "decimal",
    "double precision": "float",
    "character": "char",
    "char varying": "varchar",
    "character varying": "varchar",
    "national character": "nchar",
    "national char": "nchar",
    "national character varying": "nvarchar",
    "national char varying": "nvarchar",
    "binary varying": "varbinary",
    "rowversion": "timestamp",
}
_PLAIN = {
    "bit": "mssql.bit",
    "tinyint": "mssql.tinyint",
    "smallint": "int2",
    "int": "int4",
    "bigint": "int8",
    "money": "mssql.money",
    "smallmoney": "mssql.smallmoney",
    "real": "float4",
    "float": "float8",
    "date": "date",
    "datetime": "mssql.datetime",
    "smalldatetime": "mssql.smalldatetime",
    "uniqueidentifier": "uuid",
    "sysname": "mssql.nvarchar(128)",
}
_SIZED = {
    "char": "bpchar",
    "varchar": "varchar",
    "nchar": "mssql.nchar",
    "nvarchar": "mssql.nvarchar",
    "binary": "mssql.binary",
    "varbinary": "mssql.varbinary",
}
_LARGEST = {
    "char": 8000,
    "varchar": 8000,
    "nchar": 4000,
    "nvarchar": 4000,
    "binary": 8000,
    "varbinary": 8000,
}
_FRACTIONAL = {"time": "time", "datetime2": "timestamp", "datetimeoffset": "mssql.datetimeoffset"}
_OLD_LARGE = {"text": "varchar", "ntext": "nvarchar", "image": "varbinary"}
_POSTGRES_FRACTION = 6
"""PostgreSQL stores microseconds; a declared scale of 7 is reported but its last digit is 0."""


@dataclass(frozen=True, slots=True)
class SqlType:
    """A SQL Server type with its size.

    `length` counts characters (bytes for `binary`) and is `MAX` for `(max)`. `precision` and
    `scale` count decimal digits; for time types `scale` counts the digits of a second's fraction.
    """

    name: str
    length: int = 0
    precision: int = 0
    scale: int = 0

    @property
    def is_character(self) -> bool:
        return self.name in {"char", "varchar", "nchar", "nvarchar", "sysname"}

    @property
    def is_unicode(self) -> bool:
        return self.name in {"nchar", "nvarchar", "sysname"}

    @property
    def is_binary(self) -> bool:
        return self.name in {"binary", "varbinary"}

    @property
    def pg(self) -> str:
        """The PostgreSQL type, as written in DDL and casts."""
        if self.name in _PLAIN:
            return _PLAIN[self.name]
        if self.name in _SIZED:
            base = _SIZED[self.name]
            return base if self.length == MAX else f"{base}({self.length})"
        if self.name in {"decimal", "numeric"}:
            return f"numeric({self.precision},{self.scale})"
        if self.name == "datetimeoffset":
            return "mssql.datetimeoffset"
        base = _FRACTIONAL[self.name]
        return base if self.scale > _POSTGRES_FRACTION else f"{base}({self.scale})"

    @property
    def sql(self) -> SQL:
        """`pg` for composed SQL; safe because it consists of this module's words and of numbers."""
        return SQL(self.pg)

    @property
    def pg_unsized(self) -> str:
        """The PostgreSQL type of a parameter, without a size so that no value is truncated."""
        if self.name == "sysname":
            return "mssql.nvarchar"
        if self.name in _SIZED:
            return _SIZED[self.name]
        if self.name in {"decimal", "numeric"}:
            return "numeric"
        return _FRACTIONAL.get(self.name) or _PLAIN[self.name]

    def declared(self) -> str:
        """Return the T-SQL declaration, for example `nvarchar(max)` or `decimal(8,2)`."""
        if self.name in _SIZED:
            return f"{self.name}({'max' if self.length == MAX else self.length})"
        if self.name in {"decimal", "numeric"}:
            return f"{self.name}({self.precision},{self.scale})"
        if self.name in _FRACTIONAL:
            return f"{self.name}({self.scale})"
        return self.name

    def sized(self, length: int) -> SqlType:
        """Return the same type with another length."""
        return replace(self, length=length)


_DECLARATION = re.compile(
    r"""\s*(?:\[?sys\]?\s*\.\s*)?\[?(?P<name>[A-Za-z][A-Za-z0-9_]*(?:\s+[A-Za-z]+)*)\]?\s*
        (?:\(\s*(?P<args>[^()]*)\))?\s*$""",
    re.VERBOSE,
)


def parse_type(text: str, *, default_length: int = 1) -> SqlType:
    """Parse a T-SQL type declaration; `default_length` is 1 in DDL and 30 in CAST.

    Raises `SqlError` 243 for an unknown type, 131 for a size out of range, and the
    unsupported-construct error for types that this server does not support.
    """
    match = _DECLARATION.match(text)
    if match is None:
        raise SqlError(102, f"Incorrect syntax near '{text.strip()}'.", severity=15)
    name = re.sub(r"\s+", " ", match["name"].lower())
    name = _ALIASES.get(name, name)
    args = [a.strip().lower() for a in (match["args"] or "").split(",") if a.strip()]
    for arg in args:
        if not arg.isdecimal() and (arg != "max" or name not in _SIZED):
            raise SqlError(102, f"Incorrect syntax near '{arg}'.", severity=15)
    if name in _OLD_LARGE:
        return SqlType(_OLD_LARGE[name], length=MAX)
    if name == "float":
        return SqlType("real" if args and int(args[0]) <= 24 else "float")
    if name in _PLAIN:
        return SqlType(name)
    if name in _SIZED:
        return _sized_type(name, args, default_length)
    if name in {"decimal", "numeric"}:
        precision = int(args[0]) if args else 18
        scale = int(args[1]) if len(args) > 1 else 0
        if not 1 <= precision <= 38 or not 0 <= scale <= precision:
            raise SqlError(1007, f"The number '{precision}' is out of the range for precision.")
        return SqlType(name, precision=precision, scale=scale)
    if name in _FRACTIONAL:
        scale = int(args[0]) if args else 7
        if not 0 <= scale <= 7:
            raise SqlError(1002, f"Line 1: Specified scale {scale} is invalid.", severity=15)
        return SqlType(name, scale=scale)
    if name in {"xml", "sql_variant", "timestamp", "geography", "geometry", "hierarchyid", "json"}:
        raise unsupported(f"the data type {name}")
    raise SqlError(243, f"Type {match['name']} is not a defined system type.")


def _sized_type(name: str, args: list[str], default_length: int) -> SqlType:
    if not args:
        return SqlType(name, length=default_length)
    if args[0] == "max":
        if name not in {"varchar", "nvarchar", "varbinary"}:
            raise SqlError(102, "Incorrect syntax near 'max'.", severity=15)
        return SqlType(name, length=MAX)
    length = int(args[0])
    if not 1 <= length <= _LARGEST[name]:
        raise SqlError(
            131,
            f"The size ({length}) given to the type '{name}' exceeds the maximum allowed for any "
            f"data type ({_LARGEST[name]}).",
            severity=15,
        )
    return SqlType(name, length=length)
