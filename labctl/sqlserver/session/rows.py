"""Conversion of PostgreSQL's binary values to TDS row values."""

from __future__ import annotations

import datetime as dt
import re
import struct
from collections.abc import Callable

from labctl.sqlserver.client_errors import SqlError
from labctl.sqlserver.sqltypes import MAX, SqlType
from labctl.sqlserver.wire.tokens import decimal_width

__all__ = ["Encoder", "encode_text", "encoder", "numeric_scale"]

Encoder = Callable[[bytes | None], bytes]
"""Function that converts PostgreSQL's binary value (None for NULL) to bytes of a TDS row."""

_NULL8, _NULL16, _NULL_PLP = b"\0", b"\xff\xff", b"\xff" * 8
_DAY_MICROSECONDS = 86_400_000_000
_DAYS_TO_2000 = (dt.date(2000, 1, 1) - dt.date(1, 1, 1)).days
_DAYS_1900_TO_2000 = (dt.date(2000, 1, 1) - dt.date(1900, 1, 1)).days
_TICKS = 300
_NAN, _NEGATIVE = 0xC000, 0x4000


def encoder(kind: SqlType, pg_name: str) -> Encoder:
    """Return the encoder that sends a column of PostgreSQL's type `pg_name` as `kind`."""
    if kind.is_character:
        return _text_encoder(kind)
    if kind.is_binary:
        return _plp if kind.length == MAX else _counted
    if kind.name in {"decimal", "numeric"}:
        return _decimal_encoder(kind)
    if kind.name in _FRACTIONS:
        return _FRACTIONS[kind.name](kind.scale)
    if pg_name == "oid":
        return _oid
    return _FIXED[kind.name]


# ---- text and bytes


def _text_encoder(kind: SqlType) -> Encoder:
    if kind.length == MAX:
        return _plp_unicode if kind.is_unicode else _plp
    if not kind.is_unicode:
        return _counted
    return _unicode


def _counted(value: bytes | None) -> bytes:
    return _NULL16 if value is None else len(value).to_bytes(2, "little") + value


def _unicode(value: bytes | None) -> bytes:
    if value is None:
        return _NULL16
    raw = value.decode().encode("utf-16-le")
    return len(raw).to_bytes(2, "little") + raw


def _plp(value: bytes | None) -> bytes:
    if value is None:
        return _NULL_PLP
    size = len(value)
    head = size.to_bytes(8, "little")
    if size == 0:
        return head + b"\0\0\0\0"
    return head + size.to_bytes(4, "little") + value + b"\0\0\0\0"


def _plp_unicode(value: bytes | None) -> bytes:
    return _plp(None if value is None else value.decode().encode("utf-16-le"))


# ---- numbers


def _reversed_encoder(width: int) -> Encoder:
    head = bytes((width,))

    def encode(value: bytes | None) -> bytes:
        return _NULL8 if value is None else head + value[::-1]

    return encode


def _tinyint(value: bytes | None) -> bytes:
    return _NULL8 if value is None else b"\x01" + value[1:]


def _bit(value: bytes | None) -> bytes:
    return _NULL8 if value is None else b"\x01" + value


def _oid(value: bytes | None) -> bytes:
    return _NULL8 if value is None else b"\x08" + value[::-1] + b"\0\0\0\0"


def _unpack_numeric(value: bytes) -> tuple[int, int, int]:
    """Return the sign flag, unscaled digits and scale (a multiple of 4) of a numeric."""
    count, weight, sign, _ = struct.unpack_from(">HhHH", value)
    if sign == _NAN:
        raise SqlError(8115, "Arithmetic overflow error: NaN is not a decimal.")
    digits = 0
    for group in struct.unpack_from(f">{count}H", value, 8):
        digits = digits * 10_000 + group
    exponent = 4 * (count - 1 - weight)
    if exponent < 0:
        digits *= 10**-exponent
        exponent = 0
    return sign, digits, exponent


def numeric_scale(value: bytes) -> int:
    """Return the digits after the decimal point that PostgreSQL would show."""
    scale: int = struct.unpack_from(">H", value, 6)[0]
    return scale


