"""Literals: numbers, intervals and timestamps."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from sqlglot import exp

from sqlapi.sql.code import Code, text
from sqlapi.sql.dialect import shown
from sqlapi.sql.statement_errors import SqlError
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

__all__ = ["check_zone", "decimal_literal", "interval", "number", "timestamp_literal", "whole"]

_INT, _LONG = 2**31, 2**63
_MS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000}
_CLOCKS = {
    "DAY TO HOUR": (r"(-?)(\d{1,18}) (\d{1,18})", (86_400_000, 3_600_000)),
    "DAY TO MINUTE": (r"(-?)(\d{1,18}) (\d{1,18}):(\d{1,18})", (86_400_000, 3_600_000, 60_000)),
    "HOUR TO MINUTE": (r"(-?)(\d{1,18}):(\d{1,18})", (3_600_000, 60_000)),
    "HOUR TO SECOND": (r"(-?)(\d{1,18}):(\d{1,18}):(\d{1,18})", (3_600_000, 60_000, 1000)),
    "MINUTE TO SECOND": (r"(-?)(\d{1,18}):(\d{1,18})", (60_000, 1000)),
}
_MONTHS = {"MONTH": 1, "YEAR": 12}
_TIMESTAMP = re.compile(
    r"(?P<day>\d{4}-\d{1,2}-\d{1,2})"
    r"(?: (?P<time>\d{1,2}:\d{1,2}(?::\d{1,2})?)(?:\.(?P<part>\d{1,12}))?)?"
    r"(?: ?(?P<zone>[A-Za-z+-].*))?"
)


def number(literal: str) -> Code:
    """Return an integer, bigint, decimal or (with an exponent) double."""
    digits = literal.replace("_", "")
    if re.search("[eE]", digits):
        return Code(f"CAST('{digits}' AS DOUBLE)", DOUBLE)
    if "." in digits:
        return decimal_literal(digits)
    if not re.fullmatch("[0-9]+", digits):
        raise SqlError("NOT_SUPPORTED", f"Number {literal[:50]} is not supported")
    value = whole(digits)
    if value is None or value >= _LONG:
        raise SqlError("INVALID_LITERAL", f"Invalid numeric literal: {literal[:50]}")
    kind = INTEGER if value < _INT else BIGINT
    return Code(f"CAST({value} AS {kind.duck})", kind, value)


def whole(digits: str) -> int | None:
    """Return the number with these digits; None for other characters or too many digits."""
    return int(digits) if re.fullmatch("[0-9]{1,40}", digits) else None


def decimal_literal(digits: str) -> Code:
    """Return a decimal with exactly the digits that are written. Raises SqlError."""
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", digits):
        raise SqlError("INVALID_LITERAL", f"Invalid decimal literal: {digits}")
    whole, _, part = digits.lstrip("+-").partition(".")
    kind = decimal(max(1, len(whole.lstrip("0")) + len(part)), len(part))
    return Code(f"CAST('{digits}' AS {kind.duck})", kind)


def interval(tree: exp.Interval) -> Code:
    """Translate `INTERVAL '2' DAY` to milliseconds or months. Raises SqlError."""
    value, unit = tree.this, tree.args.get("unit")
    sign = 1
    if isinstance(value, exp.Neg):
        value, sign = value.this, -1
    if isinstance(value, exp.Literal) and isinstance(unit, exp.IntervalSpan):
        return _span(value.this, f"{unit.this.name} TO {unit.expression.name}".upper(), sign)
    if not isinstance(value, exp.Literal) or not isinstance(unit, exp.Var):
        raise SqlError("NOT_SUPPORTED", f"Unsupported interval: {shown(tree)}")
    name = unit.name.upper().removesuffix("S") if unit.name.upper() != "S" else "S"
    if name == "SECOND" and re.fullmatch(r"\d{1,18}\.\d{1,3}", value.this):
        return Code(f"CAST({sign * round(Decimal(value.this) * 1000)} AS BIGINT)", DAY_TO_SECOND)
    if not re.fullmatch(r"[+-]?\d{1,18}", value.this):
        raise SqlError("INVALID_LITERAL", f"Invalid interval literal: {value.this}")
    amount = sign * int(value.this)
    if name in _MS:
        return Code(f"CAST({amount * _MS[name]} AS BIGINT)", DAY_TO_SECOND)
    if name in _MONTHS:
        return Code(f"CAST({amount * _MONTHS[name]} AS BIGINT)", YEAR_TO_MONTH)
    raise SqlError("NOT_SUPPORTED", f"Unsupported interval: {shown(tree)}")


def _span(value: str, units: str, sign: int) -> Code:
    """Translate `INTERVAL '2-3' YEAR TO MONTH` or `INTERVAL '1 02:03:04' DAY TO SECOND`."""
    if units == "YEAR TO MONTH" and (found := re.fullmatch(r"(-?)(\d{1,18})-(\d{1,18})", value)):
        total = int(found[2]) * 12 + int(found[3])
        kind = YEAR_TO_MONTH
    elif units == "DAY TO SECOND" and (
        found := re.fullmatch(
            r"(-?)(\d{1,18}) (\d{1,18}):(\d{1,18}):(\d{1,18})(?:\.(\d{1,3}))?", value
        )
    ):
        days, hours, minutes, seconds = (int(found[i]) for i in (2, 3, 4, 5))
        total = ((days * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000
        total += int((found[6] or "0").ljust(3, "0"))
        kind = DAY_TO_SECOND
    elif units in _CLOCKS and (found := re.fullmatch(_CLOCKS[units][0], value)):
        total = sum(
            int(n) * ms for n, ms in zip(found.groups()[1:], _CLOCKS[units][1], strict=True)
        )
        kind = DAY_TO_SECOND
    else:
        raise SqlError("NOT_SUPPORTED", f"Unsupported interval: '{value}' {units}")
    amount = sign * (-total if found[1] else total)
    return Code(f"CAST({amount} AS BIGINT)", kind)


def timestamp_literal(value: str, kind: Type) -> Code:
    """Return a timestamp with the precision and zone of its text. Raises SqlError."""
    found = _TIMESTAMP.fullmatch(value.strip())
    if not found:
        raise SqlError("INVALID_LITERAL", f"'{value}' is not a valid TIMESTAMP literal")
    zone = found["zone"]
    part = found["part"] or ""
    precision = kind.size if kind.size is not None else len(part)
    if len(part) > precision:
        raise SqlError("NOT_SUPPORTED", f"'{value}' has more digits than {kind}")
    clock = found["time"] or "00:00:00"
    if clock.count(":") == 1:
        clock += ":00"
    shown = f"{found['day']} {clock}{'.' + part if part else ''}"
    if zone and zone != "UTC":
        return _zoned(f"{found['day']} {clock}", part.ljust(precision, "0"), zone, precision)
    made = timestamp_tz("UTC", precision) if zone or kind.zone else timestamp(precision)
    return Code(f"CAST({text(shown)} AS TIMESTAMP)", made)


def _zoned(clock: str, part: str, zone: str, precision: int) -> Code:
    """Return the moment of a local time in a zone. Raises SqlError where a clock is turned."""
    check_zone(zone)
    try:
        local = datetime.strptime(clock, "%Y-%m-%d %H:%M:%S").replace(tzinfo=ZoneInfo(zone))
    except ValueError:
        raise SqlError("INVALID_LITERAL", f"'{clock} {zone}' is not a valid TIMESTAMP") from None
    if local.utcoffset() != local.replace(fold=1).utcoffset():
        raise SqlError("NOT_SUPPORTED", f"Timestamp literal {clock} {zone}: two moments, or none")
    shown = f"{local.astimezone(UTC):%Y-%m-%d %H:%M:%S}{'.' + part if part else ''}"
    return Code(f"CAST({text(shown)} AS TIMESTAMP)", timestamp_tz(zone, precision))


def check_zone(name: str) -> None:
    """Raise SqlError for an unknown or unsupported time zone."""
    if re.fullmatch(r"[+-]\d\d(:?\d\d)?", name):
        raise SqlError("NOT_SUPPORTED", f"Time zone {name} is not supported")
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise SqlError("INVALID_FUNCTION_ARGUMENT", f"'{name}' is not a valid time zone") from None
