"""Values that a client sends: TYPE_INFO and TYPE_VARBYTE of RPC parameters and bulk rows.

Each value becomes PostgreSQL's text for that type (`None` for NULL, `\\x…` for bytes). This keeps
every digit and needs no Python type in between.
"""

from __future__ import annotations

import datetime as dt
import struct
import uuid
from collections.abc import Callable
from decimal import Decimal

from labctl.sqlserver.limits import LONGEST_MESSAGE
from labctl.sqlserver.sqltypes import MAX, SqlType
from labctl.sqlserver.wire.reader import ProtocolError, Reader, decode_utf16

__all__ = ["read_type", "read_value"]

_PLP_NULL, _PLP_UNKNOWN = 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFE
_NULL16 = 0xFFFF
_EPOCH = dt.date(1, 1, 1)
_EPOCH_1900 = dt.datetime(1900, 1, 1)

_FIXED = {
    0x1F: ("int", 0),
    0x30: ("tinyint", 1),
    0x32: ("bit", 1),
    0x34: ("smallint", 2),
    0x38: ("int", 4),
    0x7F: ("bigint", 8),
    0x3B: ("real", 4),
    0x3E: ("float", 8),
    0x3A: ("smalldatetime", 4),
    0x3D: ("datetime", 8),
    0x7A: ("smallmoney", 4),
    0x3C: ("money", 8),
}
_NULLABLE: dict[int, dict[int, str]] = {
    0x26: {1: "tinyint", 2: "smallint", 4: "int", 8: "bigint"},
    0x68: {1: "bit"},
    0x6D: {4: "real", 8: "float"},
    0x6E: {4: "smallmoney", 8: "money"},
    0x6F: {4: "smalldatetime", 8: "datetime"},
    0x24: {16: "uniqueidentifier"},
}
_TEXT16 = {0xAF: "char", 0xA7: "varchar", 0xEF: "nchar", 0xE7: "nvarchar"}
_BYTES16 = {0xAD: "binary", 0xA5: "varbinary"}
_SCALED = {0x29: "time", 0x2A: "datetime2", 0x2B: "datetimeoffset"}
_OLD_LARGE = {0x23: "varchar", 0x63: "nvarchar", 0x22: "varbinary"}

Value = str | None
ValueReader = Callable[[Reader], Value]


def read_type(reader: Reader) -> tuple[SqlType, ValueReader]:
    """Read a TYPE_INFO; return the type and a function that reads its values."""
    token = reader.u8()
    if token in _FIXED:
        name, width = _FIXED[token]
        return SqlType(name), lambda r: _scalar(name, r.take(width)) if width else None
    if token in _NULLABLE:
        size = reader.u8()
        names = _NULLABLE[token]
        if size not in names:
            raise ProtocolError(f"type 0x{token:02x} cannot have {size} bytes")
        return SqlType(names[size]), lambda r: _short(names, r)
    if token in {0x6A, 0x6C, 0x37, 0x3F}:
        reader.u8()
        precision, scale = reader.u8(), reader.u8()
        if not 1 <= precision <= 38 or scale > precision:
            raise ProtocolError(f"decimal({precision},{scale}) does not exist")
        kind = SqlType("decimal", precision=precision, scale=scale)
        return kind, lambda r: _decimal(r, scale)
    if token == 0x28:
        return SqlType("date"), lambda r: _temporal(r, "date", 0)
    if token in _SCALED:
        name, scale = _SCALED[token], reader.u8()
        if scale > 7:
            raise ProtocolError(f"{name}({scale}) does not exist")
        return SqlType(name, scale=scale), lambda r: _temporal(r, name, scale)
    return _large_type(token, reader)


def _large_type(token: int, reader: Reader) -> tuple[SqlType, ValueReader]:
    if token in _TEXT16 or token in _BYTES16:
        name = _TEXT16.get(token) or _BYTES16[token]
        size = reader.u16()
        decode = _bytes_text if token in _BYTES16 else _decoder(name, reader)
        if size == _NULL16:
            return SqlType(name, length=MAX), lambda r: _plp(r, decode)
        length = size // 2 if name in {"nchar", "nvarchar"} else size
        return SqlType(name, length=max(length, 1)), lambda r: _counted(r, decode)
    if token in _OLD_LARGE:
        name = _OLD_LARGE[token]
        reader.u32()
        decode = _bytes_text if token == 0x22 else _decoder(name, reader)
        return SqlType(name, length=MAX), lambda r: _counted32(r, decode)
    raise ProtocolError(f"parameters of type 0x{token:02x} are not supported")


def _decoder(name: str, reader: Reader) -> Callable[[bytes], str]:
    collation = reader.take(5)
    if name in {"nchar", "nvarchar"}:
        return decode_utf16
    utf8 = int.from_bytes(collation[:4], "little") & 0x0400_0000
    return _utf8_text if utf8 else _ansi_text


def _utf8_text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise ProtocolError("invalid UTF-8 text") from error


def _ansi_text(raw: bytes) -> str:
    return raw.decode("cp1252", "replace")


def _bytes_text(raw: bytes) -> str:
    return "\\x" + raw.hex()


