"""The proxy that faults of the network are made with, between real sockets."""

from __future__ import annotations

import os
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from labctl.state.sockets import LOOPBACK, free_port
from labctl.testing.cut_network import Hop, has_connection_from

SECONDS = 30.0
LARGE = os.urandom(5_000_000)


class Echo(socketserver.BaseRequestHandler):
    """Sends back what it is sent, to the end."""

    def handle(self) -> None:
        while data := self.request.recv(65536):
            self.request.sendall(data)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that has gone is what is tested."""


@pytest.fixture
def echo() -> Iterator[int]:
    with Server((LOOPBACK, 0), Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield int(server.server_address[1])
        server.shutdown()


Connect = Callable[[], socket.socket]


@pytest.fixture
def port() -> int:
    return free_port(set())


@pytest.fixture
def connect(port: int) -> Iterator[Connect]:
    opened: list[socket.socket] = []

    def open_() -> socket.socket:
        opened.append(socket.create_connection((LOOPBACK, port), timeout=SECONDS))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


@pytest.fixture
def hop(port: int, echo: int) -> Iterator[Hop]:
    """A hop on which this process is the client."""
    with Hop(
        port, echo, lambda peer: has_connection_from(os.getpid(), peer), seed=1
    ).open() as opened:
        yield opened


def echoed(client: socket.socket, data: bytes = b"ping") -> bytes:
    client.sendall(data)
    return received(client, len(data))


def received(client: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size and (more := client.recv(65536)):
        found += more
    return found


def is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True


def test_a_sound_hop_hands_everything_on_and_the_end(hop: Hop, connect: Connect) -> None:
    client = connect()
    writer = threading.Thread(target=client.sendall, args=(LARGE,))
    writer.start()
    assert received(client, len(LARGE)) == LARGE
    writer.join()
    client.shutdown(socket.SHUT_WR)
    assert is_closed(client)


def test_a_cut_closes_what_is_open_and_what_is_opened_until_it_heals(
    hop: Hop, connect: Connect
) -> None:
    client = connect()
    assert echoed(client) == b"ping"
    hop.cut()
    assert is_closed(client)
    assert is_closed(connect())
    hop.heal()
    assert echoed(connect()) == b"ping"


def test_half_open_keeps_connections_and_bytes_until_it_heals(hop: Hop, connect: Connect) -> None:
    client = connect()
    assert echoed(client) == b"ping"
    hop.half_open()
    client.sendall(b"held")
    client.settimeout(0.5)
    with pytest.raises(TimeoutError):
        client.recv(1)
    hop.heal()
    client.settimeout(SECONDS)
    assert received(client, 4) == b"held"


def test_a_delay_is_each_way(hop: Hop, connect: Connect) -> None:
    client = connect()
    assert echoed(client) == b"ping"
    hop.delay(0.2)
    begun = time.monotonic()
    assert echoed(client) == b"ping"
    assert time.monotonic() - begun >= 0.4


def test_a_stalled_chunk_holds_up_what_comes_behind_it(hop: Hop, connect: Connect) -> None:
    client = connect()
    assert echoed(client) == b"ping"
    hop.stall(1.0, 0.5)
    begun = time.monotonic()
    assert echoed(client) == b"ping"
    assert time.monotonic() - begun >= 0.5


def test_what_is_not_the_clients_passes(port: int, echo: int, connect: Connect) -> None:
    with Hop(port, echo, lambda _: False, seed=1).open() as hop:
        client = connect()
        hop.cut()
        assert echoed(client) == b"ping"
        hop.half_open()
        assert echoed(client) == b"ping"


def test_only_the_process_that_has_a_connection_has_it(echo: int) -> None:
    with socket.create_connection((LOOPBACK, echo)) as client:
        own = client.getsockname()[1]
        assert has_connection_from(os.getpid(), own)
        assert not has_connection_from(os.getpid(), echo + 1)
        assert not has_connection_from(None, own)
