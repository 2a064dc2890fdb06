"""TDS packets: an 8-byte header and a payload. A message consists of one or more packets."""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol

from labctl.sqlserver.wire.reader import ProtocolError

__all__ = [
    "DEFAULT_PACKET_SIZE",
    "HEADER_SIZE",
    "Header",
    "MessageWriter",
    "PacketType",
    "parse_header",
]

HEADER_SIZE = 8
DEFAULT_PACKET_SIZE = 4096
MAX_PACKET_SIZE = 32767
_END_OF_MESSAGE = 0x01
_STREAMED = 1024 * 1024


class PacketType(IntEnum):
    SQL_BATCH = 0x01
    RPC = 0x03
    REPLY = 0x04
    ATTENTION = 0x06
    BULK_LOAD = 0x07
    TRANSACTION = 0x0E
    LOGIN7 = 0x10
    PRELOGIN = 0x12


class Header:
    """A packet's header: its type, whether it ends the message, and its total length."""

    __slots__ = ("last", "length", "reset", "type")

    def __init__(self, kind: PacketType, *, last: bool, reset: bool, length: int) -> None:
        self.type = kind
        self.last = last
        self.reset = reset
        self.length = length


def parse_header(raw: bytes) -> Header:
    """Parse the 8 bytes. Raise `ProtocolError` for an unknown type or invalid length."""
    if len(raw) != HEADER_SIZE:
        raise ProtocolError(f"a packet header has {HEADER_SIZE} bytes, not {len(raw)}")
    try:
        kind = PacketType(raw[0])
    except ValueError:
        raise ProtocolError(f"unknown packet type 0x{raw[0]:02x}") from None
    length = int.from_bytes(raw[2:4], "big")
    if not HEADER_SIZE <= length <= MAX_PACKET_SIZE:
        raise ProtocolError(f"packet length {length} is out of range")
    return Header(
        kind, last=bool(raw[1] & _END_OF_MESSAGE), reset=bool(raw[1] & 0x18), length=length
    )


class ByteSink(Protocol):
    """The destination of packets."""

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...


class MessageWriter:
    """A writer that splits a message into packets; `drain` applies the client's back-pressure."""

    def __init__(self, sink: ByteSink, packet_size: int, *, spid: int = 0) -> None:
        self._sink = sink
        self._spid = spid
        self._payload = packet_size - HEADER_SIZE
        self._buffer = bytearray()
        self._sequence = 1
        self._kind = PacketType.REPLY

    def resize(self, packet_size: int) -> None:
        self._payload = packet_size - HEADER_SIZE

    def write(self, data: bytes) -> None:
        """Append to the message; send full packets at once and the last one in `finish`."""
        self._buffer += data
        while len(self._buffer) > self._payload:
            self._send(self._payload, last=False)

    async def stream(self, data: bytes) -> None:
        """Append possibly large data to the message at the pace at which the client reads."""
        for start in range(0, len(data), _STREAMED):
            self.write(data[start : start + _STREAMED])
            await self._sink.drain()

    async def finish(self, kind: PacketType = PacketType.REPLY) -> None:
        """End the message."""
        self._kind = kind
        self._send(len(self._buffer), last=True)
        self._sequence = 1
        await self._sink.drain()

    def _send(self, count: int, *, last: bool) -> None:
        length = count + HEADER_SIZE
        header = bytes((self._kind, _END_OF_MESSAGE if last else 0)) + length.to_bytes(2, "big")
        header += self._spid.to_bytes(2, "big") + bytes((self._sequence & 0xFF, 0))
        self._sink.write(header + bytes(self._buffer[:count]))
        del self._buffer[:count]
        self._sequence += 1
