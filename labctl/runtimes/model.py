"""What a lab asks of the runtime its services run on."""

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
from labctl.services.model import Context, Service

__all__ = [
    "FULL_BELOW",
    "LAST_WORDS",
    "OUT_OF_HEAP",
    "OUT_OF_MEMORY",
    "OVER_LIMIT",
    "RESTARTS_AT_MOST",
    "AllFetched",
    "Check",
    "Death",
    "DiskSpace",
    "Fetching",
    "Level",
    "ProcessState",
    "Runtime",
    "SilentSupervisorError",
]

RESTARTS_AT_MOST = 5
"""Deaths within a few seconds of starting, in a row, after which a service is given up."""

FULL_BELOW = 32 * 1024**2
"""Bytes free below which a disk counts as full: PostgreSQL and MySQL want their next log file, of
16 MiB and more, in one piece."""
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
"""How a line begins that a process says before it ends for lack of memory, and why that is."""


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """One finding about the machine, and what to do about it."""

    name: str
    level: Level
    detail: str
    hint: str | None = None


@dataclass(frozen=True)
class ProcessState:
    """What a runtime knows of a service's process."""

    state: str
    """RUNNING, STARTING, BACKOFF (dies at once, tried again), FATAL (given up), STOPPED, …"""
    pid: int | None
    """On this machine; of a container, that of its first process."""
    started_at: float | None
    """Seconds since the epoch."""

    @property
    def running(self) -> bool:
        return self.state in ("RUNNING", "STARTING")

    @property
    def dead(self) -> bool:
        return self.state in ("FATAL", "EXITED", "STOPPED", "UNKNOWN")


class SilentSupervisorError(LabError):
    """What looks after the services runs, and does not answer."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The lab's supervisor runs, but did not answer within {seconds:.0f} s",
            hint="`labctl down` ends it and all that it runs; `labctl up` starts them again",
            exit_code=ExitCode.NOT_READY,
        )


@dataclass(frozen=True)
class Death:
    """One death of a service that nobody asked for."""

    at: float
    """Seconds since the epoch."""
    cause: str = ""
    """Why, where that is known: a phrase such as `OUT_OF_HEAP`."""


@dataclass(frozen=True)
class DiskSpace:
    """What is left on the file system that holds a service's data."""

    folder: str
    """The data's; of a container, as seen from within."""
    free_bytes: int

    @property
    def is_full(self) -> bool:
        return self.free_bytes < FULL_BELOW