def read_value(reader: Reader) -> tuple[SqlType, Value]:
    """Read a TYPE_INFO and the value that follows it."""
    kind, read = read_type(reader)
    return kind, read(reader)


def _counted(reader: Reader, decode: Callable[[bytes], str]) -> Value:
    size = reader.u16()
    return None if size == _NULL16 else decode(reader.take(size))


def _counted32(reader: Reader, decode: Callable[[bytes], str]) -> Value:
    size = reader.u32()
    return None if size == 0xFFFFFFFF else decode(reader.take(size))


def _plp(reader: Reader, decode: Callable[[bytes], str]) -> Value:
    total = reader.u64()
    if total == _PLP_NULL:
        return None
    pieces, seen = [], 0
    while size := reader.u32():
        seen += size
        if seen > LONGEST_MESSAGE:
            raise ProtocolError(f"a value of more than {LONGEST_MESSAGE} bytes")
        pieces.append(reader.take(size))
    if total not in (_PLP_UNKNOWN, seen):
        raise ProtocolError("a value's chunks do not add up to its length")
    return decode(b"".join(pieces))


def _short(names: dict[int, str], reader: Reader) -> Value:
    size = reader.u8()
    if size == 0:
        return None
    if size not in names:
        raise ProtocolError(f"a value of {size} bytes for {sorted(names.values())}")
    return _scalar(names[size], reader.take(size))


def _scalar(name: str, raw: bytes) -> str:  # noqa: PLR0911 - one rule per type
    if name == "tinyint":
        return str(raw[0])
    if name == "bit":
        return "1" if raw[0] else "0"
    if name in {"smallint", "int", "bigint"}:
        return str(int.from_bytes(raw, "little", signed=True))
    if name in {"real", "float"}:
        return repr(struct.unpack("<f" if name == "real" else "<d", raw)[0])
    if name == "smallmoney":
        return str(Decimal(int.from_bytes(raw, "little", signed=True)).scaleb(-4))
    if name == "money":
        high = int.from_bytes(raw[:4], "little", signed=True)
        return str(Decimal((high << 32) | int.from_bytes(raw[4:], "little")).scaleb(-4))
    if name == "uniqueidentifier":
        return str(uuid.UUID(bytes_le=raw))
    return _old_datetime(name, raw)


def _old_datetime(name: str, raw: bytes) -> str:
    try:
        if name == "smalldatetime":
            days, minutes = struct.unpack("<HH", raw)
            return str(_EPOCH_1900 + dt.timedelta(days=days, minutes=minutes))
        days, ticks = struct.unpack("<iI", raw)
        return str(_EPOCH_1900 + dt.timedelta(days=days, milliseconds=(ticks * 10 + 1) // 3))
    except OverflowError:
        raise ProtocolError(f"a {name} out of range") from None


def _decimal(reader: Reader, scale: int) -> Value:
    size = reader.u8()
    if size == 0:
        return None
    if size < 2 or size > 17:
        raise ProtocolError(f"a decimal of {size} bytes")
    raw = reader.take(size)
    digits = int.from_bytes(raw[1:], "little")
    sign = "" if raw[0] else "-"
    text = str(digits).rjust(scale + 1, "0")
    return f"{sign}{text[:-scale]}.{text[-scale:]}" if scale else sign + text


def _temporal(reader: Reader, name: str, scale: int) -> Value:
    size = reader.u8()
    if size == 0:
        return None
    raw = Reader(reader.take(size))
    offset = 0
    try:
        clock = "" if name == "date" else _clock(raw, scale, size, name)
        day = _EPOCH
        if name != "time":
            day = _EPOCH + dt.timedelta(days=int.from_bytes(raw.take(3), "little"))
        if name == "datetimeoffset":
            offset = int.from_bytes(raw.take(2), "little", signed=True)
    except OverflowError:
        raise ProtocolError(f"a {name} out of range") from None
    if raw:
        raise ProtocolError(f"a {name} of {size} bytes")
    if name == "datetimeoffset":
        return _with_offset(day, clock, offset)
    return {"date": str(day), "time": clock}.get(name) or f"{day} {clock}"


def _clock(raw: Reader, scale: int, size: int, name: str) -> str:
    width = size - {"time": 0, "datetime2": 3, "datetimeoffset": 5}[name]
    ticks = int.from_bytes(raw.take(width), "little") * 10 ** (7 - scale)
    seconds, fraction = divmod(ticks, 10**7)
    if seconds >= 86_400:
        raise ProtocolError(f"a {name} past midnight")
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:07}"


def _with_offset(day: dt.date, clock: str, offset: int) -> str:
    if abs(offset) > 14 * 60:
        raise ProtocolError(f"an offset of {offset} minutes")
    utc = dt.datetime.combine(day, dt.time.fromisoformat(clock[:15]))
    try:
        local = utc + dt.timedelta(minutes=offset)
    except OverflowError:
        raise ProtocolError("a datetimeoffset out of range") from None
    sign = "-" if offset < 0 else "+"
    hours, minutes = divmod(abs(offset), 60)
    return f"{local.isoformat(' ', 'microseconds')}{clock[15:]} {sign}{hours:02}:{minutes:02}"
