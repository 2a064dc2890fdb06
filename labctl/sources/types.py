"""The rules by which each source type arrives in silver, declared in one place.

A `TypeRule` says which Arrow type a source column's values have in silver and how to read them
from the database as text without losing a digit, a microsecond or a blank. Readers, comparisons
and the documentation follow these rules. They agree with the connectors' settings: exact decimals
(`decimal.handling.mode=precise`) and microseconds
(`time.precision.mode=adaptive_time_microseconds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from labctl.errors import LabError
from labctl.sources.arrays import ARRAY, element_of, elements_sql, lost_sql
from labctl.sources.base import Declared, SourceColumn

__all__ = ["MYSQL", "POSTGRES", "SQLSERVER", "TypeRule", "rule_for"]


@dataclass(frozen=True)
class TypeRule:
    """One source type: its type in silver, and how it is read."""

    silver: pa.DataType | Callable[[Declared], pa.DataType]
    """The Arrow type in silver, or a function that derives it from the declared type."""
    wire: pa.DataType | None = None
    """Type as which the database's text is read, if it is converted afterwards (a timestamp is
    read as microseconds); None: the silver type itself."""
    expression: str = "{0}"
    """SQL expression that selects the value as that text; `{0}` is the quoted column."""
    note: str = ""
    """Note for readers of silver."""
    is_lossy: bool = False
    """Whether silver stores some values less exactly than the source."""
    is_json: bool = False
    """Whether values are compared as JSON and not as text."""
    element: SourceColumn | None = None
    """An array's element, which says how elements are read from the text; else None."""
    lost: str = ""
    """SQL condition for values that silver has no form for; they are read as NULL."""
    lost_as: tuple[str, str] = ("zero date, NULL in silver", "zero dates, NULL in silver")
    """Description of one such value, and of several."""

    def silver_type(self, declared: Declared) -> pa.DataType:
        """Return the Arrow type of a column with this declared type."""
        return self.silver if isinstance(self.silver, pa.DataType) else self.silver(declared)


_MAX_PRECISION = 38


def _decimal(declared: Declared) -> pa.DataType:
    if declared.precision is None or declared.scale is None or _is_wide(declared):
        return pa.string()
    return pa.decimal128(declared.precision, declared.scale)


def _is_wide(declared: Declared) -> bool:
    return (declared.precision or 0) > _MAX_PRECISION


_SMALL = TypeRule(pa.int32(), note="Avro has no integer below 32 bits")
_INT = TypeRule(pa.int32())
_LONG = TypeRule(pa.int64())
_TEXT = TypeRule(pa.string())
_CHOICE = TypeRule(
    pa.string(),
    note="MySQL keeps no character beyond the basic plane in the names it declares; an ENUM with a "
    "comma in a name is left out of capture",
)
_DECIMAL = TypeRule(
    _decimal, note="every digit kept; as text where more than 38 are declared, or no size is"
)
_WIDE = TypeRule(pa.string(), note="every digit kept, as text: silver's decimals have 38 digits")
_TIMESTAMP_NOTE = "microseconds kept; the wall clock as stored, without a time zone"
_INSTANT_NOTE = "an instant, in UTC"
_JULIAN_NOTE = "Debezium's first load shows 5 to 14 October 1582 ten days later, streaming does not"

