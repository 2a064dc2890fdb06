"""LOGIN7: the client's identity and the session settings it requests."""

from __future__ import annotations

from dataclasses import dataclass

from labctl.sqlserver.wire.reader import ProtocolError, Reader

__all__ = ["Login", "parse_login"]

_FIXED = 36
_SMALLEST = 94


@dataclass(frozen=True, slots=True, repr=False)
class Login:
    """The LOGIN7 fields in use; `integrated` means a login without user name and password."""

    tds_version: int
    packet_size: int
    host: str
    user: str
    password: str
    application: str
    library: str
    language: str
    database: str
    integrated: bool

    def __repr__(self) -> str:
        return f"Login(user={self.user!r}, database={self.database!r}, app={self.application!r})"


def parse_login(data: bytes) -> Login:
    """Parse a LOGIN7 message. Raise `ProtocolError` for a wrong offset or length."""
    if len(data) < _SMALLEST:
        raise ProtocolError(f"LOGIN7 of {len(data)} bytes is too short")
    head = Reader(data)
    if head.u32() != len(data):
        raise ProtocolError("LOGIN7's length differs from its message's")
    version, packet_size = head.u32(), head.u32()
    flags2 = data[25]

    def field(index: int) -> bytes:
        entry = Reader(data, _FIXED + 4 * index)
        offset, characters = entry.u16(), entry.u16()
        return Reader(data, offset).take(characters * 2)

    def text(index: int) -> str:
        raw = field(index)
        return Reader(raw).text(len(raw) // 2)

    swapped = bytes((((b ^ 0xA5) >> 4) | ((b ^ 0xA5) << 4)) & 0xFF for b in field(2))
    return Login(
        tds_version=version,
        packet_size=packet_size,
        host=text(0),
        user=text(1),
        password=Reader(swapped).text(len(swapped) // 2),
        application=text(3),
        library=text(6),
        language=text(7),
        database=text(8),
        integrated=bool(flags2 & 0x80),
    )
