"""The rules by which PostgreSQL's types arrive in silver."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from labctl.sources.type_rules import (
    INSTANT_NOTE,
    INT,
    JULIAN_NOTE,
    LONG,
    SMALL,
    TEXT,
    TIMESTAMP_NOTE,
    TypeRule,
    declared_decimal,
)

__all__ = ["POSTGRES"]

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
        "smallint": SMALL,
        "integer": INT,
        "bigint": LONG,
        "numeric": TypeRule(
            declared_decimal,
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
        "character varying": TEXT,
        "character": TypeRule(pa.string(), note="padded with blanks to its length"),
        "text": TEXT,
        "uuid": TEXT,
        "enum": TEXT,
        "json": TEXT,
        "jsonb": TEXT,
        '"char"': TEXT,
        "oid": LONG,
        "inet": TEXT,
        "cidr": TEXT,
        "macaddr": TEXT,
        "macaddr8": TEXT,
        "interval": TypeRule(
            pa.string(),
            expression=_PG_INTERVAL,
            note="as `P1Y2M-3DT4H5M6.000007S`, with `interval.handling.mode=string`",
        ),
        "int4range": TEXT,
        "int8range": TEXT,
        "numrange": TEXT,
        "daterange": TEXT,
        "tsrange": TEXT,
        "bytea": TypeRule(pa.binary(), pa.string(), "encode({0}, 'hex')"),
        "date": TypeRule(pa.date32(), pa.int32(), _PG_DAYS, f"{JULIAN_NOTE}; {_YEARS}"),
        "timestamp without time zone": TypeRule(
            pa.timestamp("us"),
            pa.int64(),
            _PG_MICROSECONDS,
            f"{TIMESTAMP_NOTE}; {_YEARS}",
        ),
        "timestamp with time zone": TypeRule(
            pa.timestamp("us", "UTC"),
            pa.int64(),
            _PG_MICROSECONDS,
            f"{INSTANT_NOTE}; {_YEARS}",
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