# Infinity has no number: it is read as the smallest or largest one, which silver never holds.
_PG_DAYS = (
    "CASE WHEN isfinite({0}) THEN {0} - date '1970-01-01' "
    "WHEN {0} > date '1970-01-01' THEN 2147483647 "
    "WHEN {0} IS NOT NULL THEN -2147483648 END"
)
_PG_MICROSECONDS = (
    "CASE WHEN isfinite({0}) THEN (extract(epoch FROM {0}) * 1000000)::bigint "
    "WHEN {0} > '1970-01-01' THEN 9223372036854775807 "
    "WHEN {0} IS NOT NULL THEN -9223372036854775807 END"
)
_NOT_A_NUMBER = "a row with NaN or infinity stops its table or is put aside by name"
_PG_INTERVAL = "".join(
    [
        "'P' || extract(year FROM {0}) || 'Y' || extract(month FROM {0}) || 'M'",
        " || extract(day FROM {0}) || 'DT' || extract(hour FROM {0}) || 'H'",
        " || extract(minute FROM {0}) || 'M' || trim_scale(extract(second FROM {0})) || 'S'",
    ]
)
_YEARS = "years 1 to 9999: any other, and infinity, stops its table or is put aside by name"

POSTGRES: Mapping[str, TypeRule] = MappingProxyType(
    {
        "smallint": _SMALL,
        "integer": _INT,
        "bigint": _LONG,
        "numeric": TypeRule(
            _decimal,
            # If no size is declared, Debezium sends a number without trailing zeros. NaN and
            # infinity have no scale.
            expression="CASE WHEN scale({0}) >= 0 THEN trim_scale({0}) END",
            note="every digit kept; as text where more than 38 are declared, and, without trailing "
            f"zeros, where no size is; {_NOT_A_NUMBER}",
            lost="{0} IS NOT NULL AND scale({0}) IS NULL",
            lost_as=("NaN or infinity", "times NaN or infinity"),
        ),
        "money": TypeRule(
            pa.string(),
            expression="({0}::numeric)::text",
            note="text with two digits behind the point; Debezium's first load keeps 15 digits",
            is_lossy=True,
        ),
        "real": TypeRule(pa.float32()),
        "double precision": TypeRule(pa.float64()),
        "boolean": TypeRule(pa.bool_()),
        "character varying": _TEXT,
        "character": TypeRule(pa.string(), note="padded with blanks to its length"),
        "text": _TEXT,
        "uuid": _TEXT,
        "enum": _TEXT,
        "json": _TEXT,
        "jsonb": _TEXT,
        '"char"': _TEXT,
        "oid": _LONG,
        "inet": _TEXT,
        "cidr": _TEXT,
        "macaddr": _TEXT,
        "macaddr8": _TEXT,
        "interval": TypeRule(
            pa.string(),
            expression=_PG_INTERVAL,
            note="as `P1Y2M-3DT4H5M6.000007S`, with `interval.handling.mode=string`",
        ),
        "int4range": _TEXT,
        "int8range": _TEXT,
        "numrange": _TEXT,
        "daterange": _TEXT,
        "tsrange": _TEXT,
        "bytea": TypeRule(pa.binary(), pa.string(), "encode({0}, 'hex')"),
        "date": TypeRule(pa.date32(), pa.int32(), _PG_DAYS, f"{_JULIAN_NOTE}; {_YEARS}"),
        "timestamp without time zone": TypeRule(
            pa.timestamp("us"),
            pa.int64(),
            _PG_MICROSECONDS,
            f"{_TIMESTAMP_NOTE}; {_JULIAN_NOTE}; {_YEARS}",
        ),
        "timestamp with time zone": TypeRule(
            pa.timestamp("us", "UTC"),
            pa.int64(),
            _PG_MICROSECONDS,
            f"{_INSTANT_NOTE}; {_JULIAN_NOTE}; {_YEARS}",
        ),
        "time without time zone": TypeRule(
            pa.int64(),
            pa.int64(),
            "(extract(epoch FROM {0}) * 1000000)::bigint",
            "microseconds since midnight",
        ),
    }
)
"""PostgreSQL's rules, by `data_type` of `information_schema.columns`, or `enum`."""

_MICROSECONDS = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {0})"
_WHOLE_DATE = "YEAR({0}) AND MONTH({0}) AND DAY({0})"
_ZERO_NOTE = "a zero date (`0000-00-00`, a day, month or year 0) is NULL, and `verify` names it"


