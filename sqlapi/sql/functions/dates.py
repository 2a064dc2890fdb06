"""Dates and timestamps."""

from __future__ import annotations

from sqlapi.sql.casts import cast, local
from sqlapi.sql.code import Code, coerced, text
from sqlapi.sql.errors import SqlError
from sqlapi.sql.functions.registry import constant, function, simple, wrong_arguments
from sqlapi.sql.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DAY_TO_SECOND,
    DOUBLE,
    VARCHAR,
    Type,
    common,
    timestamp,
    timestamp_tz,
)

_MS = {"millisecond": 1, "second": 1000, "minute": 60_000, "hour": 3_600_000}
_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_FIELDS = {
    "year": "year", "quarter": "quarter", "month": "month", "week": "week",
    "week_of_year": "week", "day": "day", "day_of_month": "day", "day_of_week": "isodow",
    "dow": "isodow", "day_of_year": "doy", "doy": "doy", "year_of_week": "isoyear",
    "yow": "isoyear", "hour": "hour", "minute": "minute", "second": "second",
}  # fmt: skip
_OF_TIMES = ("hour", "minute", "second", "millisecond")

simple("parse_duration", [VARCHAR], DAY_TO_SECOND, "t_duration({0})")
simple("from_unixtime", [DOUBLE], timestamp_tz("UTC"), "t_from_unixtime({0})")
simple("from_iso8601_date", [VARCHAR], DATE, "t_iso_date({0})")
simple("is_valid_date", [VARCHAR], BOOLEAN, "t_is_date({0})")


def _moment(code: Code, name: str) -> Code:
    """A date or timestamp, by its local clock."""
    if not code.type.is_time:
        raise wrong_arguments(name, [code])
    if code.type.zone:
        return Code(local(code), timestamp(code.type.size or 0))
    return code


def field(name: str, code: Code) -> Code:
    """One field, `year` or `day_of_week` say, of a date or timestamp. Raises SqlError."""
    if code.type == DAY_TO_SECOND:
        return _of_interval(name, code)
    moment = _moment(code, name)
    if name == "millisecond" and moment.type.name == "timestamp":
        return Code(f"CAST(extract(millisecond FROM {moment.sql}) % 1000 AS BIGINT)", BIGINT)
    if name not in _FIELDS or (name in _OF_TIMES and moment.type == DATE):
        raise wrong_arguments(name, [code])
    return Code(f"CAST(extract({_FIELDS[name]} FROM {moment.sql}) AS BIGINT)", BIGINT)


def _of_interval(name: str, code: Code) -> Code:
    units = {"day": (86_400_000, 1 << 40), "hour": (3_600_000, 24), "minute": (60_000, 60),
             "second": (1000, 60), "millisecond": (1, 1000)}  # fmt: skip
    if name not in units:
        raise wrong_arguments(name, [code])
    unit, wrap = units[name]
    return Code(f"(({code.sql} // {unit}) % {wrap})", BIGINT)


def _offer_field(name: str) -> None:
    @function(name)
    def _field(code: Code) -> Code:
        return field(name, code)


for _name in (*_FIELDS, "millisecond"):
    _offer_field(_name)


def _unit(code: Code, known: dict[str, int], name: str) -> str:
    unit = constant(code, name).lower()
    if unit not in known:
        kind = (
            "NOT_SUPPORTED"
            if unit in {**_MS, **_DAYS, **_MONTHS}
            else ("INVALID_FUNCTION_ARGUMENT")
        )
        raise SqlError(kind, f"'{unit}' is not a valid field")
    return unit


@function("date")
def _date(code: Code) -> Code:
    return cast(code, DATE)


@function("date_trunc")
def _date_trunc(part: Code, code: Code) -> Code:
    if code.type.zone not in (None, "UTC"):
        raise SqlError("NOT_SUPPORTED", f"Function date_trunc of {code.type} in {code.type.zone}")
    if not code.type.is_time:
        raise wrong_arguments("date_trunc", [part, code])
    known = {**_DAYS, **_MONTHS} if code.type == DATE else {**_MS, **_DAYS, **_MONTHS}
    unit = _unit(part, known, "date_trunc")
    return Code(f"CAST(date_trunc('{unit}', {code.sql}) AS {code.type.duck})", code.type)


