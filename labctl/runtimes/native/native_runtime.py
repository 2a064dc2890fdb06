"""The native runtime: processes of this user under one supervisor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from labctl.artifacts import ArtifactStore, Progress
from labctl.config.endpoints import Endpoints
from labctl.config.lab_config import LabConfig
from labctl.runtimes.native.families import family_of
from labctl.runtimes.native.native_checks import check_machine, check_parts
from labctl.runtimes.native.native_data_files import NativeDataFiles
from labctl.runtimes.native.native_faults import NativeFaults, moved_file
from labctl.runtimes.native.native_inspector import NativeInspector
from labctl.runtimes.native.native_limits import limited_process
from labctl.runtimes.native.native_logs import NativeLogs
from labctl.runtimes.native.parts import fetching_parts
from labctl.runtimes.native.supervisor import ProcessSupervisor
from labctl.runtimes.runtime_protocols import Check, Fetching, ProcessState
from labctl.services.lab_services import services_of
from labctl.services.local_endpoints import loopback_endpoints
from labctl.services.reference_files import write_connector_secrets
from labctl.services.service import Context, Service
from labctl.state.lab_state import LabState
from labctl.state.listeners import Listener, has_open, listeners_on
from labctl.state.sockets import owner_of

__all__ = ["NativeRuntime"]


class NativeRuntime:
    """A runtime that runs services as processes, from the parts in the artefact lock."""

    def __init__(
        self,
        config: LabConfig,
        state: LabState,
        artifacts: ArtifactStore,
        ports: Mapping[str, Mapping[str, int]],
        passwords: Mapping[str, str],
    ) -> None:
        self.supervisor = ProcessSupervisor(state)
        self.logs = NativeLogs(state)
        self.inspector = NativeInspector(state, self.supervisor, artifacts)
        self.files = NativeDataFiles(state, self.supervisor)
        self.faults = NativeFaults(state, self.supervisor, self._start)
        self._state = state
        self._config = config
        self._artifacts = artifacts
        self._ports = ports
        self._passwords = passwords

    def endpoints(self) -> Endpoints:
        return loopback_endpoints(self._config, self._ports, self._passwords)

    def checks(self) -> list[Check]:
        return check_machine(
            self._state,
            self._artifacts,
            services_of(self._config),
            running=self.supervisor.running(),
        )

    def parts(self) -> list[Check]:
        return check_parts(self._artifacts, services_of(self._config))

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
            # All ports, so that no other lab takes those of a service that starts later. A kept
            # port can be used at 127.0.0.1 alone, and an application may listen elsewhere.
            {
                name: ports.values()
                for name, ports in self._ports.items()
                if name not in self._config.own_services
            },
        )

    def start(self, service: Service, context: Context) -> None:
        # A killed test may have left the service on other ports.
        moved_file(self._state, service.name).unlink(missing_ok=True)
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
        if moved_file(self._state, name).is_file():
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
