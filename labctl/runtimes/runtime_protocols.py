"""The interface between a lab and the runtime of its services."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Protocol

from labctl.artifacts import Progress
from labctl.config.endpoints import Endpoints
from labctl.errors import ExitCode, LabError
from labctl.services.service import Context, Service

__all__ = [
    "FULL_BELOW",
    "LAST_WORDS",
    "OUT_OF_HEAP",
    "OUT_OF_MEMORY",
    "OVER_LIMIT",
    "RESTARTS_AT_MOST",
    "AllFetched",
    "Check",
    "DataFiles",
    "Death",
    "DiskSpace",
    "FaultInjector",
    "Fetching",
    "Inspector",
    "Level",
    "ProcessState",
    "Runtime",
    "ServiceLogs",
    "SupervisorTimeoutError",
    "Usage",
]

RESTARTS_AT_MOST = 5
"""Consecutive deaths within a few seconds of starting after which a service is given up."""

FULL_BELOW = 32 * 1024**2
"""Free bytes below which a disk counts as full: PostgreSQL and MySQL allocate a whole new log file
of 16 MiB or more."""
OUT_OF_MEMORY = "killed for lack of memory"
OUT_OF_HEAP = "ran out of heap"
OVER_LIMIT = "used all the memory that it may have"
LAST_WORDS = {
    "Terminating due to java.lang.OutOfMemoryError": OUT_OF_HEAP,  # -XX:+ExitOnOutOfMemoryError
    "# There is insufficient memory for the Java Runtime": OVER_LIMIT,
    "fatal error: out of memory": OVER_LIMIT,  # Go's
    "fatal error: runtime: cannot allocate memory": OVER_LIMIT,
    "MemoryError": OVER_LIMIT,  # Python's
}
"""First words of the line that a process logs before it ends for lack of memory, with the cause."""


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """A finding about the machine, and what to do about it."""

    name: str
    level: Level
    detail: str
    hint: str | None = None


@dataclass(frozen=True)
class ProcessState:
    """The state of a service's process."""

    state: str
    """RUNNING, STARTING, BACKOFF (died at once, will be retried), FATAL (given up), STOPPED, …"""
    pid: int | None
    """Process id on this machine; for a container, of its first process."""
    started_at: float | None
    """Start time in seconds since the epoch."""
    healthy: bool | None = None
    """True if a container's health check passes; None if there is none."""

    @property
    def running(self) -> bool:
        return self.state in ("RUNNING", "STARTING")

    @property
    def dead(self) -> bool:
        return self.state in ("FATAL", "EXITED", "STOPPED", "UNKNOWN")


class SupervisorTimeoutError(LabError):
    """The supervisor of the services runs but does not answer."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The lab's supervisor runs, but did not answer within {seconds:.0f} s",
            hint="`labctl down` ends it and all that it runs; `labctl up` starts them again",
            exit_code=ExitCode.NOT_READY,
        )


@dataclass(frozen=True)
class Death:
    """An unexpected death of a service."""

    at: float
    """Time of the death in seconds since the epoch."""
    cause: str = ""
    """The cause if it is known, a phrase such as `OUT_OF_HEAP`."""


@dataclass(frozen=True)
class DiskSpace:
    """Free space on the file system that holds a service's data."""

    folder: str
    """Folder of the data; for a container, the path inside it."""
    free_bytes: int

    @property
    def is_full(self) -> bool:
        return self.free_bytes < FULL_BELOW


@dataclass(frozen=True)
class Usage:
    """Memory and CPU time that a service uses."""

    memory_bytes: int
    """Bytes in use now."""
    cpu_seconds: Mapping[str, float]
    """CPU seconds so far, by the process or container start that counts from 0."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.memory_bytes + other.memory_bytes, {**self.cpu_seconds, **other.cpu_seconds}
        )


class Fetching(Protocol):
    """A fetch in progress, so that services whose parts are complete can start early."""

    def first(self) -> Sequence[Service]:
        """Return the services without parts that take minutes to build, once they are fetched.

        Raises LabError.
        """

    def rest(self) -> None:
        """Wait for all remaining parts. Raises LabError."""


@dataclass(frozen=True)
class AllFetched:
    """A finished fetch: all parts are there."""

    services: Sequence[Service]

    def first(self) -> Sequence[Service]:
        return self.services

    def rest(self) -> None: ...


class ServiceLogs(Protocol):
    """The logs of the services."""

    def file(self, name: str) -> Path | None:
        """Return the file a service logs to, if there is one."""

    def tail(self, name: str, lines: int) -> list[str]:
        """Return the last `lines` lines that a service logged."""

    def follow(self, name: str) -> Iterator[str]:
        """Yield the lines that a service logs from now on, without end."""


class Inspector(Protocol):
    """The facts about services beyond their state."""

    def usages(self) -> dict[str, Usage]:
        """Return the usage of each running service, by name."""

    def deaths(self) -> dict[str, list[Death]]:
        """Return all deaths by service, in order, since the lab was started."""

    def space(self, name: str) -> DiskSpace | None:
        """Return the space left for a service's data; None if it has none or it is unknown."""

    def build(self, service: Service) -> str:
        """Return the build of a service, for services that do not report their version."""


