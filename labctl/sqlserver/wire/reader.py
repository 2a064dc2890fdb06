"""A reader of TDS messages that checks every length against the available bytes."""

from __future__ import annotations

import struct

__all__ = ["MessageTooLong", "ProtocolError", "Reader"]


class ProtocolError(Exception):
    """A violation of TDS by the client; the connection ends with a log line."""


class MessageTooLong(Exception):  # noqa: N818 - the client gets an answer and continues
    """A message that exceeds the limit. Its rest was read and discarded."""


class Reader:
    """A cursor over one message's bytes; reading past the end raises `ProtocolError`."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data = data
        self.position = position

    def __bool__(self) -> bool:
        return self.position < len(self.data)

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        end = self.position + count
        if count < 0 or end > len(self.data):
            raise ProtocolError(
                f"a field of {count} bytes at {self.position} runs past the message's end "
                f"({len(self.data)} bytes)"
            )
        piece = self.data[self.position : end]
        self.position = end
        return piece

    def u8(self) -> int:
        return self.take(1)[0]

    def u16(self) -> int:
        return int.from_bytes(self.take(2), "little")

    def u32(self) -> int:
        return int.from_bytes(self.take(4), "little")

    def u64(self) -> int:
        return int.from_bytes(self.take(8), "little")

    def unpack(self, layout: str) -> tuple[object, ...]:
        """Return the fields of a `struct` layout."""
        return struct.unpack(layout, self.take(struct.calcsize(layout)))

    def text(self, characters: int) -> str:
        """Return UTF-16LE text of that many code units."""
        return decode_utf16(self.take(characters * 2))

    def b_varchar(self) -> str:
        return self.text(self.u8())


def decode_utf16(raw: bytes) -> str:
    """Decode UTF-16LE. Raise `ProtocolError` for broken surrogates rather than change data."""
    try:
        return raw.decode("utf-16-le")
    except UnicodeDecodeError as error:
        raise ProtocolError(f"invalid UTF-16 text: {error.reason}") from error
