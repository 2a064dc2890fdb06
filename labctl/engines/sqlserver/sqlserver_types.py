"""The rules by which SQL Server's types arrive in silver."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from labctl.sources.base import Declared
from labctl.sources.type_rules import (
    DECIMAL,
    INSTANT_NOTE,
    INT,
    LONG,
    SMALL,
    TEXT,
    TIMESTAMP_NOTE,
    TypeRule,
)

__all__ = ["SQLSERVER"]

_NANOSECONDS_NOTE = "with seven digits (the default) nanoseconds, as a number"


def _datetime2(declared: Declared) -> pa.DataType:
    return pa.int64() if declared.scale == _SEVEN_DIGITS else pa.timestamp("us")


_SEVEN_DIGITS = 7
_MONEY_NOTE = "four digits behind the point"

SQLSERVER: Mapping[str, TypeRule] = MappingProxyType(
    {
        "bit": TypeRule(pa.bool_(), note="boolean"),
        "tinyint": SMALL,
        "smallint": SMALL,
        "int": INT,
        "bigint": LONG,
        "decimal": DECIMAL,
        "numeric": DECIMAL,
        "money": TypeRule(pa.decimal128(19, 4), note=_MONEY_NOTE),
        "smallmoney": TypeRule(pa.decimal128(10, 4), note=_MONEY_NOTE),
        "real": TypeRule(pa.float32()),
        "float": TypeRule(pa.float64()),
        "char": TypeRule(pa.string(), note="padded with blanks to its length"),
        "varchar": TEXT,
        "text": TEXT,
        "nchar": TypeRule(pa.string(), note="padded with blanks to its length"),
        "nvarchar": TEXT,
        "ntext": TEXT,
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
            note=f"{TIMESTAMP_NOTE}; {_NANOSECONDS_NOTE}, which end in the years 1677 and 2262: "
            "a column with others is left out by name, and `verify` names a value that comes later",
        ),
        "datetimeoffset": TypeRule(
            pa.timestamp("us", "UTC"),
            note=f"{INSTANT_NOTE}: the offset is lost; Debezium shifts what lies before 15 "
            "October 1582, and a time before 1970 with a fraction of its second arrives one second "
            "late (Microsoft's JDBC driver)",
            is_lossy=True,
        ),
        "time": TypeRule(pa.int64(), note=f"microseconds since midnight; {_NANOSECONDS_NOTE}"),
    }
)
"""SQL Server's rules, by `DATA_TYPE` of `INFORMATION_SCHEMA.COLUMNS`."""
