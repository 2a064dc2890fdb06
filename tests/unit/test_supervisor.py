"""The lab's supervisor, with real processes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest

from labctl.errors import LabError
from labctl.lab.lifecycle.ports import Reservation
from labctl.runtimes.native.families import still_there
from labctl.runtimes.native.supervisor import ProcessSupervisor
from labctl.runtimes.runtime_protocols import OVER_LIMIT, SupervisorTimeoutError
from labctl.services.service import Process
from labctl.state.lab_state import LabState
from labctl.state.listeners import has_open, listeners_on
from labctl.state.sockets import is_free
from tests.ports import free_port, listening
from tests.waiting import wait_for

SLEEPER = (sys.executable, "-c", "import signal; signal.pause()")


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[LabState]:
    # pytest's own temporary folders may be too deep for a unix socket.
    with TemporaryDirectory(prefix="labctl-") as folder:
        monkeypatch.setenv("XDG_STATE_HOME", folder)
        monkeypatch.setattr("labctl.runtimes.native.supervisor_config.STEADY_SECONDS", 1)
        state = LabState("unit")
        state.create()
        yield state
        ProcessSupervisor(state).shutdown()


def test_arguments_and_environment_arrive_as_they_were_given(state: LabState) -> None:
    awkward = "a \"b\" 'c' %d $HOME \\ ; # é"
    script = "import os, sys; print(repr((sys.argv[1], os.environ['AWKWARD'])), flush=True)"
    supervisor = ProcessSupervisor(state)
    supervisor.start(
        {"echo": Process((sys.executable, "-c", script, awkward), env={"AWKWARD": awkward})}
    )
    supervisor.start_process("echo")
    wait_for(lambda: state.log("echo").is_file() and "\n" in state.log("echo").read_text())
    assert state.log("echo").read_text().splitlines()[0] == repr((awkward, awkward))


def test_a_killed_process_comes_back_and_its_death_is_noted(state: LabState) -> None:
    supervisor = ProcessSupervisor(state)
    supervisor.start({"sleeper": Process(SLEEPER)})
    supervisor.start_process("sleeper")
    wait_for(lambda: supervisor.state("sleeper").state == "RUNNING")
    first = supervisor.state("sleeper").pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: supervisor.state("sleeper").pid not in (first, None))
    deaths = state.folder / "deaths.jsonl"
    wait_for(lambda: deaths.is_file() and '"sleeper"' in deaths.read_text())


def test_a_process_and_its_children_have_no_more_memory_than_they_may(state: LabState) -> None:
    greedy = "import subprocess, sys; sys.exit(len(bytearray(200_000_000)) < 0)"
    script = (
        "import subprocess, sys;"
        f"child = subprocess.run([sys.executable, '-c', {greedy!r}], capture_output=True);"
        "print(child.stderr.decode(), flush=True); bytearray(200_000_000)"
    )
    supervisor = ProcessSupervisor(state)
    supervisor.start({"greedy": Process((sys.executable, "-c", script), data_mib=100)})
    supervisor.start_process("greedy")
    deaths = state.folder / "deaths.jsonl"
    wait_for(lambda: deaths.is_file() and OVER_LIMIT in deaths.read_text())
    assert state.log("greedy").read_text().count("MemoryError") >= 2  # its child's, and its own


def test_deaths_from_before_a_stop_do_not_count(
    state: LabState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labctl.runtimes.native.supervisor_config.RESTARTS_AT_MOST", 1)
    may_live = state.folder / "may-live"
    script = "import pathlib, signal, sys; pathlib.Path(sys.argv[1]).is_file() and signal.pause()"
    supervisor = ProcessSupervisor(state)
    supervisor.start({"frail": Process((sys.executable, "-c", script, str(may_live)))})
    supervisor.start_process("frail")
    wait_for(lambda: supervisor.state("frail").state == "BACKOFF")
    may_live.touch()
    wait_for(lambda: supervisor.state("frail").state == "STARTING")
    supervisor.stop_process("frail")
    supervisor.start_process("frail")
    second = supervisor.state("frail").pid
    assert second is not None
    os.kill(second, signal.SIGKILL)
    wait_for(lambda: supervisor.state("frail").state in ("RUNNING", "FATAL"))
    assert supervisor.state("frail").state == "RUNNING"


def test_what_outlived_its_supervisor_is_ended(state: LabState) -> None:
    supervisor = ProcessSupervisor(state)
    supervisor.start({"sleeper": Process(SLEEPER)})
    supervisor.start_process("sleeper")
    wait_for(lambda: supervisor.state("sleeper").state == "RUNNING")
    orphan = psutil.Process(supervisor.state("sleeper").pid)
    daemon = psutil.Process(int((state.folder / "supervisord.pid").read_text()))
    daemon.kill()
    wait_for(lambda: not still_there([daemon], seconds=0))
    assert not supervisor.running()

    supervisor.start({"sleeper": Process(SLEEPER)})
    assert still_there([orphan], seconds=0) == []
    supervisor.start_process("sleeper")
    wait_for(lambda: supervisor.state("sleeper").state == "RUNNING")


def test_a_changed_service_is_replaced_and_the_others_go_on(state: LabState) -> None:
    supervisor = ProcessSupervisor(state)
    supervisor.start({"one": Process(SLEEPER), "two": Process(SLEEPER)})
    for name in ("one", "two"):
        supervisor.start_process(name)
        wait_for(lambda name=name: supervisor.state(name).state == "RUNNING")  # type: ignore[misc]
    kept = supervisor.state("one").pid
    supervisor.start({"one": Process(SLEEPER), "two": Process(SLEEPER, env={"NEW": "1"})})
    assert supervisor.state("one").pid == kept
    assert supervisor.state("two").pid is None
    supervisor.start_process("two")
    wait_for(lambda: supervisor.state("two").state == "RUNNING")


def test_shutdown_leaves_nothing(state: LabState) -> None:
    supervisor = ProcessSupervisor(state)
    supervisor.start({"sleeper": Process(SLEEPER)})
    supervisor.start_process("sleeper")
    wait_for(lambda: supervisor.state("sleeper").state == "RUNNING")
    process = psutil.Process(supervisor.state("sleeper").pid)
    supervisor.shutdown()
    assert still_there([process], seconds=0) == []
    assert not supervisor.running()
    assert not Path(state.supervisor_socket).exists()


SERVER = """
import signal, socket, sys
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, True)
server.bind(("127.0.0.1", int(sys.argv[1])))
server.listen()
signal.pause()
"""


def test_the_port_of_a_service_is_kept_while_that_does_not_run(state: LabState) -> None:
    supervisor = ProcessSupervisor(state)
    port, other = free_port(), free_port()
    server = Process((sys.executable, "-c", SERVER, str(port)))
    with Reservation() as reserved:
        reserved.take({"server": {"one": port, "two": other}})
        supervisor.start({"server": server}, {"server": [port, other]})
    assert supervisor.kept_ports() == {port, other}

    def assert_kept() -> None:
        for address in ("127.0.0.1", "::1"):
            with pytest.raises(OSError, match="in use"):
                listening(port, address)

    assert_kept()
    supervisor.start_process("server")
    wait_for(lambda: listeners_on(port) != [])
    (first,) = listeners_on(port)
    pid = supervisor.state("server").pid
    assert pid is not None
    assert has_open([pid], first)
    assert_kept()
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: listeners_on(port) not in ([first], []))
    supervisor.stop_process("server")
    assert listeners_on(port) == []
    assert_kept()

    supervisor.start({"server": server}, {"server": [port]})
    assert is_free(other)
    assert_kept()
    supervisor.shutdown()
    assert is_free(port)


def test_a_port_that_somebody_else_has_is_not_kept_in_silence(state: LabState) -> None:
    port = free_port()
    supervisor = ProcessSupervisor(state)
    with listening(port, "127.0.0.1"), pytest.raises(LabError, match=f"Port {port} .server. is"):
        supervisor.start({"server": Process(SLEEPER)}, {"server": [port]})


def test_all_are_killed_but_one(state: LabState) -> None:
    supervisor = ProcessSupervisor(state)
    supervisor.start({"one": Process(SLEEPER), "two": Process(SLEEPER)})
    for name in ("one", "two"):
        supervisor.start_process(name)
    wait_for(lambda: all(one.state == "RUNNING" for one in supervisor.states().values()))
    kept = supervisor.state("one")
    killed = psutil.Process(supervisor.state("two").pid)
    supervisor.kill_all(but=["one"])
    assert still_there([killed], seconds=0) == []
    assert supervisor.state("one") == kept
    assert supervisor.state("two").state == "STOPPED"
    supervisor.start_process("two")
    wait_for(lambda: supervisor.state("two").state == "RUNNING")


def test_one_that_does_not_answer_is_told_and_can_still_be_ended(state: LabState) -> None:
    supervisor = ProcessSupervisor(state)
    impatient = ProcessSupervisor(state, answer_seconds=0.5)
    supervisor.start({"sleeper": Process(SLEEPER)})
    supervisor.start_process("sleeper")
    wait_for(lambda: supervisor.state("sleeper").state == "RUNNING")
    sleeper = psutil.Process(supervisor.state("sleeper").pid)
    daemon = psutil.Process(int((state.folder / "supervisord.pid").read_text()))
    daemon.suspend()
    try:
        for ask in (impatient.running, impatient.states):
            with pytest.raises(SupervisorTimeoutError, match="did not answer"):
                ask()
        supervisor.shutdown()
        assert still_there([sleeper], seconds=0) == []
        wait_for(lambda: not still_there([daemon], seconds=0))
    finally:
        if daemon.is_running():
            daemon.resume()
    assert not supervisor.running()


def test_one_that_stood_still_goes_on_and_starts_what_died_meanwhile(state: LabState) -> None:
    supervisor = ProcessSupervisor(state)
    impatient = ProcessSupervisor(state, answer_seconds=0.5)
    supervisor.start({"sleeper": Process(SLEEPER)})
    supervisor.start_process("sleeper")
    wait_for(lambda: supervisor.state("sleeper").state == "RUNNING")
    first = supervisor.state("sleeper").pid
    assert first is not None
    with supervisor.paused():
        os.kill(first, signal.SIGKILL)
        with pytest.raises(SupervisorTimeoutError, match="did not answer"):
            impatient.states()
    wait_for(lambda: supervisor.state("sleeper").pid not in (first, None))