@dataclass(frozen=True)
class Usage:
    """What a service takes."""

    memory_bytes: int
    """Now."""
    cpu_seconds: Mapping[str, float]
    """So far, by what counts them from 0: a process, or a container's start."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.memory_bytes + other.memory_bytes, {**self.cpu_seconds, **other.cpu_seconds}
        )


class Fetching(Protocol):
    """Parts on their way, so that what has its own need not wait for the others."""

    def first(self) -> Sequence[Service]:
        """The services that need nothing which takes minutes to make; waits for their parts.

        Raises LabError.
        """

    def rest(self) -> None:
        """Wait for all other parts. Raises LabError."""


@dataclass(frozen=True)
class AllFetched:
    """All parts are there."""

    services: Sequence[Service]

    def first(self) -> Sequence[Service]:
        return self.services

    def rest(self) -> None: ...


class Runtime(Protocol):
    """Starts a lab's services, watches them, and tells how they are.

    It knows services by their records and names; what makes one usable is not its business.
    Any method but `shutdown` may raise SilentSupervisorError.
    """

    owns_supervisor: ClassVar[bool]
    """Whether what looks after the services is the lab's own: `kill_supervisor` and
    `paused_supervisor` work."""
    cuts_off: ClassVar[bool]
    """Whether a service can be taken off its network: `cut_off` works."""

    def endpoints(self) -> Endpoints:
        """Where the services answer, seen from this machine."""

    def checks(self) -> list[Check]:
        """What must hold before `up` starts anything."""

    def parts(self) -> list[Check]:
        """Whether what services are made of is there, or would be fetched by `up`."""

    def running(self) -> bool:
        """Whether anything of the lab runs."""

    def states(self) -> dict[str, ProcessState]:
        """Every service's process by service name; empty when nothing of the lab runs."""

    def state(self, name: str) -> ProcessState:
        """One service's process; STOPPED when there is none."""

    def fetching(
        self, services: Sequence[Service], progress: Progress
    ) -> AbstractContextManager[Fetching]:
        """Get what `services` are made of, unless it is there. Left early, it ends."""

    def write_secrets(self) -> None:
        """Write what services and connectors read, where only they and this user can."""

    def declare(self, services: Sequence[tuple[Service, Context]]) -> set[str]:
        """Make services known, none started yet; the names of running ones to restart."""

    def start(self, service: Service, context: Context) -> None:
        """Start a service unless it runs."""

    def stop(self, name: str) -> None:
        """Stop a service and wait until it is gone."""

    def own_ports(self) -> set[int]:
        """Ports that the lab itself holds open, whether or not the service behind them runs."""

    def require_own_listeners(self, name: str, pid: int | None) -> None:
        """Raise ConnectionError if another program listens on a port of the service.

        `pid` is the service's process; None when it does not run.
        """

    def end_strays(self) -> None:
        """End what an earlier lab of this name left that nobody looks after."""

    def shutdown(self) -> None:
        """Stop all there is, strays included. Data stays."""

    def remove(self) -> None:
        """Delete data that is not in the lab's state folder. Nothing runs any more."""

    def usages(self) -> dict[str, Usage]:
        """What each service that runs takes, by its name."""

    def deaths(self) -> dict[str, list[Death]]:
        """Every death by service, in order, since the lab was started."""

    def space(self, name: str) -> DiskSpace | None:
        """What is left for a service's data; None when it has none, or that cannot be told."""

    def build(self, service: Service) -> str:
        """What a service is built from, for those that cannot tell their own version."""

    def log_file(self, name: str) -> Path | None:
        """The file a service logs to, where there is one."""

    def tail(self, name: str, lines: int) -> list[str]:
        """The last `lines` lines a service logged."""

    def follow(self, name: str) -> Iterator[str]:
        """Lines a service logs from now on, for ever."""

    def kill(self, name: str) -> None:
        """End a service's processes at once (`kill -9`); the runtime starts it again."""

    def kill_all(self, *, but: Collection[str] = ()) -> None:
        """End everything at once, with what would start it again. Waits until it is gone.

        What looks after the services goes on if one of them is to: those in `but`.
        """

    def kill_supervisor(self) -> None:
        """End what looks after the services, and nothing else. Raises LabError where that is not
        the lab's own."""

    def out_of_memory(self, name: str) -> None:
        """Have the kernel kill a service for lack of memory; the runtime starts it again.

        Raises LabError (USAGE) where that is not possible.
        """

    def data_folder(self, name: str) -> Path:
        """Where this machine has a service's data. Raises LabError (USAGE) when it has none, or
        when they are out of reach."""

    def require_files(self) -> None:
        """Raises LabError (USAGE) unless all that services keep is in the lab's own folder."""

    def frozen(self) -> AbstractContextManager[None]:
        """All that runs of the lab stands still, its supervisor too: no file of it changes."""

    def with_environment(self, name: str, env: Mapping[str, str]) -> AbstractContextManager[None]:
        """A service runs with `env` beside its own environment. It is restarted for that, and
        again afterwards. Raises LabError (USAGE) where that is not possible."""

    def moved(self, service: Service, own: Context, other: Context) -> AbstractContextManager[None]:
        """A service runs as `other` says, which may have other ports. It is restarted for that,
        and again afterwards as its `own` context says. Raises LabError (USAGE) where that is not
        possible."""

    def paused_supervisor(self) -> AbstractContextManager[None]:
        """What looks after the services stands still, and they go on. Raises LabError where that
        is not the lab's own."""

    def paused(self, name: str) -> AbstractContextManager[None]:
        """A service stands still: its connections stay open, and nothing answers."""

    def cut_off(self, name: str) -> AbstractContextManager[None]:
        """A service runs on and no packet reaches it. Raises LabError if that is not possible."""
