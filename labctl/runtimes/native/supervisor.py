"""Control of a lab's `supervisord`, which starts processes, restarts them and outlives commands.

https://supervisord.org/configuration.html, https://supervisord.org/api.html
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import xmlrpc.client
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil
from supervisor.xmlrpc import SupervisorTransport, UnixStreamHTTPConnection
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from labctl.errors import ExitCode, LabError
from labctl.runtimes.native.families import families_below, still_there, with_descendants
from labctl.runtimes.native.supervisor_config import KEEPER, configuration
from labctl.runtimes.runtime_protocols import ProcessState, SupervisorTimeoutError
from labctl.services.service import PASSED_ON, Process
from labctl.state.lab_state import LabState, write_private
from labctl.state.sockets import owner_of

__all__ = ["LAB_MARK", "ProcessSupervisor"]

LAB_MARK = "LABCTL_LAB"
"""Environment variable of every process of a lab; its value is the lab's state folder."""

_STRAY_SECONDS = 10.0
"""Seconds that an unsupervised process may take to end after SIGTERM."""
_KILL_SECONDS = 60.0
"""Seconds that a killed process may take to disappear."""

_POLL_SECONDS = 0.02
_ANSWER_SECONDS = 20.0
"""Seconds that supervisord may take to answer: it only supervises its processes."""
_LAST_ANSWER_SECONDS = 5.0
"""Seconds that supervisord may take to answer before it is ended anyway."""
_STOP_SECONDS = 120.0
"""Seconds for calls that return only when a process has stopped, which may be slow."""

_LISTENERS = ("events", "mending")
"""The supervisor's own processes: one records deaths, one restarts Connect's failed tasks."""


