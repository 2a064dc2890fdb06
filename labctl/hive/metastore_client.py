"""A client of Hive's metastore in Thrift's binary protocol.

The pipeline needs only two lists of names, so it does not depend on a metastore client package.
"""

from __future__ import annotations

import socket
import struct
from typing import BinaryIO

__all__ = ["databases", "tables"]

_TIMEOUT_SECONDS = 5.0
_CALL, _REPLY = 0x80010001, 0x80010002
"""Message headers: version 1 of the protocol, and the kind of message."""
_STOP, _STRING, _LIST = 0, 11, 15
_LONGEST = 1 << 20
"""Longest name that is accepted, in bytes: another server on the port may answer anything."""


def databases(host: str, port: int) -> list[str]:
    """Return the names of all databases. Raises OSError, also for an invalid answer."""
    return _ask(host, port, "get_all_databases", b"")


def tables(host: str, port: int, database: str) -> list[str]:
    """Return a database's table names; none if it does not exist. Raises as `databases` does."""
    return _ask(host, port, "get_all_tables", struct.pack(">bh", _STRING, 1) + _text(database))


def _ask(host: str, port: int, method: str, arguments: bytes) -> list[str]:
    """Send one call whose answer is a list of strings, and return them."""
    request = struct.pack(">I", _CALL) + _text(method) + struct.pack(">i", 0)
    with socket.create_connection((host, port), _TIMEOUT_SECONDS) as connection:
        connection.sendall(request + arguments + bytes([_STOP]))
        with connection.makefile("rb") as stream:
            return _answer(stream, method)


def _answer(stream: BinaryIO, method: str) -> list[str]:
    (kind,) = _read(stream, ">I")
    if kind != _REPLY or _read_text(stream) != method:
        raise ConnectionError(f"what answers there is no Hive metastore ({kind:#x})")
    _sequence, field, number = _read(stream, ">ibh")
    # Field 0 is the answer; other fields are exceptions.
    if (field, number) != (_LIST, 0):
        raise ConnectionError(f"the metastore refused {method}")
    _element, count = _read(stream, ">bi")
    return [_read_text(stream) for _ in range(count)]


def _text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack(">i", len(encoded)) + encoded


def _read_text(stream: BinaryIO) -> str:
    (length,) = _read(stream, ">i")
    if not 0 <= length <= _LONGEST:
        raise ConnectionError("what answers there is no Hive metastore")
    return _bytes(stream, length).decode()


def _read(stream: BinaryIO, form: str) -> tuple[int, ...]:
    return struct.unpack(form, _bytes(stream, struct.calcsize(form)))


def _bytes(stream: BinaryIO, count: int) -> bytes:
    found = stream.read(count)
    if len(found) < count:
        raise ConnectionError("the metastore closed the connection")
    return found
