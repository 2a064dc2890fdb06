"""CAST and CONVERT: T-SQL's conversions, where PostgreSQL's differ."""

from __future__ import annotations

from sqlglot import exp

from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.sqltypes import SqlType, parse_type
from labctl.sqlserver.tsql.dialect import PgType, TSqlIn
from labctl.sqlserver.tsql.functions import call, text_of

__all__ = ["attempted", "cast_to", "converted", "pg_type", "refuse_unknown_collation", "sql_type"]

_WHOLE = {"tinyint", "smallint", "int", "bigint"}
_DATES = {"date", "time", "datetime", "datetime2", "smalldatetime", "datetimeoffset"}
_ISO_STYLES = {0, 20, 21, 23, 25, 100, 111, 112, 120, 121, 126, 127}
_CAST_LENGTH = 30
"""The default length of `varchar` in CAST."""


def sql_type(node: exp.DataType) -> SqlType:
    """Return the SQL Server type of a parsed data type."""
    return parse_type(node.sql(dialect=TSqlIn), default_length=_CAST_LENGTH)


def pg_type(name: str) -> PgType:
    """Return a PostgreSQL type as a node for CAST."""
    return PgType(this=exp.DataType.Type.USERDEFINED, kind=name)


def cast_to(value: exp.Expression, kind: SqlType) -> exp.Expression:
    """Translate `CAST(value AS kind)` with T-SQL's rules."""
    target = pg_type(kind.pg)
    if isinstance(value, exp.Null):
        return exp.Cast(this=value, to=target)
    if kind.is_character:
        return exp.Cast(this=text_of(value), to=target)
    if kind.name in _WHOLE:
        whole = call("mssql.to_integer", value)
        return exp.Cast(this=whole, to=target)
    if kind.is_binary:
        plain = value if isinstance(value, exp.HexString) else call("mssql.to_bytes", value)
        return exp.Cast(this=plain, to=target)
    if kind.name in {"datetime", "smalldatetime"}:
        return exp.Cast(this=exp.Cast(this=value, to=pg_type("timestamp")), to=target)
    return exp.Cast(this=value, to=target)


def converted(value: exp.Expression, kind: SqlType, style: exp.Expression | None) -> exp.Expression:
    """Translate `CONVERT(kind, value, style)`."""
    if style is None:
        return cast_to(value, kind)
    if kind.is_character:
        return exp.Cast(this=call("mssql.convert_text", value, style), to=pg_type(kind.pg))
    if kind.is_binary:
        return exp.Cast(this=call("mssql.convert_bytes", value, style), to=pg_type(kind.pg))
    if kind.name in _DATES:
        digits = style.name if isinstance(style, exp.Literal) else ""
        number = int(digits) if digits.isdecimal() else -1
        if number not in _ISO_STYLES:
            raise unsupported(f"CONVERT to {kind.name} with style {style.name or 'expression'}")
    return cast_to(value, kind)


def attempted(value: exp.Expression, kind: SqlType) -> exp.Expression:
    """Translate `TRY_CAST(value AS kind)`, which is NULL if the text is not such a value."""
    if kind.is_character:
        return cast_to(value, kind)
    text = call("mssql.try_input", text_of(value), exp.Literal.string(kind.pg))
    return exp.Cast(this=text, to=pg_type(kind.pg))


def refuse_unknown_collation(name: str) -> None:
    """Raise `SqlError` 448 unless the collation is binary, the only kind this server has."""
    if not name.upper().endswith(("_BIN", "_BIN2", "_BIN2_UTF8", "DATABASE_DEFAULT")):
        raise SqlError(
            448, f"Invalid collation '{name}': this stand-in has binary collations only."
        )
