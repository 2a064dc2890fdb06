"""Trino's types as Athena shows them, and their counterparts in Arrow, DuckDB and Glue."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import zip_longest

import pyarrow as pa

from sqlapi.sql.budget import check_type
from sqlapi.sql.statement_errors import SqlError

__all__ = [
    "BIGINT",
    "BOOLEAN",
    "DATE",
    "DAY_TO_SECOND",
    "DOUBLE",
    "INTEGER",
    "JSON",
    "REAL",
    "SMALLINT",
    "TIMESTAMP",
    "TINYINT",
    "UNKNOWN",
    "VARBINARY",
    "VARCHAR",
    "YEAR_TO_MONTH",
    "Type",
    "array",
    "as_decimal",
    "can_coerce",
    "common",
    "decimal",
    "map_of",
    "of_arrow",
    "row",
    "timestamp",
    "timestamp_tz",
    "varchar",
]

MAX_PRECISION = 38
_MICROS = 6


@dataclass(frozen=True)
class Type:
    """A type of Trino's. `zone` is the time zone of all values of a timestamp with time zone."""

    name: str
    args: tuple[Type, ...] = ()
    """Element of an array, key and value of a map, fields of a row."""
    size: int | None = None
    """Precision of a decimal or timestamp, length of a varchar; None is unlimited."""
    scale: int = 0
    fields: tuple[str | None, ...] = ()
    zone: str | None = None
    loose: bool = field(default=False, compare=False)
    """True if Trino may give these strings a length that is not known here."""
    parts: int = field(default=1, init=False, compare=False, repr=False)
    """Number of types in it, including itself. A short text can make a type with many parts."""
    depth: int = field(default=1, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.args:
            object.__setattr__(self, "parts", 1 + sum(inner.parts for inner in self.args))
            object.__setattr__(self, "depth", 1 + max(inner.depth for inner in self.args))
            check_type(self.parts, self.depth)

    def __str__(self) -> str:  # noqa: PLR0911
        match self.name:
            case "decimal":
                return f"decimal({self.size},{self.scale})"
            case "varchar" | "char" if self.size is not None:
                return f"{self.name}({self.size})"
            case "timestamp":
                return f"timestamp({self.size})"
            case "timestamp with time zone":
                return f"timestamp({self.size}) with time zone"
            case "array" | "map":
                return f"{self.name}({', '.join(map(str, self.args))})"
            case "row":
                pairs = zip(self.fields, self.args, strict=True)
                return f"row({', '.join(f'{n} {t}' if n else str(t) for n, t in pairs)})"
        return self.name

    @property
    def duck(self) -> str:
        """DuckDB's type for the values. Intervals are integers, in milliseconds or months."""
        match self.name:
            case "decimal":
                return f"DECIMAL({self.size},{self.scale})"
            case "timestamp" | "timestamp with time zone":
                return "TIMESTAMP"
            case "array":
                return f"{self.args[0].duck}[]"
            case "map":
                return f"MAP({self.args[0].duck}, {self.args[1].duck})"
            case "row":
                inside = (f'"f{i}" {t.duck}' for i, t in enumerate(self.args))
                return f"STRUCT({', '.join(inside)})"
        return _DUCK[self.name]

    @property
    def glue(self) -> str:
        """The type as Glue and `DESCRIBE` write it."""
        match self.name:
            case "decimal" | "char":
                return str(self)
            case "array":
                return f"array<{self.args[0].glue}>"
            case "map":
                return f"map<{self.args[0].glue},{self.args[1].glue}>"
            case "row":
                pairs = zip(self.fields, self.args, strict=True)
                inside = (f"{n or f'field{i}'}:{t.glue}" for i, (n, t) in enumerate(pairs))
                return f"struct<{','.join(inside)}>"
        return _GLUE.get(self.name, self.name)

    @property
    def shown(self) -> str:
        """The type in the metadata of Athena's results."""
        if self.name == "timestamp with time zone":
            return self.name
        return self.name if self.name not in ("unknown",) else "unknown"

    @property
    def is_loose(self) -> bool:
        return self.loose or any(inner.is_loose for inner in self.args)

    def loosely(self) -> Type:
        """Return the type, marked as one whose strings have unknown lengths in Trino."""
        inner = tuple(kind.loosely() for kind in self.args)
        return replace(self, args=inner, loose=self.name == "varchar" and self.size is None)

    @property
    def is_integer(self) -> bool:
        return self.name in _INTEGERS

    @property
    def is_numeric(self) -> bool:
        return self.name in _NUMERIC or self.name == "decimal"

    @property
    def is_time(self) -> bool:
        """True if it is a date or a timestamp."""
        return self.name in ("date", "timestamp", "timestamp with time zone")


_DUCK = {
    "boolean": "BOOLEAN", "tinyint": "TINYINT", "smallint": "SMALLINT", "integer": "INTEGER",
    "bigint": "BIGINT", "real": "FLOAT", "double": "DOUBLE", "varchar": "VARCHAR",
    "varbinary": "BLOB", "date": "DATE", "json": "VARCHAR", "unknown": "INTEGER",
    "interval day to second": "BIGINT", "interval year to month": "BIGINT",
}  # fmt: skip
_GLUE = {
    "integer": "int", "varchar": "string", "varbinary": "binary", "real": "float",
    "timestamp with time zone": "timestamp",
}  # fmt: skip
_INTEGERS = {"tinyint": 3, "smallint": 5, "integer": 10, "bigint": 19}
_NUMERIC = ("tinyint", "smallint", "integer", "bigint", "real", "double")

BOOLEAN = Type("boolean")
TINYINT, SMALLINT = Type("tinyint"), Type("smallint")
INTEGER, BIGINT = Type("integer"), Type("bigint")
REAL, DOUBLE = Type("real"), Type("double")
VARCHAR, VARBINARY, JSON = Type("varchar"), Type("varbinary"), Type("json")
DATE, TIMESTAMP = Type("date"), Type("timestamp", size=3)
UNKNOWN = Type("unknown")
DAY_TO_SECOND, YEAR_TO_MONTH = Type("interval day to second"), Type("interval year to month")


def decimal(precision: int, scale: int = 0) -> Type:
    """Return decimal(precision, scale). Raises SqlError if Trino has no such type."""
    if not 0 < precision <= MAX_PRECISION or not 0 <= scale <= precision:
        raise SqlError("TYPE_NOT_FOUND", f"Unknown type: decimal({precision},{scale})")
    return Type("decimal", size=precision, scale=scale)


def varchar(length: int | None = None) -> Type:
    return Type("varchar", size=length)


def timestamp(precision: int = 3) -> Type:
    """Return timestamp(precision). Raises SqlError beyond microseconds, DuckDB's limit."""
    if precision > _MICROS:
        raise SqlError("NOT_SUPPORTED", f"timestamp({precision}) is not supported")
    return Type("timestamp", size=precision)


def timestamp_tz(zone: str, precision: int = 3) -> Type:
    return replace(timestamp(precision), name="timestamp with time zone", zone=zone)


def array(element: Type) -> Type:
    return Type("array", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", (key, value))


def row(args: tuple[Type, ...], fields: tuple[str | None, ...] | None = None) -> Type:
    return Type("row", args, fields=fields or (None,) * len(args))


def as_decimal(kind: Type) -> Type:
    """Return the decimal that holds all values of an integer type; others as they are."""
    return decimal(_INTEGERS[kind.name]) if kind.is_integer else kind


def common(a: Type, b: Type) -> Type | None:  # noqa: PLR0911
    """Return the type that both coerce to; None if Trino has none. Raises SqlError."""
    if b in (a, UNKNOWN):
        return b if b.is_loose else a
    if a == UNKNOWN:
        return b
    if a.is_numeric and b.is_numeric:
        return _common_number(a, b)
    names = {a.name, b.name}
    if names == {"varchar"}:
        size = None if a.size is None or b.size is None else max(a.size, b.size)
        return replace(varchar(size), loose=a.loose or b.loose)
    if a.is_time and b.is_time:
        return _common_time(a, b)
    if len(names) > 1 or len(a.args) != len(b.args) or not a.args:
        return None
    args = [common(x, y) for x, y in zip(a.args, b.args, strict=True)]
    if any(t is None for t in args):
        return None
    fields = tuple(x if x == y else None for x, y in zip_longest(a.fields, b.fields))
    return Type(a.name, tuple(t for t in args if t), fields=fields)


def _common_number(a: Type, b: Type) -> Type:
    for name in ("double", "real"):
        if name in (a.name, b.name):
            return Type(name)
    if a.is_integer and b.is_integer:
        return max(a, b, key=lambda t: _INTEGERS[t.name])
    x, y = as_decimal(a), as_decimal(b)
    scale = max(x.scale, y.scale)
    whole = max((x.size or 0) - x.scale, (y.size or 0) - y.scale)
    return decimal(min(MAX_PRECISION, whole + scale), scale)


def _common_time(a: Type, b: Type) -> Type | None:
    zones = {t.zone for t in (a, b) if t.zone}
    precision = max(a.size or 0, b.size or 0)
    if not zones:
        return timestamp(precision)
    if len(zones) > 1:
        raise SqlError("NOT_SUPPORTED", "Values of several time zones in one column")
    (zone,) = zones
    if zone != "UTC" and not (a.zone and b.zone):
        raise SqlError("NOT_SUPPORTED", "Timestamps with and without a time zone in one column")
    return timestamp_tz(zone, precision)


def can_coerce(given: Type, wanted: Type) -> bool:
    """Return whether Trino coerces `given` to `wanted` implicitly."""
    if given.name == wanted.name and not given.args:
        if given.name == "decimal":
            return common(given, wanted) == wanted
        if given.name == "varchar":
            return wanted.size is None or (given.size is not None and given.size <= wanted.size)
        return (given.size or 0) <= (wanted.size or 0) and given.zone == wanted.zone
    try:
        return common(given, wanted) == wanted
    except SqlError:
        return False


def of_arrow(kind: pa.DataType) -> Type:  # noqa: PLR0911, PLR0912
    """Return Athena's type of a file's column. Raises SqlError for an unsupported type."""
    t = pa.types
    if t.is_dictionary(kind):
        return of_arrow(kind.value_type)
    if t.is_boolean(kind):
        return BOOLEAN
    if t.is_int8(kind):
        return TINYINT
    if t.is_int16(kind) or t.is_uint8(kind):
        return SMALLINT
    if t.is_int32(kind) or t.is_uint16(kind):
        return INTEGER
    if t.is_int64(kind) or t.is_uint32(kind):
        return BIGINT
    if t.is_float32(kind):
        return REAL
    if t.is_float64(kind):
        return DOUBLE
    if t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind):
        return VARCHAR
    if t.is_binary(kind) or t.is_large_binary(kind) or t.is_fixed_size_binary(kind):
        return VARBINARY
    if t.is_date(kind):
        return DATE
    if t.is_timestamp(kind):
        return TIMESTAMP
    if t.is_decimal(kind) and kind.precision <= MAX_PRECISION:
        return decimal(kind.precision, kind.scale)
    if t.is_map(kind):
        return map_of(of_arrow(kind.key_type), of_arrow(kind.item_type))
    if t.is_list(kind) or t.is_large_list(kind):
        return array(of_arrow(kind.value_type))
    if t.is_struct(kind):
        inside = [kind.field(i) for i in range(kind.num_fields)]
        return row(tuple(of_arrow(f.type) for f in inside), tuple(f.name.lower() for f in inside))
    if t.is_null(kind):
        return VARCHAR
    raise SqlError("NOT_SUPPORTED", f"Unsupported column type: {kind}")
