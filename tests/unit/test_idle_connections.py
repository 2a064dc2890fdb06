"""Clients that open connections and are silent: only so many are kept, and others are answered."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import psutil
import pytest
import requests
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from labctl.shipped import shipped
from lakeapi import connections as of_lakeapi
from lakehouse import status_server
from sqlapi.protocol import connections as of_sqlapi
from tests.ports import free_port
from tests.unit.hanging import Watch

FEW = 5


def _answer(_: Request) -> PlainTextResponse:
    return PlainTextResponse("here")


@contextmanager
def serving(protocol: type[H11Protocol]) -> Iterator[int]:
    """An application behind uvicorn, on the port that is given back."""
    app = Starlette(routes=[Route("/status", _answer)])
    port = free_port()
    config = uvicorn.Config(app, port=port, http=protocol, ws="none", log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield port
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(params=["sqlapi", "lakeapi", "silver"])
def port(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Of a server that keeps a few idle connections."""
    match request.param:
        case "silver":
            monkeypatch.setattr(status_server, "_MOST_CONNECTIONS", FEW)
            port = free_port()
            server = status_server.StatusServer("127.0.0.1", port, dict, {}, {}, None)
            server.start()
            yield port
            server.stop()
        case name:
            module = {"sqlapi": of_sqlapi, "lakeapi": of_lakeapi}[name]
            monkeypatch.setattr(module, "MOST_IDLE", FEW)
            with serving(module.BoundedProtocol) as port:
                yield port


def accepted(port: int) -> int:
    """Connections that the server, which is this process, has not closed."""
    found = psutil.Process().net_connections("tcp")
    return sum(
        1 for one in found if one.laddr.port == port and one.raddr and one.status == "ESTABLISHED"
    )


@pytest.mark.parametrize(
    "sent", [b"", b"GET /status HT", b"GET /status HTTP/1.1\r\nHost: localhost\r\nX-A: b"]
)
def test_silent_clients_take_no_more_than_a_few_connections(sent: bytes, port: int) -> None:
    with ExitStack() as stack:
        for _ in range(10 * FEW):
            idle = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            with suppress(ConnectionError):
                idle.sendall(sent)
        assert requests.get(f"http://127.0.0.1:{port}/status", timeout=30).ok
        with Watch().one(sent):
            while accepted(port) > FEW:
                time.sleep(0.01)


def test_a_header_that_has_no_end_is_not_kept(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.settimeout(30)
        client.sendall(b"GET /status HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        with suppress(ConnectionError):
            for _ in range(200):
                client.sendall(b"x" * 65_536)
            while client.recv(65_536):  # it is refused, and the connection ends
                pass


def test_the_proxy_leaves_silent_clients() -> None:
    text = (shipped("compose") / "api" / "haproxy.cfg").read_text(encoding="utf-8")
    assert {"timeout http-request 10s", "timeout http-keep-alive 10s"} <= {
        line.strip() for line in text.splitlines()
    }
