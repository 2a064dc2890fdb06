"""`GET /status`: the state of every table, as JSON; and the actions on them, by `POST`."""

from __future__ import annotations

import hmac
import ipaddress
import json
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from lakecontract.errors import PermanentError

__all__ = ["StatusServer"]

_MOST_CONNECTIONS = 64
_SILENT_SECONDS = 10.0
"""Seconds for which a client may send nothing before its connection ends."""


class StatusServer:
    """Server of `status()` at `/status`, `POST /tables/<name>/<action>` and `POST /<action>`.

    A POST must bring the token (`Authorization: Bearer …`). Pages in a browser get no answer:
    neither those of another origin, nor those whose own name was made to point here, which is why
    `Host` must be an address or `localhost`.
    """

    def __init__(
        self,
        host: str,
        port: int,
        status: Callable[[], Mapping[str, Any]],
        actions: Mapping[str, Callable[[str], bool]],
        whole: Mapping[str, Callable[[], None]],
        token: str | None,
    ) -> None:
        """`actions` take the table's name, and return False when there is no such table.

        A call of the `whole` application is answered when it is done. An action refuses by a
        PermanentError, which is the answer. Without a token no action is accepted.
        """
        handler = _handler(status, actions, whole, token)
        self._server = _BoundedServer((host, port), handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="status", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _BoundedServer(ThreadingHTTPServer):
    """A server that keeps _MOST_CONNECTIONS open; beyond that it closes the oldest.

    Each connection has a thread, and a client could open any number of connections.
    """

    daemon_threads = True
    request_queue_size = _MOST_CONNECTIONS

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self._open: dict[int, socket.socket] = {}

    def process_request(self, request: Any, client_address: Any) -> None:
        # Other threads call `close_request`, which removes what it closes.
        too_many = max(0, len(self._open) + 1 - _MOST_CONNECTIONS)
        for oldest in list(self._open.values())[:too_many]:
            with suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)
        self._open[id(request)] = request
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error, except that of a client that leaves: any number of clients can."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def close_request(self, request: Any) -> None:
        self._open.pop(id(request), None)
        super().close_request(request)


def _handler(
    status: Callable[[], Mapping[str, Any]],
    actions: Mapping[str, Callable[[str], bool]],
    whole: Mapping[str, Callable[[], None]],
    token: str | None,
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = _SILENT_SECONDS

        def do_GET(self) -> None:
            if self._is_from_a_page():
                self._refuse_page()
            elif self.path == "/status":
                self._answer(HTTPStatus.OK, status())
            else:
                self._answer(HTTPStatus.NOT_FOUND, {"error": "only /status is here"})

        def do_POST(self) -> None:
            if self._is_from_a_page():
                self._refuse_page()
                return
            if not self._has_token():
                self._answer(HTTPStatus.UNAUTHORIZED, {"error": "the token is missing or wrong"})
                return
            try:
                self._answer(*self._act(*self.path.strip("/").split("/")))
            except PermanentError as error:
                self._answer(HTTPStatus.CONFLICT, {"error": error.what, "hint": error.hint})

        def _act(self, *words: str) -> tuple[HTTPStatus, Mapping[str, Any]]:
            match words:
                case [name] if name in whole:
                    whole[name]()
                    return HTTPStatus.OK, {"done": name}
                case ["tables", table, name] if name in actions:
                    if actions[name](table):
                        return HTTPStatus.ACCEPTED, {"table": table, "accepted": name}
                    return HTTPStatus.NOT_FOUND, {"error": f"there is no table {table}"}
            known = [*(f"/tables/<name>/{name}" for name in actions), *(f"/{n}" for n in whole)]
            return HTTPStatus.NOT_FOUND, {"error": f"only {', '.join(known)} are here"}

        def _is_from_a_page(self) -> bool:
            host = self.headers.get("Host", "")
            return not _is_own_name(host) or self.headers.get("Origin", "http://" + host) != (
                "http://" + host
            )

        def _refuse_page(self) -> None:
            error = "pages are not answered: use this machine's address, and no other origin"
            self._answer(HTTPStatus.FORBIDDEN, {"error": error})

        def _has_token(self) -> bool:
            given = self.headers.get("Authorization", "").encode()
            return token is not None and hmac.compare_digest(given, f"Bearer {token}".encode())

        def _answer(self, code: HTTPStatus, body: Mapping[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(code)
            if code is HTTPStatus.UNAUTHORIZED:
                self.send_header("WWW-Authenticate", "Bearer")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Log no requests: `labctl` sends one every second."""

    return Handler


def _is_own_name(host: str) -> bool:
    """Return whether a `Host` header names this machine: by an address, or as localhost."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or bool(ipaddress.ip_address(name))
    except ValueError:
        return False