def _unless_zero(silver: pa.DataType, number: str, note: str) -> TypeRule:
    """Return the rule for a type that may hold zero dates, which are NULL in silver."""
    return TypeRule(
        silver,
        pa.int32() if pa.types.is_date32(silver) else pa.int64(),
        f"IF({_WHOLE_DATE}, {number}, NULL)",
        note,
        is_lossy=True,
        lost=f"NOT ({_WHOLE_DATE})",
    )


_MYSQL_FLOAT = TypeRule(
    pa.float32(),
    pa.float64(),
    "CAST({0} AS DOUBLE)",
    "Debezium's first load sees six digits, as MySQL shows it; streaming sees the value",
    is_lossy=True,
)

MYSQL: Mapping[str, TypeRule] = MappingProxyType(
    {
        "tinyint(1)": TypeRule(
            pa.int32(),
            note="MySQL's boolean, a number. As `bool` where the connector's file names the column "
            "for Debezium's `TinyIntOneToBooleanConverter`: then 2 is true, -1 is false, and NULL "
            "is the column's default",
        ),
        "tinyint": _SMALL,
        "tinyint unsigned": _SMALL,
        "smallint": _SMALL,
        "smallint unsigned": _INT,
        "mediumint": _INT,
        "mediumint unsigned": _INT,
        "int": _INT,
        "int unsigned": _LONG,
        "bigint": _LONG,
        "bigint unsigned": TypeRule(
            pa.decimal128(20, 0), note="with `bigint.unsigned.handling.mode=precise`"
        ),
        "bit(1)": TypeRule(pa.bool_(), expression="CAST({0} AS UNSIGNED)", note="boolean"),
        "bit": TypeRule(
            pa.binary(),
            pa.string(),
            "HEX(REVERSE(CAST({0} AS BINARY)))",
            "the bits, least significant byte first",
        ),
        "decimal": _DECIMAL,
        "decimal unsigned": _DECIMAL,
        # MySQL rounds a float to six digits when it sends it as text, but not as a double.
        "float": _MYSQL_FLOAT,
        "float unsigned": _MYSQL_FLOAT,
        "double": TypeRule(pa.float64()),
        "double unsigned": TypeRule(pa.float64()),
        "char": TypeRule(pa.string(), note="without trailing blanks, as MySQL returns it"),
        "varchar": _TEXT,
        "tinytext": _TEXT,
        "text": _TEXT,
        "mediumtext": _TEXT,
        "longtext": _TEXT,
        "enum": _CHOICE,
        "set": _CHOICE,
        "binary": TypeRule(pa.binary(), pa.string(), "HEX({0})", "padded with zero bytes"),
        "varbinary": TypeRule(pa.binary(), pa.string(), "HEX({0})"),
        "tinyblob": TypeRule(pa.binary(), pa.string(), "HEX({0})"),
        "blob": TypeRule(pa.binary(), pa.string(), "HEX({0})"),
        "mediumblob": TypeRule(pa.binary(), pa.string(), "HEX({0})"),
        "longblob": TypeRule(pa.binary(), pa.string(), "HEX({0})"),
        "json": TypeRule(
            pa.string(),
            note="compared as JSON: the first load has MySQL's text, streaming Debezium's; a time "
            "in it has six digits in the first load and no zeros at its end in streaming",
            is_json=True,
        ),
        "year": _INT,
        "date": _unless_zero(pa.date32(), "DATEDIFF({0}, '1970-01-01')", _ZERO_NOTE),
        "datetime": _unless_zero(
            pa.timestamp("us"),
            _MICROSECONDS,
            f"{_TIMESTAMP_NOTE}; {_ZERO_NOTE}; {_JULIAN_NOTE}",
        ),
        "timestamp": _unless_zero(
            pa.timestamp("us", "UTC"), _MICROSECONDS, f"{_INSTANT_NOTE}; {_ZERO_NOTE}"
        ),
        "time": TypeRule(
            pa.int64(),
            pa.int64(),
            _MICROSECONDS.format("ADDTIME('1970-01-01 00:00:00', {0})"),
            "microseconds; negative and beyond a day as stored",
        ),
    }
)
"""MySQL's rules, by type name; `unsigned` types, `tinyint(1)` and `bit(1)` have their own."""

