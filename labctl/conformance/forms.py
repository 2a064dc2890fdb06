"""Canonical forms of values, for a comparison that shares nothing with `labctl.verify`.

A source's value is text from this module's own cast, and silver's value comes from Arrow. The form
of the column's type converts both to the same Python value. A value that does not fit the form
becomes a text that names its side, and so equals no value of the other side.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from labctl.engine_names import EngineName
from labctl.sources import ENGINES

__all__ = ["FORMS", "silver_value", "source_field", "source_value"]

_TIME = re.compile(r"(-?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?")
_INSTANT = re.compile(
    r"(\d{4,}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z| ?([+-]\d\d)(?::?(\d\d))?)?"
)
_OFFSET_TIME = re.compile(r"([^Z+-]+)(?:Z|([+-])(\d\d)(?::?(\d\d))?)?")
_ISO_INTERVAL = re.compile(r"P(-?\d+)Y(-?\d+)M(-?\d+)DT(-?\d+)H(-?\d+)M(-?\d+(?:\.\d+)?)S")
_INTERVAL_PART = re.compile(r"([+-]?\d+) (year|mon|day)s?")
_ZERO_DATE = re.compile(r"(?:0000-\d\d-\d\d|\d{4}-00-\d\d|\d{4}-\d\d-00)(?: .*)?")
"""Pattern of zero dates, for which silver has NULL (docs/types.md)."""
_DATED = ("date", "timestamp", "instant")
_EPOCH = dt.datetime(1970, 1, 1)


def source_field(engine: EngineName, form: str | None, quoted: str) -> str:
    """Return the SQL that reads a column as text."""
    return ENGINES[engine].conformance().read_as_text(form, quoted)


def _integer(value: Any) -> Any:
    return int(value)


def _decimal(value: Any) -> Any:
    if isinstance(value, Mapping):
        # An array's element without a declared size.
        unscaled = int.from_bytes(value["value"], "big", signed=True)
        return Decimal(f"{unscaled}E{-value['scale']}")
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    return number if number.is_finite() else str(value)


def _float32(value: Any) -> Any:
    number = float(value)
    return "nan" if math.isnan(number) else struct.pack(">f", number).hex()


def _float64(value: Any) -> Any:
    number = float(value)
    return "nan" if math.isnan(number) else struct.pack(">d", number).hex()


def _boolean(value: Any) -> Any:
    return {"true": True, "false": False, "1": True, "0": False}[str(value).lower()]


def _text(value: Any) -> Any:
    return str(value)


def _upper(value: Any) -> Any:
    return str(value).upper()


def _bytes(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes | bytearray) else str(value).lower()


def _date(value: Any) -> Any:
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def _microseconds(value: Any) -> Any:
    """Convert a text, or Arrow's number, to microseconds since 1970."""
    if isinstance(value, int):
        return value
    match = _INSTANT.fullmatch(str(value))
    if match is None:
        return f"not between the years 1 and 9999: {value}"
    day, clock, fraction, hours, minutes = match.groups()
    whole = dt.datetime.fromisoformat(f"{day}T{clock}")
    micros = int((fraction or "").ljust(6, "0")[:6])
    since = (whole - _EPOCH) // dt.timedelta(microseconds=1) + micros
    shift = 0
    if hours:
        sign = -1 if hours.startswith("-") else 1
        shift = sign * (abs(int(hours)) * 60 + int(minutes or 0))
    return since - shift * 60_000_000


def _nanoseconds(value: Any) -> Any:
    if isinstance(value, int):
        return value
    micros = _microseconds(value)
    return micros * 1000 if isinstance(micros, int) else micros


