"""PRELOGIN: the first messages, which negotiate version and encryption."""

from __future__ import annotations

from enum import IntEnum

from labctl.sqlserver.wire.reader import ProtocolError, Reader

__all__ = ["Encryption", "parse_prelogin", "prelogin_answer"]

_VERSION, _ENCRYPTION, _INSTANCE, _THREAD, _MARS = 0, 1, 2, 3, 4
_TERMINATOR = 0xFF


class Encryption(IntEnum):
    OFF = 0
    """Encryption of the login only."""
    ON = 1
    NOT_SUPPORTED = 2
    REQUIRED = 3


def parse_prelogin(data: bytes) -> Encryption:
    """Return the encryption that the client requests."""
    reader = Reader(data)
    wanted = Encryption.NOT_SUPPORTED
    while True:
        token = reader.u8()
        if token == _TERMINATOR:
            return wanted
        offset = int.from_bytes(reader.take(2), "big")
        length = int.from_bytes(reader.take(2), "big")
        value = Reader(data, offset).take(length)
        if token == _ENCRYPTION:
            if length != 1 or value[0] & 0x7F > Encryption.REQUIRED:
                raise ProtocolError("PRELOGIN asks for an unknown encryption")
            wanted = Encryption(value[0] & 0x7F)


def prelogin_answer(encryption: Encryption, version: tuple[int, int, int]) -> bytes:
    """Return the server's PRELOGIN: its version, the chosen encryption, no MARS."""
    major, minor, build = version
    options = [
        (_VERSION, bytes((major, minor)) + build.to_bytes(2, "big") + b"\0\0"),
        (_ENCRYPTION, bytes((encryption,))),
        (_INSTANCE, b"\0"),
        (_THREAD, b""),
        (_MARS, b"\0"),
    ]
    offset = 5 * len(options) + 1
    table, body = b"", b""
    for token, value in options:
        table += bytes((token,)) + (offset + len(body)).to_bytes(2, "big")
        table += len(value).to_bytes(2, "big")
        body += value
    return table + bytes((_TERMINATOR,)) + body