class DataFiles(Protocol):
    """The files in which services keep their data."""

    def folder(self, name: str) -> Path:
        """Return the folder of a service's data on this machine. Raise LabError (USAGE) if it has
        none or the folder cannot be accessed."""

    def require(self) -> None:
        """Raise LabError (USAGE) unless all services keep their data in the lab's folder."""

    def frozen(self) -> AbstractContextManager[None]:
        """Pause all processes of the lab, including the supervisor, so that no file changes."""


class FaultInjector(Protocol):
    """Faults that a runtime can make. A block's fault has ended when the block has.

    A method raises LabError (USAGE) for a fault that the runtime cannot make.
    """

    owns_supervisor: ClassVar[bool]
    """True if the lab has its own supervisor, so that `kill_supervisor` and `paused_supervisor`
    work."""
    cuts_off: ClassVar[bool]
    """True if a service can be disconnected from its network, so that `cut_off` works."""

    def kill(self, name: str) -> None:
        """Kill a service's processes (`kill -9`); the runtime starts the service again."""

    def kill_all(self, *, but: Collection[str] = ()) -> None:
        """Kill all services and their supervisor at once, and wait until they have ended.

        Services in `but` keep running; if there are any, so does the supervisor.
        """

    def kill_supervisor(self) -> None:
        """Kill the supervisor and nothing else."""

    def out_of_memory(self, name: str) -> None:
        """Have the kernel kill a service for lack of memory; the runtime starts it again."""

    def with_environment(self, name: str, env: Mapping[str, str]) -> AbstractContextManager[None]:
        """Restart a service with `env` added to its environment, and restart it without `env`
        afterwards."""

    def moved(self, service: Service, own: Context, other: Context) -> AbstractContextManager[None]:
        """Restart a service with the context `other`, which may have other ports, and restart it
        with its `own` context afterwards."""

    def paused_supervisor(self) -> AbstractContextManager[None]:
        """Pause the supervisor while the services keep running."""

    def paused(self, name: str) -> AbstractContextManager[None]:
        """Pause a service: its connections stay open but nothing answers."""

    def cut_off(self, name: str) -> AbstractContextManager[None]:
        """Disconnect a running service from the network."""


class Runtime(Protocol):
    """The runtime that starts a lab's services, watches them and reports their state.

    It knows services by their records and names. It does not decide whether a service is ready.
    Any method but `shutdown` may raise SupervisorTimeoutError.
    """

    @property
    def logs(self) -> ServiceLogs:
        """The services' logs."""

    @property
    def inspector(self) -> Inspector:
        """Facts about the services: usage, deaths, space, builds."""

    @property
    def files(self) -> DataFiles:
        """The services' data."""

    @property
    def faults(self) -> FaultInjector:
        """Faults on purpose."""

    def endpoints(self) -> Endpoints:
        """Return the services' addresses as seen from this machine."""

    def checks(self) -> list[Check]:
        """Check the conditions that must hold before `up` starts anything."""

    def parts(self) -> list[Check]:
        """Check whether the services' parts are there or `up` would have to fetch them."""

    def fetching(
        self, services: Sequence[Service], progress: Progress
    ) -> AbstractContextManager[Fetching]:
        """Fetch the missing parts of `services`; stop fetching if the block is left early."""

    def write_secrets(self) -> None:
        """Write the secrets that services and connectors read, for them and this user only."""

    def declare(self, services: Sequence[tuple[Service, Context]]) -> set[str]:
        """Declare services without starting any; return the names of those to restart."""

    def start(self, service: Service, context: Context) -> None:
        """Start a service unless it already runs."""

    def stop(self, name: str) -> None:
        """Stop a service and wait until it has ended."""

    def states(self) -> dict[str, ProcessState]:
        """Return the process states by service name; empty if no part of the lab runs."""

    def state(self, name: str) -> ProcessState:
        """Return the state of a service's process; STOPPED if there is none."""

    def own_ports(self) -> set[int]:
        """Return the ports that the lab itself holds, whether or not their services run."""

    def require_own_listeners(self, name: str, pid: int | None) -> None:
        """Raise ConnectionError if another program listens on a port of the service.

        `pid` is the service's process; None if it does not run.
        """

    def end_strays(self) -> None:
        """End unsupervised processes of an earlier lab of this name."""

    def shutdown(self) -> None:
        """Stop everything, including stray processes. Keeps the data."""

    def remove(self) -> None:
        """Delete data outside the lab's state folder. No service may be running."""
