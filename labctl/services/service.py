"""The declarative record that describes a service to the lab."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import SecretStr

from labctl.artifacts import ArtifactStore
from labctl.config.endpoints import Database, Endpoint, Endpoints
from labctl.config.lab_config import LabConfig
from labctl.config.services import ServiceSettings
from labctl.engine_names import EngineName
from labctl.services.container import Container

__all__ = [
    "PASSED_ON",
    "Address",
    "Context",
    "NativeService",
    "Process",
    "Service",
    "Site",
    "Stop",
    "Suspension",
]

Address = Callable[[str, str], str]
"""Function that returns `host:port` of a service's endpoint: `address("kafka", "broker")`."""


PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables of the command that every native process gets."""


@dataclass(frozen=True)
class Site:
    """The inputs of a service's endpoint: addresses, configuration and the lab's passwords."""

    address: Address
    config: LabConfig
    passwords: Mapping[str, str]

    def server(
        self, engine: EngineName, endpoint: str, user: str, role: str, without: str
    ) -> Database:
        """Return a source database's server with the login `user` and the password of `role`.

        Its default database is that of the engine's first source, or `without` if there is none.
        """
        host, _, port = self.address(engine, endpoint).rpartition(":")
        source = next(iter(self.config.sources_of(engine).values()), None)
        begin_in = without if source is None else source.database or source.schemas[0]
        password = SecretStr(self.passwords[role])
        return Database(host=host, port=int(port), user=user, password=password, database=begin_in)


@dataclass(frozen=True)
class Context:
    """The facts about its lab that a service may use."""

    service: Service
    lab: str
    project: Path
    """The folder of `lab.toml`: connectors, the Spark application, seeds."""
    config: LabConfig
    data: Path
    """Folder of the service's persistent data; `down` keeps it, `destroy` removes it."""
    conf: Path
    """Folder of its configuration, written at every start."""
    temp: Path
    """Folder of temporary files, emptied at every start."""
    secrets: Path
    """The folder in which connector references are resolved."""
    ports: Mapping[str, int]
    """This service's own ports by endpoint name."""
    passwords: Mapping[str, str]
    """Generated passwords by role."""
    endpoints: Endpoints
    artifacts: ArtifactStore
    build: Callable[[], str]
    """Function that returns the service's build, for a service that cannot tell its version."""

    @property
    def settings(self) -> ServiceSettings:
        return self.config.settings(self.service.name)

    @property
    def heap(self) -> str:
        """Heap size of the service's JVM: that of `lab.toml`, else the service's default."""
        assert self.service.heap is not None  # noqa: S101 - asked by services that have one
        return self.settings.heap or self.service.heap


@dataclass(frozen=True)
class Stop:
    """The way to stop a process."""

    signal: str = "TERM"
    seconds: int = 15
    """Seconds that it may take before it is killed."""


@dataclass(frozen=True)
class Process:
    """A process to run and supervise."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables added to a minimal environment. They may hold secrets: they are kept in a private
    file."""
    cwd: Path | None = None
    programs: Path | None = None
    """Folder whose programs come first in PATH."""
    stop: Stop = Stop()
    """The way to stop it. The runtime sets it from the service's record."""
    data_mib: int | None = None
    """Limit in MiB on the private memory of each of its processes; None: no limit."""


@dataclass(frozen=True)
class NativeService:
    """Instructions for starting a service in the native runtime."""

    artifacts: tuple[str, ...]
    """Names in the artefact lock."""
    process: Callable[[Context], Process]
    memory_mib: int
    """Its peak memory with default settings, including a first load."""
    refuses_root: bool = False
    """True if its program refuses to run as root."""
    prepare: Callable[[Context], None] = lambda _: None
    """Function that writes configuration and initialises the data folder. It runs before every
    start and is idempotent."""


@dataclass(frozen=True)
class Suspension:
    """Functions that make a running service release its data, so that the data can be replaced."""

    suspend: Callable[[Context], None]
    """Function that blocks until the service has stopped all I/O; it raises if that fails."""
    resume: Callable[[Context], None]
    """Function that makes the service continue with the current data. It does nothing if the
    service is not suspended."""


@dataclass(frozen=True, eq=False)
class Service:
    """A part of the lab; its name identifies it.

    `probe` sends a request that only a usable service can answer and returns how the service
    describes itself (a version); any exception means that it is not usable yet. `setup` creates
    what others need from it (users, buckets); it runs after every start and is idempotent.
    """

    name: str
    title: str
    ports: Mapping[str, int]
    """Preferred port by endpoint name."""
    native: NativeService | None
    """Its native form; None for a service of the user's own that runs in a container only."""
    probe: Callable[[Context], str]
    endpoint: Callable[[Site], Endpoint]
    """Function that returns its endpoint: its address and login."""
    owner: Callable[[Site], Database] | None = None
    """For a source database's server: function that returns the login that owns only the sources'
    databases. None: there is only one login."""
    passwords: tuple[str, ...] = ()
    """Roles whose passwords it needs; each password is generated with the lab."""
    own_database: bool = False
    """True if it keeps its state in a database of the lab's PostgreSQL. The database has its name,
    and so have the role that owns it and the password of that role."""
    heap: str | None = None
    """Default heap size of its JVM; None if it has no JVM."""
    container: Container | None = None
    """Its container form; None for a service of the user's own: its section has it."""
    stop: Stop = Stop()
    enabled: Callable[[LabConfig], bool] = lambda _: True
    """Function that returns whether a lab has the service at all."""
    depends_on: tuple[str, ...] = ()
    """Services that must be usable before this one can be, if the lab has them."""
    starts_beside: bool = False
    """True if it waits for its dependencies in `after` itself, so that it can start with them."""
    ephemeral: bool = False
    """True if none of its data outlives its process, so that snapshots contain none of it."""
    suspension: Suspension | None = None
    """Functions to suspend and resume it, for a service that is slow to start; else None."""
    is_own: bool = False
    """True if the user's `lab.toml` defines it."""
    checked_by_container: bool = False
    """True if `probe` works natively only: in a container its health check decides."""
    setup: Callable[[Context], None] = lambda _: None
    urls: Callable[[Endpoints, Mapping[str, int]], Mapping[str, str]] = lambda *_: {}
    """Function that returns addresses for people to open or connect to, by label; no secrets."""
    ready_seconds: int = 60
    """Seconds from its start until it must be usable, on a machine that is not busy."""

    def __eq__(self, other: object) -> bool:
        """Return whether `other` is the same service: records of the user's are made repeatedly."""
        return isinstance(other, Service) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def sidecars(self) -> tuple[str, ...]:
        """Services of the Compose file that are started with its container."""
        return self.container.sidecars if self.container else ()

    @property
    def native_form(self) -> NativeService:
        """The native form of a service that runs natively, and therefore has one."""
        assert self.native is not None  # noqa: S101 - labs leave out what has no form
        return self.native
