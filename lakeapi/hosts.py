"""By which names the service may be asked."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from lakeapi.errors import problem

__all__ = ["Hosts", "is_allowed"]

_MISDIRECTED = 421


class Hosts:
    """Refuses requests whose `Host` is neither an address, nor `localhost`, nor a name it has.

    A web page whose own name was made to point here has that name as `Host`; otherwise a browser
    would let it read what the service shows. Health checks of a load balancer ask by address.
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
    """Whether a header `Host` names this service. No browser leaves the header out."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or name in names or bool(ipaddress.ip_address(name))
    except ValueError:
        return False
