"""CAST and TRY_CAST: Trino's texts of values, and what it takes for the text of one."""

from __future__ import annotations

from sqlglot import exp

from sqlapi.sql.code import Code, failing, text
from sqlapi.sql.errors import SqlError
from sqlapi.sql.operators import scaled
from sqlapi.sql.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    JSON,
    REAL,
    SMALLINT,
    TINYINT,
    UNKNOWN,
    VARBINARY,
    Type,
    array,
    can_coerce,
    decimal,
    map_of,
    row,
    timestamp,
    timestamp_tz,
    varchar,
)

__all__ = ["cast", "local", "type_of"]

_NAMES = {
    "BOOLEAN": BOOLEAN, "TINYINT": TINYINT, "SMALLINT": SMALLINT, "INT": INTEGER,
    "BIGINT": BIGINT, "FLOAT": REAL, "DOUBLE": DOUBLE, "VARBINARY": VARBINARY, "DATE": DATE,
    "JSON": JSON,
}  # fmt: skip
_NUMBER = r"[+-]?[0-9]+"
_DECIMAL = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"
_DOUBLE = r"\s*([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|NaN|[+-]?Infinity)\s*"
_DATE = r"\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}\s*"
_TIMESTAMP = (
    r"\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"( [0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}(\.[0-9]{1,6})?)?)?\s*"
)
_SHORT = 18


def type_of(tree: exp.Expr) -> Type:  # noqa: PLR0911
    """The type that is written there. Raises SqlError for one that is not offered."""
    if not isinstance(tree, exp.DataType):
        raise SqlError("TYPE_NOT_FOUND", f"Unknown type: {tree.sql('trino')}")
    name = tree.this.name if hasattr(tree.this, "name") else str(tree.this)
    inside = tree.expressions
    sizes = [int(p.this.name) for p in inside if isinstance(p, exp.DataTypeParam)]
    match name:
        case "DECIMAL":
            return decimal(*(sizes or [38, 0]))
        case "VARCHAR" | "TEXT":
            return varchar(sizes[0] if sizes else None)
        case "TIMESTAMP":
            return timestamp(sizes[0] if sizes else 3)
        case "TIMESTAMPTZ":
            return timestamp_tz("UTC", sizes[0] if sizes else 3)
        case "ARRAY":
            return array(type_of(inside[0]))
        case "MAP":
            return map_of(type_of(inside[0]), type_of(inside[1]))
        case "STRUCT":
            pairs = [
                (f.this.name.lower(), type_of(f.args["kind"]))
                if isinstance(f, exp.ColumnDef)
                else (None, type_of(f))
                for f in inside
            ]
            return row(tuple(t for _, t in pairs), tuple(n for n, _ in pairs))
    if name in _NAMES:
        return _NAMES[name]
    raise SqlError("NOT_SUPPORTED", f"Type {tree.sql('trino')} is not supported")


def local(code: Code) -> str:
    """A timestamp as a clock in its zone shows it."""
    if code.type.zone in (None, "UTC"):
        return code.sql
    return f"timezone({text(code.type.zone or '')}, timezone('UTC', {code.sql}))"


def cast(code: Code, kind: Type) -> Code:  # noqa: PLR0911
    """`CAST(code AS kind)`; what cannot be cast fails as in Trino. Raises SqlError."""
    given = code.type
    if given == kind:
        return code
    if given == UNKNOWN:
        return Code(f"CAST({code.sql} AS {kind.duck})", kind)
    if kind.name == "varchar":
        return _to_text(code, kind)
    if given.name == "varchar":
        return _from_text(code, kind)
    if given.is_numeric and kind.is_numeric:
        return _number(code, kind)
    if (given == BOOLEAN and kind.is_integer) or (given.is_integer and kind == BOOLEAN):
        return Code(f"CAST({code.sql} AS {kind.duck})", kind)
    if given.is_time and kind.is_time:
        return _time(code, kind)
    if given.args and given.name == kind.name and len(given.args) == len(kind.args):
        if can_coerce(given, kind) or _same_but_names(given, kind):
            return Code(f"CAST({code.sql} AS {kind.duck})", kind)
        raise SqlError("NOT_SUPPORTED", f"Cast from {given} to {kind} is not supported")
    raise SqlError("TYPE_MISMATCH", f"Cannot cast {given} to {kind}")


def _same_but_names(given: Type, kind: Type) -> bool:
    pairs = list(zip(given.args, kind.args, strict=True))
    return all(x.duck == y.duck or can_coerce(x, y) for x, y in pairs)


