"""Numbers, intervals and timestamps as they are written."""

from __future__ import annotations

import re

from sqlglot import exp

from sqlapi.sql.code import Code, text
from sqlapi.sql.errors import SqlError
from sqlapi.sql.types import (
    BIGINT,
    DAY_TO_SECOND,
    DOUBLE,
    INTEGER,
    YEAR_TO_MONTH,
    Type,
    decimal,
    timestamp,
    timestamp_tz,
)

__all__ = ["interval", "number", "timestamp_literal"]

_INT, _LONG = 2**31, 2**63
_MS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000, "WEEK": 604_800_000}
_MONTHS = {"MONTH": 1, "YEAR": 12}
_TIMESTAMP = re.compile(
    r"(?P<day>\d{4}-\d{1,2}-\d{1,2})"
    r"(?: (?P<time>\d{1,2}:\d{1,2}(?::\d{1,2})?)(?:\.(?P<part>\d{1,6}))?)?"
    r"(?: ?(?P<zone>[A-Za-z].*))?"
)


def number(literal: str) -> Code:
    """An integer, bigint, decimal or (with an exponent) double."""
    digits = literal.replace("_", "")
    if re.search("[eE]", digits):
        return Code(f"CAST('{digits}' AS DOUBLE)", DOUBLE)
    if "." in digits:
        whole, _, part = digits.partition(".")
        kind = decimal(max(1, len(whole.lstrip("0")) + len(part)), len(part))
        return Code(f"CAST('{digits}' AS {kind.duck})", kind)
    if not digits.isdigit():
        raise SqlError("NOT_SUPPORTED", f"Number {literal} is not supported")
    value = int(digits)
    if value >= _LONG:
        raise SqlError("INVALID_LITERAL", f"Invalid numeric literal: {literal}")
    kind = INTEGER if value < _INT else BIGINT
    return Code(f"CAST({value} AS {kind.duck})", kind, value)


def interval(tree: exp.Interval) -> Code:
    """`INTERVAL '2' DAY` in milliseconds or months. Raises SqlError for ranges of units."""
    value, unit = tree.this, tree.args.get("unit")
    sign = 1
    if isinstance(value, exp.Neg):
        value, sign = value.this, -1
    if not isinstance(value, exp.Literal) or not isinstance(unit, exp.Var):
        raise SqlError("NOT_SUPPORTED", f"Unsupported interval: {tree.sql('trino')}")
    name = unit.name.upper().removesuffix("S") if unit.name.upper() != "S" else "S"
    if not re.fullmatch(r"[+-]?\d+", value.this):
        raise SqlError("INVALID_LITERAL", f"Invalid interval literal: {value.this}")
    amount = sign * int(value.this)
    if name in _MS:
        return Code(f"CAST({amount * _MS[name]} AS BIGINT)", DAY_TO_SECOND)
    if name in _MONTHS:
        return Code(f"CAST({amount * _MONTHS[name]} AS BIGINT)", YEAR_TO_MONTH)
    raise SqlError("NOT_SUPPORTED", f"Unsupported interval: {tree.sql('trino')}")


def timestamp_literal(value: str, kind: Type) -> Code:
    """A timestamp as it is written, with the precision and the zone of its text."""
    found = _TIMESTAMP.fullmatch(value.strip())
    if not found:
        raise SqlError("INVALID_LITERAL", f"'{value}' is not a valid TIMESTAMP literal")
    zone = found["zone"]
    if zone and zone != "UTC":
        # the clock of another zone would need its rules for what is told
        raise SqlError("NOT_SUPPORTED", f"Timestamp literal in {zone} is not supported")
    part = found["part"] or ""
    precision = kind.size if kind.size is not None else len(part)
    if len(part) > precision:
        raise SqlError("NOT_SUPPORTED", f"'{value}' has more digits than {kind}")
    clock = found["time"] or "00:00:00"
    if clock.count(":") == 1:
        clock += ":00"
    shown = f"{found['day']} {clock}{'.' + part if part else ''}"
    made = timestamp_tz("UTC", precision) if zone or kind.zone else timestamp(precision)
    return Code(f"CAST({text(shown)} AS TIMESTAMP)", made)