@function("date_add")
def _date_add(part: Code, amount: Code, code: Code) -> Code:
    if not code.type.is_time or code.type.zone not in (None, "UTC"):
        raise wrong_arguments("date_add", [part, amount, code])
    known = {**_DAYS, **_MONTHS} if code.type == DATE else {**_MS, **_DAYS, **_MONTHS}
    unit = _unit(part, known, "date_add")
    number = coerced(amount, BIGINT).sql
    step = (
        f"to_months(CAST({number} * {_MONTHS[unit]} AS INTEGER))"
        if unit in _MONTHS
        else f"to_days(CAST({number} * {_DAYS[unit]} AS INTEGER))"
        if unit in _DAYS
        else f"to_milliseconds({number} * {_MS[unit]})"
    )
    kind = code.type
    if unit == "millisecond" and (kind.size or 0) < 3:
        kind = Type(kind.name, size=3, zone=kind.zone)
    return Code(f"CAST({code.sql} + {step} AS {kind.duck})", kind)


@function("date_diff")
def _date_diff(part: Code, first: Code, second: Code) -> Code:
    kind = common(first.type, second.type)
    if kind is None or not kind.is_time or kind.zone not in (None, "UTC"):
        raise wrong_arguments("date_diff", [part, first, second])
    known = {**_DAYS, **_MONTHS} if kind == DATE else {**_MS, **_DAYS, **_MONTHS}
    unit = _unit(part, known, "date_diff")
    a, b = coerced(first, kind).sql, coerced(second, kind).sql
    if unit in _MONTHS:
        return Code(f"(t_months({a}, {b}) // {_MONTHS[unit]})", BIGINT)
    if kind == DATE:
        return Code(f"(CAST({b} - {a} AS BIGINT) // {_DAYS[unit]})", BIGINT)
    ms = _MS[unit] if unit in _MS else _DAYS[unit] * 86_400_000
    return Code(f"(t_micros({a}, {b}) // {ms * 1000})", BIGINT)


@function("last_day_of_month")
def _last_day(code: Code) -> Code:
    return Code(f"CAST(last_day({_moment(code, 'last_day_of_month').sql}) AS DATE)", DATE)


@function("to_iso8601")
def _to_iso8601(code: Code) -> Code:
    if code.type == DATE:
        return Code(f"CAST({code.sql} AS VARCHAR)", VARCHAR)
    if code.type.name != "timestamp":
        raise wrong_arguments("to_iso8601", [code])
    digits = max(3, code.type.size or 0)
    shown = f"strftime({code.sql}, '%Y-%m-%dT%H:%M:%S.%f')"
    return Code(f"substring({shown}, 1, {20 + digits})", VARCHAR)


@function("to_unixtime")
def _to_unixtime(code: Code) -> Code:
    if code.type.zone:
        return Code(f"(CAST(epoch_ms({code.sql}) AS DOUBLE) / 1000)", DOUBLE)
    raise wrong_arguments("to_unixtime", [code])


@function("with_timezone")
def _with_timezone(code: Code, zone: Code) -> Code:
    if constant(zone, "with_timezone") != "UTC" or code.type.name != "timestamp":
        raise wrong_arguments("with_timezone", [code, zone])
    return Code(code.sql, timestamp_tz("UTC", code.type.size or 0))


@function("date_format")
def _date_format(code: Code, pattern: Code) -> Code:
    return _by_pattern("t_date_format", code, pattern)


@function("format_datetime")
def _format_datetime(code: Code, pattern: Code) -> Code:
    return _by_pattern("t_format_datetime", code, pattern)


def _by_pattern(name: str, code: Code, pattern: Code) -> Code:
    from sqlapi.sql.udfs import check_pattern

    source = constant(pattern, name.removeprefix("t_"))
    check_pattern(name, source)
    moment = _moment(code, name.removeprefix("t_"))
    value = f"CAST({moment.sql} AS TIMESTAMP)"
    return Code(f"{name}({value}, {text(source)})", VARCHAR)


@function("date_parse")
def _date_parse(value: Code, pattern: Code) -> Code:
    return _parsed("t_date_parse", value, pattern, timestamp(3))


@function("parse_datetime")
def _parse_datetime(value: Code, pattern: Code) -> Code:
    return _parsed("t_parse_datetime", value, pattern, timestamp_tz("UTC"))


def _parsed(name: str, value: Code, pattern: Code, kind: Type) -> Code:
    from sqlapi.sql.udfs import check_pattern

    source = constant(pattern, name.removeprefix("t_"))
    check_pattern(name, source)
    return Code(f"{name}({coerced(value, VARCHAR).sql}, {text(source)})", kind)