def _to_text(code: Code, kind: Type) -> Code:
    given = code.type
    match given.name:
        case "varchar":
            value = code.sql
        case "double" | "real":
            # versions of Trino differ: 1.0 or 1.0E0
            raise SqlError("NOT_SUPPORTED", f"Cast from {given} to varchar is not supported")
        case "timestamp" | "timestamp with time zone":
            value = _timestamp_text(local(code), given.size or 0)
            if given.zone:
                value = f"({value} || {text(' ' + given.zone)})"
        case "boolean" | "date" | "decimal" | "tinyint" | "smallint" | "integer" | "bigint":
            value = f"CAST({code.sql} AS VARCHAR)"
        case "json":
            raise SqlError("NOT_SUPPORTED", "Cast from json is not supported")
        case _:
            raise SqlError("TYPE_MISMATCH", f"Cannot cast {given} to {kind}")
    if kind.size is None or (given.name == "varchar" and (given.size or 1 << 60) <= kind.size):
        return Code(value, kind, code.value if given.name == "varchar" else None)
    if given.name == "varchar":
        return Code(f"substring({value}, 1, {kind.size})", kind)
    message = f"'Value ' || {value} || ' cannot be represented as {kind}'"
    long = failing("INVALID_CAST_ARGUMENT", message, "VARCHAR")
    return Code(f"CASE WHEN length({value}) > {kind.size} THEN {long} ELSE {value} END", kind)


def _timestamp_text(value: str, precision: int) -> str:
    shown = f"strftime({value}, '%Y-%m-%d %H:%M:%S.%f')"
    return f"substring({shown}, 1, {20 + precision if precision else 19})"


def _from_text(code: Code, kind: Type) -> Code:
    pattern, value = _reading(code.sql, kind)
    message = f"'Cannot cast ''' || {code.sql} || ''' to {str(kind).upper()}'"
    wrong = failing("INVALID_CAST_ARGUMENT", message, kind.duck)
    checked = f"regexp_full_match({code.sql}, {text(pattern)})"
    null = f"WHEN {code.sql} IS NULL THEN NULL"
    return Code(f"CASE {null} WHEN NOT {checked} THEN {wrong} ELSE {value} END", kind)


def _reading(sql: str, kind: Type) -> tuple[str, str]:
    """What Trino takes for a text of that type, and how DuckDB gets its value."""
    plain = f"CAST({sql} AS {kind.duck})"
    match kind.name:
        case "tinyint" | "smallint" | "integer" | "bigint":
            return _NUMBER, plain
        case "decimal":
            return _DECIMAL, plain
        case "double" | "real":
            return _DOUBLE, f"CAST(trim({sql}) AS {kind.duck})"
        case "boolean":
            true = f"lower({sql}) IN ('t', 'true', '1')"
            return "(?i)(t|f|true|false|1|0)", f"({true})"
        case "date":
            return _DATE, f"CAST(trim({sql}) AS DATE)"
        case "timestamp":
            return _TIMESTAMP, _rounded(f"CAST(trim({sql}) AS TIMESTAMP)", kind.size or 0)
    raise SqlError("NOT_SUPPORTED", f"Cast from varchar to {kind} is not supported")


def _rounded(value: str, precision: int) -> str:
    if precision >= 6:
        return value
    return f"t_rounded({value}, {10 ** (6 - precision)})"


def _number(code: Code, kind: Type) -> Code:
    given, sql = code.type, code.sql
    if given.name in ("double", "real"):
        if kind.is_integer:
            return Code(f"CAST(round({sql}) AS {kind.duck})", kind)
        if kind.name == "decimal":
            if (kind.size or 0) > _SHORT:
                raise SqlError("NOT_SUPPORTED", f"Cast from {given} to {kind} is not supported")
            digits = f"CAST(round(CAST({sql} AS DOUBLE) * {10**kind.scale}) AS BIGINT)"
            return Code(scaled(digits, kind), kind)
    return Code(f"CAST({sql} AS {kind.duck})", kind)


def _time(code: Code, kind: Type) -> Code:
    given = code.type
    if kind == DATE:
        return Code(f"CAST({local(code)} AS DATE)", kind)
    if kind.zone:
        if given.zone:
            kind = timestamp_tz(given.zone, kind.size or 0)
        return Code(_rounded(f"CAST({code.sql} AS TIMESTAMP)", kind.size or 0), kind)
    value = f"CAST({local(code)} AS TIMESTAMP)"
    if (given.size or 0) > (kind.size or 0):
        value = _rounded(value, kind.size or 0)
    return Code(value, kind)
