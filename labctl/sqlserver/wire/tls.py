"""TLS inside TDS: PRELOGIN packets carry the handshake; afterwards TLS wraps the packets."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

from labctl.sqlserver.wire.packet import HEADER_SIZE, MessageWriter, PacketType, parse_header
from labctl.sqlserver.wire.reader import MessageTooLong, ProtocolError

__all__ = ["Transport", "server_context"]

_CHUNK = 65_536
_CLOSE_SECONDS = 5.0


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return a TLS context for TDS 7.4, which supports TLS only up to 1.2."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    return context


class Transport:
    """A client's byte stream, plain or through TLS, from which packets are read."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._tls: ssl.SSLObject | None = None
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._plain = bytearray()

    async def read_packet(self) -> tuple[PacketType, bytes, bool, bool]:
        """Read a packet; return its type, payload, end-of-message flag and reset flag."""
        header = parse_header(await self._exactly(HEADER_SIZE))
        payload = await self._exactly(header.length - HEADER_SIZE)
        return header.type, payload, header.last, header.reset

    async def read_message(self, limit: int) -> tuple[PacketType, bytes, bool]:
        """Read a message of at most `limit` bytes, packet headers included.

        Returns its type, payload and reset flag. Raises MessageTooLong at the end of a longer
        message, which is discarded.
        """
        kind, payload, last, reset = await self.read_packet()
        if last:
            return kind, payload, reset
        # Empty packets count too: a message may have any number of them.
        pieces, size = [payload], HEADER_SIZE + len(payload)
        while not last:
            following, payload, last, _ = await self.read_packet()
            if following is not kind:
                if following is PacketType.ATTENTION:
                    return following, b"", False
                raise ProtocolError("a message changed its type half-way")
            size += HEADER_SIZE + len(payload)
            if size <= limit:
                pieces.append(payload)
            else:
                pieces.clear()
        if size > limit:
            raise MessageTooLong(f"a message of {size} bytes, {limit} are allowed")
        return kind, b"".join(pieces), reset

    async def _exactly(self, count: int) -> bytes:
        if self._tls is None:
            return await self._reader.readexactly(count)
        while len(self._plain) < count:
            try:
                self._plain += self._tls.read(_CHUNK)
            except ssl.SSLWantReadError:
                data = await self._reader.read(_CHUNK)
                if not data:
                    raise asyncio.IncompleteReadError(bytes(self._plain), count) from None
                self._incoming.write(data)
            except ssl.SSLError as error:
                raise ProtocolError(f"TLS failed: {error.reason}") from None
        piece = bytes(self._plain[:count])
        del self._plain[:count]
        return piece

    def write(self, data: bytes) -> None:
        """Queue bytes for the client."""
        if self._tls is not None:
            self._tls.write(data)
            data = self._outgoing.read()
        self._writer.write(data)

    async def drain(self) -> None:
        await self._writer.drain()

    async def start_tls(self, context: ssl.SSLContext) -> None:
        """Run the handshake inside PRELOGIN packets and encrypt everything afterwards."""
        tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        packets = MessageWriter(self._writer, 4096)
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                await self._flush_handshake(packets)
                kind, payload, _ = await self.read_message(_CHUNK)
                if kind is not PacketType.PRELOGIN:
                    raise ProtocolError("the TLS handshake was interrupted") from None
                self._incoming.write(payload)
            except ssl.SSLError as error:
                raise ProtocolError(f"TLS handshake failed: {error.reason}") from None
        await self._flush_handshake(packets)
        self._tls = tls

    async def _flush_handshake(self, packets: MessageWriter) -> None:
        if self._outgoing.pending:
            packets.write(self._outgoing.read())
            await packets.finish(PacketType.PRELOGIN)

    def stop_tls(self) -> None:
        """Return to plain text after a login-only encryption."""
        self._tls = None

    async def close(self) -> None:
        """Close the connection; abort it if the client does not read the rest within seconds."""
        self._writer.close()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._writer.wait_closed()
        except TimeoutError:
            self._writer.transport.abort()
        except (ConnectionError, ssl.SSLError):
            return
