"""Dates and timestamps."""

from __future__ import annotations

from sqlapi.sql.casts import cast, local, rounded
from sqlapi.sql.code import Code, coerced, text
from sqlapi.sql.functions.registry import constant, function, simple, wrong_arguments
from sqlapi.sql.literals import check_zone
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import (
    BIGINT,
    DATE,
    DAY_TO_SECOND,
    DOUBLE,
    UNKNOWN,
    VARCHAR,
    YEAR_TO_MONTH,
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
simple("from_iso8601_timestamp", [VARCHAR], timestamp_tz("UTC"), "t_iso_timestamp({0})")
simple("to_milliseconds", [DAY_TO_SECOND], BIGINT, "{0}")
simple("current_timezone", [], VARCHAR, "'UTC'")
simple("from_iso8601_date", [VARCHAR], DATE, "t_iso_date({0})")


def _moment(code: Code, name: str) -> Code:
    """Return a date or timestamp as local time. Raises SqlError for other types."""
    if not code.type.is_time:
        raise wrong_arguments(name, [code])
    if code.type.zone:
        return Code(local(code), timestamp(code.type.size or 0))
    return code


def field(name: str, code: Code) -> Code:
    """Return a field of a date, timestamp or interval, such as `year`. Raises SqlError."""
    if code.type == DAY_TO_SECOND:
        return _of_interval(name, code)
    if code.type == YEAR_TO_MONTH and name in ("year", "month"):
        return Code(f"({code.sql} {'//' if name == 'year' else '%'} 12)", BIGINT)
    if code.type == UNKNOWN:
        return Code("CAST(NULL AS BIGINT)", BIGINT)
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
    return Code(rounded(f"CAST({code.sql} + {step} AS {code.type.duck})", code.type), code.type)


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
    if code.type.zone not in (None, "UTC") or not code.type.is_time:
        raise wrong_arguments("to_iso8601", [code])
    digits = code.type.size
    shown = f"strftime({code.sql}, '%Y-%m-%dT%H:%M:%S.%f')"
    made = f"substring({shown}, 1, {20 + digits if digits else 19})"
    return Code(f"({made} || 'Z')" if code.type.zone else made, VARCHAR)


@function("to_unixtime")
def _to_unixtime(code: Code) -> Code:
    if code.type.name.startswith("timestamp") and (code.type.size or 0) <= 3:
        return Code(f"(CAST(epoch_ms({code.sql}) AS DOUBLE) / 1000)", DOUBLE)
    raise wrong_arguments("to_unixtime", [code])


@function("with_timezone")
def _with_timezone(code: Code, zone: Code) -> Code:
    if constant(zone, "with_timezone") != "UTC" or code.type.name != "timestamp":
        raise wrong_arguments("with_timezone", [code, zone])
    return Code(code.sql, timestamp_tz("UTC", code.type.size or 0))


@function("from_unixtime")
def _from_unixtime(seconds: Code, zone: Code | None = None) -> Code:
    name = constant(zone, "from_unixtime") if zone else "UTC"
    check_zone(name)
    return Code(f"t_from_unixtime({coerced(seconds, DOUBLE).sql})", timestamp_tz(name))


@function("timezone_hour")
def _timezone_hour(code: Code) -> Code:
    return _zone_offset("timezone_hour", code, "// 60")


@function("timezone_minute")
def _timezone_minute(code: Code) -> Code:
    return _zone_offset("timezone_minute", code, "% 60")


def _zone_offset(name: str, code: Code, part: str) -> Code:
    if not code.type.zone:
        raise wrong_arguments(name, [code])
    minutes = f"((epoch_us({local(code)}) - epoch_us({code.sql})) // 60000000)"
    return Code(f"({minutes} {part})", BIGINT)


@function("at_timezone")
def _at_timezone(code: Code, zone: Code) -> Code:
    name = constant(zone, "at_timezone")
    if code.type.name != "timestamp with time zone":
        raise wrong_arguments("at_timezone", [code, zone])
    check_zone(name)
    return Code(code.sql, timestamp_tz(name, code.type.size or 0))


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
    value = rounded(f"CAST({moment.sql} AS TIMESTAMP)", timestamp(3))
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
