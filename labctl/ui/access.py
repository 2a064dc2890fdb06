"""Access to the page: from this machine's browser alone, with the token of the link."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Access"]

_TOKEN = "token"  # noqa: S105 - the parameter's name
"""The parameter of the link that brings the token."""
_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Without a referrer, some browsers send a form's Origin as `null`.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every answer: no script but the page's own files, and no other page around it."""
_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_OPEN = "/static/"
"""Path of files that hold nothing of the lab."""


class Access:
    """An application that answers this machine's browser, if it brought the token.

    `Host` must be an own name: another site's name may have been made to point here. A request
    that changes something must come from a page of this application. The link's token becomes a
    cookie that no script can read, so that it stands in no address after the first.
    """

    def __init__(self, application: ASGIApp, *, port: int, token: str) -> None:
        self._application = application
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._cookie = _cookie_name(port)
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refusal = self._refusal(Request(scope))
        await (refusal or self._application)(scope, receive, with_headers)

    def _refusal(self, request: Request) -> Response | None:
        host = request.headers.get("host", "")
        if host not in self._hosts:
            return _text("this page answers as 127.0.0.1 and localhost only", 403)
        if request.method in _CHANGING and request.headers.get("origin") != f"http://{host}":
            return _text("only this page's own forms may change something", 403)
        if request.url.path.startswith(_OPEN):
            return None
        if (given := request.query_params.get(_TOKEN)) is not None and self._is_right(given):
            return self._redirect(request)
        if self._is_right(request.cookies.get(self._cookie, "")):
            return None
        return _text("the token is missing or wrong: `labctl ui` prints the link that has it", 401)

    def _is_right(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    def _redirect(self, request: Request) -> Response:
        """Return a redirect to the same page without the token, which becomes a cookie."""
        rest = [pair for pair in request.query_params.multi_items() if pair[0] != _TOKEN]
        # More than one slash would begin another host's address.
        path = "/" + request.url.path.lstrip("/")
        answer = RedirectResponse(f"{path}?{urlencode(rest)}" if rest else path, 303)
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
        return answer


def _cookie_name(port: int) -> str:
    """Return the cookie's name: browsers send cookies to every port of a host."""
    return f"labctl-ui-{port}"


def _text(words: str, status: int) -> Response:
    return PlainTextResponse(f"{words}\n", status)
