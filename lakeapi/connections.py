"""A limit on idle connections, each of which takes a file descriptor.

uvicorn waits for a request without a time limit. So a client that opens connections and sends
nothing, or sends a header byte by byte, could take all file descriptors of the process. The option
`limit_concurrency` is no help: it would answer all other clients with 503.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["MOST_IDLE", "BoundedProtocol"]

MOST_IDLE = 200
"""Idle connections that are kept. A client whose connection was closed opens another one."""


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP protocol, which closes the oldest idle connection if there are MOST_IDLE."""

    _open: ClassVar[dict[BoundedProtocol, None]] = {}
    """All connections of the process, the oldest first."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        idle = [other for other in self._open if other.is_idle]
        for other in idle[: max(0, len(idle) + 1 - MOST_IDLE)]:
            other.transport.abort()
        self._open[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.pop(self, None)
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """True if no request is in progress: none has fully arrived, or its response is sent."""
        cycle: Any = self.cycle
        return cycle is None or bool(cycle.response_complete)
