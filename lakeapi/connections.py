"""Connections over which nothing is asked: only so many are kept, for each of them takes a file.

uvicorn waits for a request for any time, and so whoever opens connections and is silent, or sends a
header byte by byte, would take all files that a process may have. `limit_concurrency` would answer
everybody else with 503.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["MOST_IDLE", "BoundedProtocol"]

MOST_IDLE = 200
"""A client that finds its connection closed opens another one."""


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP, which leaves the oldest idle connection where there are MOST_IDLE."""

    _open: ClassVar[dict[BoundedProtocol, None]] = {}
    """All of the process, the oldest first."""

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
        """Whether no request is being answered: none has come as a whole, or it was the last."""
        cycle: Any = self.cycle
        return cycle is None or bool(cycle.response_complete)
