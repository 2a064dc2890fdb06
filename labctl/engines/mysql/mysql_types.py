"""The rules by which MySQL's types arrive in silver."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from labctl.sources.type_rules import (
    DECIMAL,
    INSTANT_NOTE,
    INT,
    JULIAN_NOTE,
    LONG,
    SMALL,
    TEXT,
    TIMESTAMP_NOTE,
    TypeRule,
)

__all__ = ["MYSQL"]

_CHOICE = TypeRule(
    pa.string(),
    note="MySQL keeps no character beyond the basic plane in the names it declares; an ENUM with a "
    "comma in a name is left out of capture",
)

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
        "tinyint": SMALL,
        "tinyint unsigned": SMALL,
        "smallint": SMALL,
        "smallint unsigned": INT,
        "mediumint": INT,
        "mediumint unsigned": INT,
        "int": INT,
        "int unsigned": LONG,
        "bigint": LONG,
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
        "decimal": DECIMAL,
        "decimal unsigned": DECIMAL,
        # MySQL rounds a float to six digits when it sends it as text, but not as a double.
        "float": _MYSQL_FLOAT,
        "float unsigned": _MYSQL_FLOAT,
        "double": TypeRule(pa.float64()),
        "double unsigned": TypeRule(pa.float64()),
        "char": TypeRule(pa.string(), note="without trailing blanks, as MySQL returns it"),
        "varchar": TEXT,
        "tinytext": TEXT,
        "text": TEXT,
        "mediumtext": TEXT,
        "longtext": TEXT,
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
        "year": INT,
        "date": _unless_zero(pa.date32(), "DATEDIFF({0}, '1970-01-01')", _ZERO_NOTE),
        "datetime": _unless_zero(
            pa.timestamp("us"),
            _MICROSECONDS,
            f"{TIMESTAMP_NOTE}; {_ZERO_NOTE}; {JULIAN_NOTE}",
        ),
        "timestamp": _unless_zero(
            pa.timestamp("us", "UTC"), _MICROSECONDS, f"{INSTANT_NOTE}; {_ZERO_NOTE}"
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
