"""The native runtime: processes of this user under one supervisor."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar

import psutil

from labctl.artifacts import ArtifactStore, Progress
from labctl.config.endpoints import Endpoints
from labctl.config.model import LabConfig
from labctl.errors import ExitCode, LabError
from labctl.home.listeners import Listener, has_open, listeners_on
from labctl.home.sockets import owner_of
from labctl.home.state import LabState, write_private
from labctl.runtimes.model import Check, Death, DiskSpace, Fetching, ProcessState, Usage
from labctl.runtimes.native.checks import check_machine, check_parts
from labctl.runtimes.native.families import families_below, family_of
from labctl.runtimes.native.freezing import frozen
from labctl.runtimes.native.launch import ADDED_ENVIRONMENT, MOVED
from labctl.runtimes.native.limits import limited_process
from labctl.runtimes.native.logs import follow, tail
from labctl.runtimes.native.memory import run_out_of_memory
from labctl.runtimes.native.parts import fetching_parts
from labctl.runtimes.native.supervisor import ProcessSupervisor
from labctl.services import Context, Service, services_of
from labctl.services.endpoints import loopback_endpoints
from labctl.services.references import write_connector_secrets

__all__ = ["NativeRuntime"]


class NativeRuntime:
    """A runtime that runs services as processes, from the parts in the artefact lock."""

    owns_supervisor: ClassVar[bool] = True
    cuts_off: ClassVar[bool] = False

    def __init__(
        self,
        config: LabConfig,
        state: LabState,
        artifacts: ArtifactStore,
        ports: Mapping[str, Mapping[str, int]],
        passwords: Mapping[str, str],
    ) -> None:
        self.supervisor = ProcessSupervisor(state)
        self._state = state
        self._config = config
        self._artifacts = artifacts
        self._ports = ports
        self._passwords = passwords

    def endpoints(self) -> Endpoints:
        return loopback_endpoints(self._config, self._ports, self._passwords)

    def checks(self) -> list[Check]:
        return check_machine(
            self._state, self._artifacts, services_of(self._config), running=self.running()
        )

    def parts(self) -> list[Check]:
        return check_parts(self._artifacts, services_of(self._config))

    def running(self) -> bool:
        return self.supervisor.running()

    def states(self) -> dict[str, ProcessState]:
        return self.supervisor.states()

    def state(self, name: str) -> ProcessState:
        return self.supervisor.state(name)

    def fetching(
        self, services: Sequence[Service], progress: Progress
    ) -> AbstractContextManager[Fetching]:
        return fetching_parts(self._artifacts, services, progress)

    def write_secrets(self) -> None:
        write_connector_secrets(
            self._state.secrets,
            self.endpoints(),
            self._passwords,
            self._config.silver.source,
        )

    def declare(self, services: Sequence[tuple[Service, Context]]) -> set[str]:
        return self.supervisor.start(
            {service.name: limited_process(service, context) for service, context in services},
            # All ports, so that no other lab takes those of a service that starts later.
            {name: ports.values() for name, ports in self._ports.items()},
        )

    def start(self, service: Service, context: Context) -> None:
        # A killed test may have left the service on other ports.
        self._moved(service.name).unlink(missing_ok=True)
        self._start(service, context)

    def _start(self, service: Service, context: Context) -> None:
        context.conf.mkdir(parents=True, exist_ok=True, mode=0o700)
        service.native_form.prepare(context)
        self.supervisor.start_process(service.name)

    def stop(self, name: str) -> None:
        self.supervisor.stop_process(name)

    def own_ports(self) -> set[int]:
        """Return the ports that the supervisor keeps, whether or not services listen."""
        return self.supervisor.kept_ports()

    def require_own_listeners(self, name: str, pid: int | None) -> None:
        if self._moved(name).is_file():
            return  # a test's proxy listens on its port
        for port in self._ports[name].values():
            for listener in _listeners(port):
                if pid is not None and _listens(pid, listener):
                    continue
                raise ConnectionError(
                    f"port {port} is answered by {owner_of(port)}, which is not this lab's"
                )

    def end_strays(self) -> None:
        self.supervisor.end_strays()

    def shutdown(self) -> None:
        self.supervisor.shutdown()

    def remove(self) -> None:
        """Do nothing: all data is in the lab's state folder."""

    def usages(self) -> dict[str, Usage]:
        """Return usages; memory is the proportional set size, so shared pages count once."""
        pids = {name: state.pid for name, state in self.supervisor.states().items() if state.pid}
        supervisor = self.supervisor.pid() if pids else None
        if supervisor is None:
            return {}
        families = families_below(supervisor, pids.values())
        return {name: _usage(families[pid]) for name, pid in pids.items()}

    def deaths(self) -> dict[str, list[Death]]:
        recorded = self._state.load()
        before = recorded.get("deaths_before")
        # For a lab that an older labctl started, compare times.
        since = float(recorded.get("started_at") or 0) if before is None else 0.0
        deaths: dict[str, list[Death]] = {}
        path = self._state.deaths
        lines = path.read_bytes().splitlines() if path.is_file() else []
        for death in filter(None, map(_death, lines[before or 0 :])):
            if death["at"] >= since and not death["gave_up"]:
                noted = Death(float(death["at"]), str(death.get("cause", "")))
                deaths.setdefault(death["service"], []).append(noted)
        return deaths

    def space(self, name: str) -> DiskSpace | None:
        folder = self._state.data(name)
        try:
            return DiskSpace(str(folder), shutil.disk_usage(folder).free)
        except OSError:
            return None

    def build(self, service: Service) -> str:
        """Return the version of the service's main part, the last one in its record."""
        names = service.native_form.artifacts
        return self._artifacts.version(names[-1]) if names else ""

    def log_file(self, name: str) -> Path:
        return self._state.log(name)

    def tail(self, name: str, lines: int) -> list[str]:
        return tail(self._state.log(name), lines)

    def follow(self, name: str) -> Iterator[str]:
        return follow(self._state.log(name))

    def kill(self, name: str) -> None:
        for process in self._running_family(name):
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def kill_all(self, *, but: Collection[str] = ()) -> None:
        self.supervisor.kill_all(but=but)

    def kill_supervisor(self) -> None:
        self.supervisor.kill()

    def out_of_memory(self, name: str) -> None:
        run_out_of_memory(self._running_family(name)[0])

    def data_folder(self, name: str) -> Path:
        folder = self._state.data(name)
        if not folder.is_dir():
            raise LabError(f"{name} keeps no data of its own", exit_code=ExitCode.USAGE)
        return folder

    def require_files(self) -> None:
        """Do nothing: all data is in `data` in the lab's folder."""

    def frozen(self) -> AbstractContextManager[None]:
        return frozen(self.supervisor.processes)

    @contextmanager
    def with_environment(self, name: str, env: Mapping[str, str]) -> Iterator[None]:
        added = self._state.conf(name) / ADDED_ENVIRONMENT
        write_private(added, json.dumps(dict(env)))
        try:
            self._restart(name)
            yield
        finally:
            added.unlink()
            self._restart(name)

    @contextmanager
    def moved(self, service: Service, own: Context, other: Context) -> Iterator[None]:
        process = service.native_form.process(other)
        self.stop(service.name)
        try:
            told = {"argv": process.argv, "env": dict(process.env)}
            write_private(self._moved(service.name), json.dumps(told))
            self._start(service, other)
            yield
        finally:
            self.stop(service.name)
            self.start(service, own)

    def _moved(self, name: str) -> Path:
        return self._state.conf(name) / MOVED

    def _restart(self, name: str) -> None:
        self.supervisor.stop_process(name)
        self.supervisor.start_process(name)

    def paused_supervisor(self) -> AbstractContextManager[None]:
        return self.supervisor.paused()

    @contextmanager
    def paused(self, name: str) -> Iterator[None]:
        family = self._running_family(name)
        for process in family:
            process.suspend()
        try:
            yield
        finally:
            for process in reversed(family):
                with suppress(psutil.NoSuchProcess):
                    process.resume()

    @contextmanager
    def cut_off(self, name: str) -> Iterator[None]:
        raise LabError(
            f"{name} cannot be cut off: all native services are on one loopback interface",
            hint="a lab of a Compose profile can do it",
            exit_code=ExitCode.USAGE,
        )
        yield

    def _running_family(self, name: str) -> list[psutil.Process]:
        """Return a service's process and descendants. Raise LabError if it does not run."""
        pid = self.supervisor.state(name).pid
        if pid is None:
            raise LabError(f"{name} does not run", hint="labctl up", exit_code=ExitCode.NOT_READY)
        return family_of(pid)


def _listeners(port: int) -> list[Listener]:
    """Return listeners; an empty list in sandboxes that hide sockets (ports are still kept)."""
    try:
        return listeners_on(port)
    except OSError:
        return []


def _listens(pid: int, listener: Listener) -> bool:
    """Return whether a process or one of its descendants has the listening socket open.

    Checks the process itself first: most services listen themselves, and finding descendants is
    slower.
    """
    return has_open([pid], listener) or has_open(
        (process.pid for process in family_of(pid)[1:]), listener
    )


def _death(line: bytes) -> dict[str, Any] | None:
    """Parse a line of the file of deaths; return None for a truncated or damaged line."""
    try:
        death = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match death:
        case {"service": str(), "at": float() as at, "gave_up": bool()} if isfinite(at):
            return dict(death)
    return None


def _usage(family: Sequence[psutil.Process]) -> Usage:
    memory = 0
    seconds: dict[str, float] = {}
    for process in family:
        try:
            times = process.cpu_times()
            seconds[f"{process.pid} {process.create_time()}"] = times.user + times.system
            memory += process.memory_full_info().pss
        except psutil.Error:
            continue
    return Usage(memory, seconds)
