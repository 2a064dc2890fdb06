"""A check of the host names by which clients may address the service."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from lakeapi.problems import problem

__all__ = ["Hosts", "is_allowed"]

_MISDIRECTED = 421


class Hosts:
    """Middleware that takes only requests whose `Host` is an IP address, `localhost` or in `names`.

    This prevents DNS rebinding: a web page whose own name points to this service sends that name
    as `Host`, and a browser would let it read the answers. A load balancer's health checks use
    the IP address.
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not all(
            is_allowed(host, self._names) for host in Headers(scope=scope).getlist("host")
        ):
            detail = "The service has no such name: its names are in the setting ALLOWED_HOSTS."
            await problem(scope["path"], _MISDIRECTED, detail)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def is_allowed(host: str, names: Collection[str]) -> bool:
    """Return whether a `Host` header names this service. Every browser sends the header."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or name in names or bool(ipaddress.ip_address(name))
    except ValueError:
        return False