class ProcessSupervisor:
    """A client of the lab's supervisord.

    All methods except those that end supervisord raise SupervisorTimeoutError if it runs but does
    not answer.
    """

    def __init__(self, state: LabState, *, answer_seconds: float = _ANSWER_SECONDS) -> None:
        self._state = state
        self._answer_seconds = answer_seconds
        self._config = state.folder / "supervisord.conf"

    def running(self) -> bool:
        """Return whether supervisord answers."""
        try:
            self._call("getState")
        except (OSError, xmlrpc.client.Error):
            return False
        return True

    def start(
        self,
        processes: Mapping[str, Process],
        ports: Mapping[str, Collection[int]] = MappingProxyType({}),
    ) -> set[str]:
        """Start supervisord with `processes` declared but not started.

        supervisord keeps each service's `ports`, which this command has reserved, while the service
        does not run. If supervisord already runs, it reloads: it stops changed services, and
        unchanged ones keep running. Returns the names of the changed services. Raises LabError
        (ENVIRONMENT) if a port of one of `processes` is taken.
        """
        changed = self._tell(processes)
        for name, wanted in ports.items():
            lost = self._call("keep", name, list(wanted), namespace=KEEPER)
            if lost and name in processes:
                raise LabError(
                    f"Port {lost[0]} ({name}) is taken by {owner_of(lost[0])}",
                    hint="stop that process, then `labctl up`",
                    exit_code=ExitCode.ENVIRONMENT,
                )
        return changed

    def kept_ports(self) -> set[int]:
        """Return the ports that supervisord keeps for services, whether or not they run."""
        try:
            return set(self._call("kept", namespace=KEEPER))
        except (OSError, xmlrpc.client.Error):
            return set()

    def _tell(self, processes: Mapping[str, Process]) -> set[str]:
        """Start or reload supervisord with `processes`; return the names of changed ones."""
        write_private(self._config, configuration(self._state, processes))
        if self.running():
            return self._reload()
        self.end_strays()
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "supervisor.supervisord", "-c", self._config],
            env=self._environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise LabError(
                "The supervisor did not start",
                details=tuple((done.stdout + done.stderr).strip().splitlines()[-8:]),
            )
        self._wait_until_up()
        return set()

    def start_process(self, name: str) -> None:
        """Start `name` unless it already runs."""
        if not self.state(name).running:
            self._command("startProcess", name, False, unless="ALREADY_STARTED")

    def stop_process(self, name: str) -> None:
        """Stop `name`, wait until it has ended, and reset its count of deaths."""
        if name not in self.states():
            return
        self._command("stopProcess", name, True, unless="NOT_RUNNING")
        # supervisord keeps its count of quick deaths across a stop and would give up too early.
        with suppress(xmlrpc.client.Fault):  # another command has started it in the meantime
            self._call("removeProcessGroup", name)
            self._call("addProcessGroup", name)

    def state(self, name: str) -> ProcessState:
        return self.states().get(name, ProcessState("STOPPED", None, None))

    def states(self) -> dict[str, ProcessState]:
        """Return process states by service name; empty if supervisord does not run."""
        try:
            entries: list[dict[str, Any]] = self._call("getAllProcessInfo")
        except (OSError, xmlrpc.client.Error):
            return {}
        return {
            entry["name"]: ProcessState(
                state=entry["statename"],
                pid=entry["pid"] or None,
                started_at=float(entry["start"]) if entry["pid"] else None,
            )
            for entry in entries
            if entry["name"] not in _LISTENERS
        }

    def pid(self) -> int | None:
        """Return supervisord's process id; None if it does not run."""
        try:
            return int(self._call("getPID"))
        except (OSError, xmlrpc.client.Error):
            return None

    def shutdown(self) -> None:
        """End supervisord and its processes, including strays of an earlier supervisord."""
        try:
            process = psutil.Process(int(self._call("getPID", seconds=_LAST_ANSWER_SECONDS)))
            if not any(state.running for state in self.states().values()):
                # A regular shutdown would take half a second per process.
                self.kill_all()
                self._state.supervisor_socket.unlink(missing_ok=True)
                return
            self._call("shutdown", seconds=_LAST_ANSWER_SECONDS)
            for late in still_there([process], seconds=90):
                late.kill()
        except (OSError, xmlrpc.client.Error, psutil.NoSuchProcess):
            pass
        except SupervisorTimeoutError:
            # Kill it first, so that it does not restart the processes that end_strays ends.
            for supervisor in self.processes()[:1]:
                supervisor.kill()
        self.end_strays()

    def end_strays(self) -> None:
        """End unsupervised processes of this lab.

        Such processes remain if supervisord itself was killed.
        """
        strays = self.processes()
        for process in filter(self._is_ours, strays):
            # Each process ends its own children, in the right order.
            with suppress(psutil.NoSuchProcess):
                process.terminate()
        for process in still_there(strays, seconds=_STRAY_SECONDS):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        still_there(strays, seconds=_KILL_SECONDS)

    def kill(self) -> None:
        """Kill only supervisord, as if it had crashed: its processes run on unsupervised."""
        process = psutil.Process(int(self._call("getPID")))
        process.kill()
        still_there([process], seconds=_KILL_SECONDS)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Suspend supervisord during the block: it does not answer; its processes run on."""
        process = psutil.Process(int(self._call("getPID")))
        process.suspend()
        try:
            yield
        finally:
            with suppress(psutil.NoSuchProcess):  # `down` may have ended it
                process.resume()

    def kill_all(self, *, but: Collection[str] = ()) -> None:
        """Kill all processes of the lab, supervisord first so that it restarts none.

        Services in `but` keep running; if there are any, so does supervisord.
        """
        ours = self.processes()
        if but:
            spared = self._processes_of(but)
            ours = [process for process in ours if process.pid not in spared]
            self._expect_the_end(but)
        for process in ours:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        still_there(ours, seconds=_KILL_SECONDS)
        if but:
            self._wait_until_noticed(but)

    def _processes_of(self, services: Collection[str]) -> set[int]:
        """Return the ids of the processes of `services` and of supervisord itself."""
        entries: list[dict[str, Any]] = self._call("getAllProcessInfo")
        wanted = [e["pid"] for e in entries if e["name"] in (*services, *_LISTENERS)]
        supervisor = int(self._call("getPID"))
        families = families_below(supervisor, wanted)
        return {supervisor, *(process.pid for family in families.values() for process in family)}

    def _expect_the_end(self, but: Collection[str]) -> None:
        """Prevent supervisord from restarting services other than `but`."""
        for name in self.states().keys() - set(but):
            self._command("stopProcess", name, False, unless="NOT_RUNNING")

    def processes(self) -> list[psutil.Process]:
        """Return all processes of the lab, the oldest (supervisord) first."""
        # Descendants too: PostgreSQL's processes overwrite their environment with their titles.
        ours = with_descendants(p for p in psutil.process_iter() if self._is_ours(p))
        return sorted(ours, key=lambda process: process.create_time())

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get(LAB_MARK) == str(self._state.folder)
        except (psutil.Error, OSError):
            return False

    def _reload(self) -> set[str]:
        added, changed, removed = self._call("reloadConfig")[0]
        for name in (*changed, *removed):
            self._call("stopProcessGroup", name, seconds=_STOP_SECONDS)
            self._call("removeProcessGroup", name)
        for name in (*added, *changed):
            self._call("addProcessGroup", name)
        return set(changed)

    @retry(
        retry=retry_if_exception_type(ConnectionError),
        wait=wait_fixed(0.05),
        stop=stop_after_delay(15),
        reraise=True,
    )
    def _wait_until_up(self) -> None:
        if not self.running():
            raise ConnectionError(f"the supervisor does not answer; see {self._state.logs}")

    def _wait_until_noticed(self, but: Collection[str]) -> None:
        """Wait until supervisord knows that the services other than `but` have ended."""
        deadline = time.monotonic() + _ANSWER_SECONDS
        while any(one.running for name, one in self.states().items() if name not in but):
            if time.monotonic() > deadline:
                raise SupervisorTimeoutError(_ANSWER_SECONDS)
            time.sleep(_POLL_SECONDS)

    def _command(self, method: str, name: str, wait: bool, *, unless: str) -> None:
        """Have supervisord start or stop `name`; accept a refusal that begins with `unless`."""
        try:
            self._call(method, name, wait, seconds=_STOP_SECONDS if wait else None)
        except xmlrpc.client.Fault as fault:
            if not fault.faultString.startswith(unless):
                raise LabError(
                    f"The supervisor refused {method} of {name}: {fault.faultString}",
                    hint=f"its log: {self._state.logs / 'supervisor.log'}",
                ) from None

    def _call(
        self,
        method: str,
        *arguments: object,
        seconds: float | None = None,
        namespace: str = "supervisor",
    ) -> Any:
        """Call supervisord's API over a new connection.

        Raises OSError if supervisord does not run, and SupervisorTimeoutError if the answer takes
        longer than `seconds`.
        """
        limit = self._answer_seconds if seconds is None else seconds
        transport = _Transport(self._state.supervisor_socket, limit)
        try:
            server = xmlrpc.client.ServerProxy("http://localhost", transport=transport)
            return getattr(getattr(server, namespace), method)(*arguments)
        except TimeoutError:
            raise SupervisorTimeoutError(limit) from None
        finally:
            transport.close()

    def _environment(self) -> dict[str, str]:
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return passed | {LAB_MARK: str(self._state.folder)}


class _Connection(UnixStreamHTTPConnection):  # type: ignore[misc]
    """The library's connection with a timeout; the original would wait indefinitely."""

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.socketfile)


class _Transport(SupervisorTransport):  # type: ignore[misc]
    """XML-RPC over a unix socket, with a timeout of `seconds` per answer."""

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__(None, None, serverurl=f"unix://{path}")
        self._path, self._seconds = path, seconds
        self._get_connection = self._open

    def _open(self) -> _Connection:
        connection = _Connection("localhost", timeout=self._seconds)
        connection.socketfile = str(self._path)
        return connection