def _time(value: Any) -> Any:
    if isinstance(value, int):
        return value
    if isinstance(value, dt.time):
        value = value.isoformat()
    match = _TIME.fullmatch(str(value))
    if match is None:
        return str(value)
    sign, hours, minutes, seconds, fraction = match.groups()
    whole = (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * 1_000_000
    micros = whole + int((fraction or "").ljust(6, "0")[:6])
    return -micros if sign else micros


def _time_ns(value: Any) -> Any:
    micros = _time(value)
    return value if isinstance(value, int) else micros * 1000 if isinstance(micros, int) else micros


def _json(value: Any) -> Any:
    return json.dumps(json.loads(str(value), parse_float=str, parse_int=str), sort_keys=True)


def _bits(value: Any) -> Any:
    """Convert a bit string to a number; silver has its least significant byte first."""
    if isinstance(value, bytes):
        return int.from_bytes(value, "little")
    return int(value or "0", 2) if isinstance(value, str) else int(value)


def _utc_time(value: Any) -> Any:
    """Convert a time of day with an offset to microseconds of a day in UTC."""
    match = _OFFSET_TIME.fullmatch(str(value))
    if match is None:
        return str(value)
    clock, sign, hours, minutes = match.groups()
    shift = (int(hours or 0) * 60 + int(minutes or 0)) * 60_000_000
    return (_time(clock) + (shift if sign == "-" else -shift)) % (24 * 3_600_000_000)


def _interval(value: Any) -> Any:
    """Convert an interval, as the database or as Debezium writes it, to months, days and time."""
    text = str(value)
    if (match := _ISO_INTERVAL.fullmatch(text)) is not None:
        years, months, days, hours, minutes, seconds = (Decimal(part) for part in match.groups())
        return (years * 12 + months, days, ((hours * 60 + minutes) * 60 + seconds) * 1_000_000)
    parts = {unit: int(number) for number, unit in _INTERVAL_PART.findall(text)}
    clock = _TIME.search(text)
    micros = _time(clock.group()) if clock is not None else 0
    return (parts.get("year", 0) * 12 + parts.get("mon", 0), parts.get("day", 0), micros)


def _money(value: Any) -> Any:
    return Decimal(str(value).replace("$", "").replace(",", ""))


def _point(value: Any) -> Any:
    if isinstance(value, Mapping):
        return (float(value["x"]), float(value["y"]))
    return tuple(map(float, str(value).strip("()").split(",")))


def _wkb(value: Any) -> Any:
    """Convert a geometry to its SRID and WKB; MySQL keeps both in one value."""
    if isinstance(value, Mapping):
        return (value["srid"] or 0, value["wkb"])
    whole = bytes.fromhex(str(value))
    return (int.from_bytes(whole[:4], "little"), whole[4:])


def _vector(value: Any) -> Any:
    if isinstance(value, str):
        return value.lower()
    return struct.pack(f"<{len(value)}f", *value).hex()


def _elements(form: str) -> Callable[[Any], Any]:
    """Return the function for arrays whose elements have a form; the source has JSON."""

    def convert(value: Any) -> Any:
        if isinstance(value, list):
            return [convert(one) for one in value]
        return None if value is None else FORMS[form](value)

    def read(value: Any) -> Any:
        if isinstance(value, str):
            value = json.loads(value, parse_float=str, parse_int=str)
        return convert(value)

    return read


FORMS: Mapping[str, Callable[[Any], Any]] = {
    "integer": _integer,
    "decimal": _decimal,
    "float32": _float32,
    "float64": _float64,
    "boolean": _boolean,
    "text": _text,
    "padded": _text,
    "upper": _upper,
    "bytes": _bytes,
    "date": _date,
    "timestamp": _microseconds,
    "instant": _microseconds,
    "nanoseconds": _nanoseconds,
    "time": _time,
    "time_ns": _time_ns,
    "json": _json,
    "hstore": _json,
    "output": _text,
    "bits": _bits,
    "utc_time": _utc_time,
    "interval": _interval,
    "money": _money,
    "point": _point,
    "wkb": _wkb,
    "vector": _vector,
    **{
        f"{element}[]": _elements(element)
        for element in ("integer", "text", "decimal", "date", "instant")
    },
}
"""Functions that convert values to their canonical form, by the form's name (`Kind.form`)."""


def _canonical(form: str, value: Any, side: str) -> Any:
    if value is None:
        return None
    try:
        return FORMS[form](value)
    except (ValueError, KeyError, TypeError, OverflowError, InvalidOperation):
        return f"{side} has {value!r}"


def source_value(form: str, value: Any) -> Any:
    """Return the canonical form of a value from the database driver."""
    if form in _DATED and isinstance(value, str) and _ZERO_DATE.fullmatch(value):
        return None
    return _canonical(form, value, "source")


def silver_value(form: str, value: Any) -> Any:
    """Return the canonical form of a value from Arrow."""
    return _canonical(form, value, "silver")
