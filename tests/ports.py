"""Ports of the servers that tests start."""

from __future__ import annotations

import socket

from labctl.state import sockets

_given: set[int] = set()


def free_port() -> int:
    """A port nobody listens on, that no test was given before and the kernel gives no client.

    A server killed and started again finds it free: one of the kernel's own might by then be some
    client's.
    """
    port = sockets.free_port(_given)
    _given.add(port)
    return port


def listening(port: int, address: str) -> socket.socket:
    """A server's socket, as most servers make it."""
    server = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    try:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, True)
        server.bind((address, port))
        server.listen()
    except BaseException:
        server.close()
        raise
    return server
