"""Tokens of a reply: acknowledgements, environment changes, errors, row metadata."""

from __future__ import annotations

from enum import IntEnum, IntFlag

from labctl.sqlserver.sqltypes import MAX, SqlType

__all__ = [
    "COLLATION",
    "Done",
    "DoneStatus",
    "Environment",
    "column_metadata",
    "decimal_width",
    "done",
    "environment",
    "error",
    "login_ack",
    "parameter_type",
    "return_status",
    "return_value",
]

_LCID, _BIN2, _UTF8, _VERSION_100 = 0x0409, 0x0200_0000, 0x0400_0000, 0x2000_0000
COLLATION = (_LCID | _BIN2 | _UTF8 | _VERSION_100).to_bytes(4, "little") + b"\0"
"""Latin1_General_100_BIN2_UTF8 in TDS: 4 bytes of LCID and flags, then the sort id."""

_PLP = 0xFFFF


class Environment(IntEnum):
    DATABASE = 1
    LANGUAGE = 2
    PACKET_SIZE = 4
    COLLATION = 7
    BEGIN = 8
    COMMIT = 9
    ROLLBACK = 10
    RESET = 18


class Done(IntEnum):
    """The kind of DONE token: for a batch, for a procedure, or inside a procedure."""

    BATCH = 0xFD
    PROCEDURE = 0xFE
    IN_PROCEDURE = 0xFF


class DoneStatus(IntFlag):
    FINAL = 0
    MORE = 0x01
    ERROR = 0x02
    COUNT = 0x10
    ATTENTION = 0x20


def _b_varchar(text: str) -> bytes:
    raw = text.encode("utf-16-le")[: 255 * 2]
    return bytes((len(raw) // 2,)) + raw


def _us_varchar(text: str) -> bytes:
    raw = text.encode("utf-16-le")[: 0xFFFF * 2]
    return (len(raw) // 2).to_bytes(2, "little") + raw


def _sized(token: int, body: bytes) -> bytes:
    return bytes((token,)) + len(body).to_bytes(2, "little") + body


def login_ack(tds_version: int, program: str, version: tuple[int, int, int]) -> bytes:
    """Return LOGINACK: the T-SQL interface, TDS version, and the server's name and version."""
    major, minor, build = version
    body = b"\x01" + tds_version.to_bytes(4, "big") + _b_varchar(program)
    return _sized(0xAD, body + bytes((major, minor)) + build.to_bytes(2, "big"))


def environment(kind: Environment, new: str | bytes, old: str | bytes = "") -> bytes:
    """Return ENVCHANGE; values are text (such as a database) or bytes (collation, transactions)."""

    def value(item: str | bytes) -> bytes:
        if isinstance(item, str):
            return _b_varchar(item)
        return bytes((len(item),)) + item

    if isinstance(new, bytes) and old == "":
        old = b""
    if isinstance(old, bytes) and new == "":
        new = b""
    return _sized(0xE3, bytes((kind,)) + value(new) + value(old))


def error(  # the fields of the token
    number: int,
    message: str,
    *,
    severity: int,
    state: int,
    server: str,
    procedure: str = "",
    line: int = 1,
) -> bytes:
    """Return ERROR for severity 11 and higher, else INFO."""
    body = number.to_bytes(4, "little", signed=True) + bytes((state & 0xFF, severity & 0xFF))
    body += _us_varchar(message[:4000]) + _b_varchar(server) + _b_varchar(procedure)
    body += line.to_bytes(4, "little")
    return _sized(0xAA if severity > 10 else 0xAB, body)


def done(kind: Done, status: DoneStatus, rows: int = 0, command: int = 0) -> bytes:
    """Return DONE, DONEPROC or DONEINPROC; `rows` is valid if `status` has COUNT."""
    return (
        bytes((kind,))
        + int(status).to_bytes(2, "little")
        + command.to_bytes(2, "little")
        + rows.to_bytes(8, "little")
    )


def return_status(value: int) -> bytes:
    """Return RETURNSTATUS with a procedure's return value."""
    return b"\x79" + value.to_bytes(4, "little", signed=True)


def return_value(ordinal: int, name: str, kind: SqlType, encoded: bytes) -> bytes:
    """Return RETURNVALUE for an output parameter; `encoded` is the value as in a row."""
    head = b"\xac" + ordinal.to_bytes(2, "little") + _b_varchar(name) + b"\x01"
    return head + b"\0\0\0\0" + b"\x01\0" + parameter_type(kind) + encoded


_FIXED_WIDTH = {
    "bit": (0x68, 1),
    "tinyint": (0x26, 1),
    "smallint": (0x26, 2),
    "int": (0x26, 4),
    "bigint": (0x26, 8),
    "real": (0x6D, 4),
    "float": (0x6D, 8),
    "smallmoney": (0x6E, 4),
    "money": (0x6E, 8),
    "smalldatetime": (0x6F, 4),
    "datetime": (0x6F, 8),
    "uniqueidentifier": (0x24, 16),
}
_CHARACTER = {"char": 0xAF, "varchar": 0xA7, "nchar": 0xEF, "nvarchar": 0xE7, "sysname": 0xE7}
_BINARY = {"binary": 0xAD, "varbinary": 0xA5}
_SCALED = {"time": 0x29, "datetime2": 0x2A, "datetimeoffset": 0x2B}
_DECIMAL_BYTES = ((9, 5), (19, 9), (28, 13), (38, 17))


def decimal_width(precision: int) -> int:
    """Return the bytes of a decimal on the wire, including its sign."""
    return next(width for digits, width in _DECIMAL_BYTES if precision <= digits)


def parameter_type(kind: SqlType) -> bytes:
    """Return TYPE_INFO: the type's token, size and, for text, collation."""
    name = kind.name
    if name in _FIXED_WIDTH:
        return bytes(_FIXED_WIDTH[name])
    if name in _CHARACTER:
        length = 128 if name == "sysname" else kind.length
        if length == MAX:
            size = _PLP
        elif kind.is_unicode:
            size = length * 2
        else:
            size = length
        return bytes((_CHARACTER[name],)) + size.to_bytes(2, "little") + COLLATION
    if name in _BINARY:
        size = _PLP if kind.length == MAX else kind.length
        return bytes((_BINARY[name],)) + size.to_bytes(2, "little")
    if name in {"decimal", "numeric"}:
        token = 0x6A if name == "decimal" else 0x6C
        return bytes((token, decimal_width(kind.precision), kind.precision, kind.scale))
    if name == "date":
        return b"\x28"
    return bytes((_SCALED[name], kind.scale))


def column_metadata(columns: list[tuple[str, SqlType, bool, bool]]) -> bytes:
    """Return COLMETADATA for columns given as (name, type, nullable, identity)."""
    out = bytearray(b"\x81" + len(columns).to_bytes(2, "little"))
    for name, kind, nullable, identity in columns:
        flags = (0x01 if nullable else 0) | 0x08 | (0x10 if identity else 0)
        out += b"\0\0\0\0" + flags.to_bytes(2, "little") + parameter_type(kind) + _b_varchar(name)
    return bytes(out)
