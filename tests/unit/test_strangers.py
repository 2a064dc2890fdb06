"""Another program at a service's port is not taken for the service, and is told nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

import pytest

import labctl.lab.lab
from labctl.config.endpoints import Endpoint
from labctl.config.lab_config import LabConfig
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.probing import probe
from labctl.lab.lifecycle.starting import wait_until_usable
from labctl.lab.observe.service_status import read_status
from labctl.runtimes.native.native_runtime import NativeRuntime
from labctl.runtimes.runtime_protocols import ProcessState
from labctl.services.lab_services import SERVICES
from labctl.services.service import Context, NativeService, Process, Service
from labctl.state.listeners import listeners_on
from tests.ports import free_port, listening
from tests.waiting import wait_for

PROJECT = Path(__file__).parents[2]
SWITCHED_ON = ("metastore", "thriftserver", "cache", "api")
SERVER = """
import os, signal, socket, sys
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, True)
server.bind(("127.0.0.1", int(sys.argv[1])))
server.listen()
if os.fork():
    server.close()
signal.pause()
"""
"""A child of it listens, as the status port of the Spark application does."""


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    # pytest's own temporary folders may be too deep for a unix socket.
    with TemporaryDirectory(prefix="labctl-") as folder:
        monkeypatch.setenv("XDG_STATE_HOME", folder)
        lab = Lab.find(name="one", profile="native", project=PROJECT)
        lab = replace(lab, config=lab.config.switching_on(SWITCHED_ON))
        lab.state.create()
        yield lab
        lab.runtime.shutdown()


@pytest.fixture(scope="module")
def sleeper() -> Iterator[int]:
    """A process that listens nowhere."""
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        yield process.pid


@pytest.mark.parametrize("name", [service.name for service in SERVICES])
def test_a_stranger_is_asked_nothing(lab: Lab, name: str, sleeper: int) -> None:
    """A service of another lab would answer, and be told the password of this one's."""
    service = lab.service(name)
    running = ProcessState("RUNNING", sleeper, 0.0)
    with ExitStack() as stack:
        ports = lab.ports[name]
        servers = []
        for endpoint in ports:
            ports[endpoint] = free_port()
            servers.append(stack.enter_context(listening(ports[endpoint], "127.0.0.1")))
        with pytest.raises(ConnectionError, match=r"is answered by .*, which is not this lab's"):
            probe(lab, service, running)
        for server in servers:
            server.setblocking(False)
            with pytest.raises(BlockingIOError):
                server.accept()


def answering(context: Context) -> str:
    return context.service.name


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Service:
    """The lab's only service. Its probe would take anyone for it."""
    native = NativeService(
        artifacts=(),
        memory_mib=0,
        process=lambda context: Process((sys.executable, "-c", SERVER, str(context.ports["tcp"]))),
    )
    service = Service(
        name="server",
        title="Server",
        ports=MappingProxyType({"tcp": free_port()}),
        native=native,
        probe=answering,
        endpoint=lambda _: Endpoint(),
    )

    def only(_: LabConfig) -> tuple[Service, ...]:
        return (service,)

    monkeypatch.setattr(labctl.lab.lab, "services_of", only)
    return service


def test_a_stranger_is_named_and_the_lab_s_own_service_is_known(
    lab: Lab, server: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labctl.runtimes.native.supervisor_config.RESTARTS_AT_MOST", 1)
    lab.state.save(ports=lab.ports)
    vars(lab)["endpoints"] = None
    runtime = lab.runtime
    assert isinstance(runtime, NativeRuntime)
    (port,) = lab.ports["server"].values()
    context = lab.context(server)
    # Nobody keeps the port: otherwise no stranger would have it.
    runtime.supervisor.start({"server": server.native_form.process(context)})
    with listening(port, "127.0.0.1"):
        runtime.start(server, context)
        with pytest.raises(LabError) as raised:
            wait_until_usable(lab, server)
        assert raised.value.exit_code is ExitCode.NOT_READY
        answered = (
            rf"port {port} is answered by .* \(process {os.getpid()}\), which is not this lab's"
        )
        assert re.search(rf"given up \({answered}\)", raised.value.what)
        (status,) = read_status(lab).services
        assert status.state == "failed"
        assert re.fullmatch(answered, status.detail)
    runtime.stop("server")
    runtime.start(server, context)
    wait_for(lambda: listeners_on(port) != [])
    assert wait_until_usable(lab, server) == "server"
    (status,) = read_status(lab).services
    assert status.state == "ready"