def _scaled(value: bytes, scale: int) -> tuple[int, int]:
    sign, digits, exponent = _unpack_numeric(value)
    if exponent < scale:
        digits *= 10 ** (scale - exponent)
    elif exponent > scale:
        unit = 10 ** (exponent - scale)
        digits = (digits + unit // 2) // unit
    return sign, digits


def _decimal_encoder(kind: SqlType) -> Encoder:
    width, scale = decimal_width(kind.precision), kind.scale
    head = bytes((width,))

    def encode(value: bytes | None) -> bytes:
        if value is None:
            return _NULL8
        sign, digits = _scaled(value, scale)
        try:
            magnitude = digits.to_bytes(width - 1, "little")
        except OverflowError:
            raise SqlError(
                8115, "Arithmetic overflow error converting expression to data type numeric."
            ) from None
        return head + (b"\0" if sign == _NEGATIVE else b"\x01") + magnitude

    return encode


def _money(value: bytes | None) -> bytes:
    if value is None:
        return _NULL8
    sign, digits = _scaled(value, 4)
    raw = (-digits if sign == _NEGATIVE else digits) & 0xFFFFFFFFFFFFFFFF
    return b"\x08" + (raw >> 32).to_bytes(4, "little") + (raw & 0xFFFFFFFF).to_bytes(4, "little")


def _smallmoney(value: bytes | None) -> bytes:
    if value is None:
        return _NULL8
    sign, digits = _scaled(value, 4)
    return b"\x04" + (-digits if sign == _NEGATIVE else digits).to_bytes(4, "little", signed=True)


def _uuid(value: bytes | None) -> bytes:
    if value is None:
        return _NULL8
    return b"\x10" + value[3::-1] + value[5:3:-1] + value[7:5:-1] + value[8:]


# ---- dates and times


def _split(value: bytes) -> tuple[int, int]:
    """Split a timestamp into days since 2000-01-01 and microseconds of the day."""
    return divmod(int.from_bytes(value, "big", signed=True), _DAY_MICROSECONDS)


def _days(days: int) -> bytes:
    number = days + _DAYS_TO_2000
    if not 0 <= number < 1 << 24:
        raise SqlError(242, "A date is out of the range 0001-01-01 to 9999-12-31.")
    return number.to_bytes(3, "little")


def _date(value: bytes | None) -> bytes:
    if value is None:
        return _NULL8
    return b"\x03" + _days(int.from_bytes(value, "big", signed=True))


def _datetime(value: bytes | None) -> bytes:
    if value is None:
        return _NULL8
    days, microseconds = _split(value)
    ticks = (microseconds * _TICKS + 500_000) // 1_000_000
    if ticks == 86_400 * _TICKS:
        days, ticks = days + 1, 0
    return b"\x08" + struct.pack("<iI", days + _DAYS_1900_TO_2000, ticks)


def _smalldatetime(value: bytes | None) -> bytes:
    if value is None:
        return _NULL8
    days, microseconds = _split(value)
    return b"\x04" + struct.pack("<HH", days + _DAYS_1900_TO_2000, microseconds // 60_000_000)


def _clock(microseconds: int, scale: int) -> bytes:
    width = 3 if scale <= 2 else 4 if scale <= 4 else 5
    units = microseconds * 10 if scale == 7 else microseconds // 10 ** (6 - scale)
    return units.to_bytes(width, "little")


def _time_encoder(scale: int) -> Encoder:
    def encode(value: bytes | None) -> bytes:
        if value is None:
            return _NULL8
        raw = _clock(int.from_bytes(value, "big"), scale)
        return bytes((len(raw),)) + raw

    return encode


def _datetime2_encoder(scale: int) -> Encoder:
    def encode(value: bytes | None) -> bytes:
        if value is None:
            return _NULL8
        days, microseconds = _split(value)
        raw = _clock(microseconds, scale) + _days(days)
        return bytes((len(raw),)) + raw

    return encode


def _offset_encoder(scale: int) -> Encoder:
    def encode(value: bytes | None) -> bytes:
        return _NULL8 if value is None else _offset(value.decode(), scale)

    return encode


def _offset(text: str, scale: int) -> bytes:
    """Encode a datetimeoffset from its stored text."""
    match = _WITH_ZONE.fullmatch(text)
    try:
        local = dt.datetime.fromisoformat(match["local"] if match else text)
        sign, hours, minutes = (match and match.group("sign", "hours", "minutes")) or ("+", 0, 0)
        offset = (int(hours or 0) * 60 + int(minutes or 0)) * (-1 if sign == "-" else 1)
        utc = local - dt.timedelta(minutes=offset)
    except (ValueError, OverflowError):
        raise SqlError(
            241, "Conversion failed when converting date and/or time from character string."
        ) from None
    midnight = dt.datetime.combine(utc.date(), dt.time())
    microseconds = (utc - midnight) // dt.timedelta(microseconds=1)
    days = (utc.date() - dt.date(2000, 1, 1)).days
    raw = _clock(microseconds, scale) + _days(days) + offset.to_bytes(2, "little", signed=True)
    return bytes((len(raw),)) + raw


_WITH_ZONE = re.compile(
    r"\s*(?P<local>.+?)\s*(?:[zZ]|(?P<sign>[+-])(?P<hours>\d{1,2}):(?P<minutes>\d{2}))?\s*"
)

_FIXED: dict[str, Encoder] = {
    "bit": _bit,
    "tinyint": _tinyint,
    "smallint": _reversed_encoder(2),
    "int": _reversed_encoder(4),
    "bigint": _reversed_encoder(8),
    "real": _reversed_encoder(4),
    "float": _reversed_encoder(8),
    "money": _money,
    "smallmoney": _smallmoney,
    "uniqueidentifier": _uuid,
    "date": _date,
    "datetime": _datetime,
    "smalldatetime": _smalldatetime,
}
_FRACTIONS: dict[str, Callable[[int], Encoder]] = {
    "time": _time_encoder,
    "datetime2": _datetime2_encoder,
    "datetimeoffset": _offset_encoder,
}


def encode_text(kind: SqlType, value: str | None) -> bytes:
    """Encode PostgreSQL's text for RETURNVALUE: NULL, text, bytes, an integer or a bit."""
    if value is None:
        return encoder(kind, "")(None)
    if kind.is_character:
        return encoder(kind, "")(value.encode())
    if kind.is_binary:
        return encoder(kind, "")(bytes.fromhex(value.removeprefix("\\x")))
    widths = {"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}
    if kind.name in widths:
        width = widths[kind.name]
        signed = kind.name != "tinyint"
        return bytes((width,)) + int(value).to_bytes(width, "little", signed=signed)
    if kind.name == "bit":
        return b"\x01" + (b"\x01" if value in {"1", "t", "true"} else b"\0")
    raise SqlError(40517, f"An output parameter of type {kind.declared()} is not supported.")
