"""The port on which the JVM calls this process; it serves that JVM alone.

PySpark 3.5 opens it without a token, because its JVM has none to send. Py4J's protocol is lines of
text: another user of the machine, or a page in a browser, could call what the JVM may call.
"""

from __future__ import annotations

import io
import logging
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from py4j.clientserver import PythonServer
from pyspark.java_gateway import ensure_callback_server_started

__all__ = ["JvmOnly", "start_callbacks"]

_log = logging.getLogger(__name__)
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_MAPPED = "0000000000000000FFFF0000"
"""Prefix of an IPv4 address in the table of IPv6 connections, which Java opens."""


def start_callbacks(gateway: Any) -> None:
    """Let `gateway`'s JVM call Python. Call this before PySpark opens the port itself."""
    pid = gateway.jvm.java.lang.ProcessHandle.current().pid()
    gateway._create_callback_server = lambda _parameters: JvmOnly(gateway, pid)
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]


class JvmOnly(PythonServer):  # type: ignore[misc]
    """A Py4J server that accepts only connections opened by the process `pid`."""

    def __init__(self, gateway: Any, pid: int) -> None:
        super().__init__(
            gateway._gateway_client,
            gateway.java_parameters,
            gateway.python_parameters,
            gateway.gateway_property,
        )
        self._pid = pid

    def _create_connection(self, connection: socket.socket, stream: Any) -> Any:
        if not _has_opened(self._pid, connection):
            _log.warning("A stranger was refused who called the port that is for Spark's JVM")
            # With an empty stream the connection ends by itself.
            stream = io.BytesIO()
        return super()._create_connection(connection, stream)


def _has_opened(pid: int, connection: socket.socket) -> bool:
    """Return whether the other end of a connection over loopback belongs to `pid`."""
    wanted = set(_inodes(_written(*connection.getpeername()), _written(*connection.getsockname())))
    try:
        descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError as error:
        _log.warning("Whether Spark's JVM calls cannot be told: %s", error)
        return False
    return any(_link(descriptor) in wanted for descriptor in descriptors)


def _link(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except OSError:
        return ""  # closed meanwhile


def _inodes(local: str, remote: str) -> Iterator[str]:
    """Yield the link text of the socket from `local` to `remote`; nothing if there is none."""
    for table in _TABLES:
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except FileNotFoundError:
            continue  # a machine without IPv6
        for line in lines:
            fields = line.split()
            if [field.removeprefix(_MAPPED) for field in fields[1:3]] == [local, remote]:
                yield f"socket:[{fields[9]}]"


def _written(address: str, port: int) -> str:
    """Return an IPv4 address and a port in the format of the kernel's tables."""
    return f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}:{port:04X}"