_NANOSECONDS_NOTE = "with seven digits (the default) nanoseconds, as a number"


def _datetime2(declared: Declared) -> pa.DataType:
    return pa.int64() if declared.scale == _SEVEN_DIGITS else pa.timestamp("us")


_SEVEN_DIGITS = 7
_MONEY_NOTE = "four digits behind the point"

SQLSERVER: Mapping[str, TypeRule] = MappingProxyType(
    {
        "bit": TypeRule(pa.bool_(), note="boolean"),
        "tinyint": _SMALL,
        "smallint": _SMALL,
        "int": _INT,
        "bigint": _LONG,
        "decimal": _DECIMAL,
        "numeric": _DECIMAL,
        "money": TypeRule(pa.decimal128(19, 4), note=_MONEY_NOTE),
        "smallmoney": TypeRule(pa.decimal128(10, 4), note=_MONEY_NOTE),
        "real": TypeRule(pa.float32()),
        "float": TypeRule(pa.float64()),
        "char": TypeRule(pa.string(), note="padded with blanks to its length"),
        "varchar": _TEXT,
        "text": _TEXT,
        "nchar": TypeRule(pa.string(), note="padded with blanks to its length"),
        "nvarchar": _TEXT,
        "ntext": _TEXT,
        "uniqueidentifier": TypeRule(
            pa.string(), note="upper-case letters, as SQL Server shows it"
        ),
        "binary": TypeRule(pa.binary(), note="padded with zero bytes"),
        "varbinary": TypeRule(pa.binary()),
        "date": TypeRule(pa.date32()),
        "datetime": TypeRule(pa.timestamp("us"), note="milliseconds, in steps of 10/3 as stored"),
        "smalldatetime": TypeRule(pa.timestamp("us"), note="minutes, as stored"),
        "datetime2": TypeRule(
            _datetime2,
            note=f"{_TIMESTAMP_NOTE}; {_NANOSECONDS_NOTE}, which end in the years 1677 and 2262: "
            "a column with others is left out by name, and `verify` names a value that comes later",
        ),
        "datetimeoffset": TypeRule(
            pa.timestamp("us", "UTC"),
            note=f"{_INSTANT_NOTE}: the offset is lost; Debezium shifts what lies before 15 "
            "October 1582, and a time before 1970 with a fraction of its second arrives one second "
            "late (Microsoft's JDBC driver)",
            is_lossy=True,
        ),
        "time": TypeRule(pa.int64(), note=f"microseconds since midnight; {_NANOSECONDS_NOTE}"),
    }
)
"""SQL Server's rules, by `DATA_TYPE` of `INFORMATION_SCHEMA.COLUMNS`."""


def rule_for(rules: Mapping[str, TypeRule], declared: Declared, column: str) -> TypeRule:
    """Return the rule for a column's type; raise `LabError` if silver has no exact type for it."""
    try:
        if declared.name == ARRAY and (element := element_of(rules, declared)) is not None:
            return TypeRule(
                pa.list_(element.arrow),
                pa.string(),
                elements_sql(element),
                element=element,
                lost=lost_sql(element),
                lost_as=("array that silver has no form for", "arrays that silver has no form for"),
            )
        rule = rules[declared.name]
        return _WIDE if rule.silver is _decimal and _is_wide(declared) else rule
    except KeyError:
        raise LabError(
            f"Column {column} has type {declared.full}, which has no exact silver type here.",
            hint="exclude the column from capture, or add a rule in labctl/sources/types.py",
        ) from None
