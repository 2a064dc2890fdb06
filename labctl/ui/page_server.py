"""The server of the page, which ends the live parts before it waits for requests to end."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from labctl.ui.page_context import PageContext

__all__ = ["PageServer"]

_GRACE_SECONDS = 3
"""Seconds that a request may go on after Ctrl+C."""


class PageServer(uvicorn.Server):
    """A server on 127.0.0.1 that Ctrl+C ends."""

    def __init__(
        self,
        application: ASGIApp,
        context: PageContext,
        *,
        port: int,
        started: Callable[[], None] = lambda: None,
    ) -> None:
        """Serve on `port`; call `started` once it answers."""
        super().__init__(
            uvicorn.Config(
                application,
                host="127.0.0.1",
                port=port,
                log_level="warning",
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        self._context = context
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the live parts, then wait for the other requests."""
        self._context.ending.set()
        await super().shutdown(sockets)
