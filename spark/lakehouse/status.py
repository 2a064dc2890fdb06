"""`GET /status`: what every table is doing, as JSON."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["StatusServer"]


class StatusServer:
    """Serves `status()` at `/status`, and takes `POST /tables/<name>/<action>`."""

    def __init__(
        self,
        host: str,
        port: int,
        status: Callable[[], Mapping[str, Any]],
        actions: Mapping[str, Callable[[str], bool]],
    ) -> None:
        """An action gets the table's name, and returns False when there is no such table."""
        self._server = ThreadingHTTPServer((host, port), _handler(status, actions))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="status", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(
    status: Callable[[], Mapping[str, Any]], actions: Mapping[str, Callable[[str], bool]]
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/status":
                self._answer(HTTPStatus.OK, status())
            else:
                self._answer(HTTPStatus.NOT_FOUND, {"error": "only /status is here"})

        def do_POST(self) -> None:
            parts = self.path.strip("/").split("/")
            action = actions.get(parts[2]) if len(parts) == 3 and parts[0] == "tables" else None
            if action is None:
                known = ", ".join(f"/tables/<name>/{name}" for name in actions)
                self._answer(HTTPStatus.NOT_FOUND, {"error": f"only {known} are here"})
            elif action(parts[1]):
                self._answer(HTTPStatus.ACCEPTED, {"table": parts[1], "accepted": parts[2]})
            else:
                self._answer(HTTPStatus.NOT_FOUND, {"error": f"there is no table {parts[1]}"})

        def _answer(self, code: HTTPStatus, body: Mapping[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Requests are not logged: `labctl` asks every second."""

    return Handler
