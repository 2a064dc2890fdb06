"""Who may call the application's Python functions over Py4J's port."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from py4j.clientserver import ClientServer, PythonParameters

from lakehouse.callbacks import JvmOnly

CALL = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=10) as caller:
    sys.stdin.readline()  # the test has learnt this process's id
    caller.sendall(sys.argv[2].encode().decode("unicode_escape").encode())
    caller.shutdown(socket.SHUT_WR)
    sys.stdout.write(caller.makefile().read())
"""
LINES = r"c\np0\nrun\ne\n"
PAGE = r"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nbody\n" + LINES


class Proxy:
    """What the JVM was given: Py4J calls it `p0`."""

    calls = 0

    def run(self) -> None:
        self.calls += 1


@pytest.fixture
def gateway() -> Iterator[ClientServer]:
    """A gateway without a JVM behind it."""
    parameters = PythonParameters(port=0, daemonize=True, daemonize_connections=True)
    gateway = ClientServer(python_parameters=parameters)
    yield gateway
    gateway.shutdown_callback_server()


def call(port: int, lines: str) -> subprocess.Popen[str]:
    """A process that will send `lines`, as soon as it is sent one itself."""
    command = [sys.executable, "-c", CALL, str(port), lines]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("lines", [LINES, PAGE], ids=["lines", "page"])
@pytest.mark.parametrize("is_jvm", [True, False])
def test_only_the_jvm_is_answered(gateway: ClientServer, is_jvm: bool, lines: str) -> None:
    proxy = Proxy()
    gateway.gateway_property.pool.put(proxy)
    server = JvmOnly(gateway, pid=1)
    gateway._callback_server = server
    server.start()
    caller = call(server.get_listening_port(), lines)
    # The server looks at who it is when the connection is made, so it must know by then.
    server._pid = caller.pid if is_jvm else os.getpid()
    answer, _ = caller.communicate("go\n", timeout=30)
    assert (proxy.calls, bool(answer)) == ((1, True) if is_jvm else (0, False))
