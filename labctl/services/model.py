"""What a service is to the lab: one small declarative record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import SecretStr

from labctl.artifacts import ArtifactStore
from labctl.config.endpoints import Database, Endpoint, Endpoints
from labctl.config.model import LabConfig, ServiceSettings, SourceEngine

__all__ = [
    "Address",
    "Container",
    "Context",
    "Files",
    "NativeService",
    "Process",
    "Recipe",
    "Service",
    "Site",
    "Suspension",
]

Address = Callable[[str, str], str]
"""`host:port` of a service's endpoint: `address("kafka", "broker")`."""


@dataclass(frozen=True)
class Site:
    """What a service's endpoint is made from: where the lab's services are, and its passwords."""

    address: Address
    config: LabConfig
    passwords: Mapping[str, str]

    def server(
        self, engine: SourceEngine, endpoint: str, user: str, role: str, without: str
    ) -> Database:
        """A source database's server, as `user`, whose password is that of `role`.

        A client begins in the database of its first source, or in `without`.
        """
        host, _, port = self.address(engine, endpoint).rpartition(":")
        source = next(iter(self.config.sources_of(engine).values()), None)
        begin_in = without if source is None else source.database or source.schemas[0]
        password = SecretStr(self.passwords[role])
        return Database(host=host, port=int(port), user=user, password=password, database=begin_in)


@dataclass(frozen=True)
class Context:
    """What a service may know of the lab it runs in."""

    service: Service
    lab: str
    project: Path
    """The folder of `lab.toml`: connectors, the Spark application, seeds."""
    config: LabConfig
    data: Path
    """What the service keeps; survives `down`, removed by `destroy`."""
    conf: Path
    """Configuration, written at every start."""
    temp: Path
    """Temporary files, emptied at every start."""
    secrets: Path
    """The folder that connector references are resolved against."""
    ports: Mapping[str, int]
    """This service's own ports by endpoint name."""
    passwords: Mapping[str, str]
    """Generated passwords by role."""
    endpoints: Endpoints
    artifacts: ArtifactStore
    build: Callable[[], str]
    """What the runtime made the service from: of use to one that cannot tell its own version."""

    @property
    def settings(self) -> ServiceSettings:
        return self.config.settings(self.service.name)

    @property
    def heap(self) -> str:
        """Size of the service's JVM's heap: what `lab.toml` says, else its own."""
        assert self.service.heap is not None  # noqa: S101 - asked by services that have one
        return self.settings.heap or self.service.heap


@dataclass(frozen=True)
class Process:
    """A process to run and supervise."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to a minimal environment; may hold secrets (the file it is kept in is private)."""
    cwd: Path | None = None
    stop_signal: str = "TERM"
    stop_seconds: int = 15
    """How long it may take to stop before it is killed."""
    data_mib: int | None = None
    """How much private memory the kernel lets each of its processes have; None: any."""


@dataclass(frozen=True)
class NativeService:
    """How the native runtime starts a service."""

    artifacts: tuple[str, ...]
    """Names in the artefact lock."""
    process: Callable[[Context], Process]
    memory_mib: int
    """What it takes at most with its own settings, a first load included."""
    prepare: Callable[[Context], None] = lambda _: None
    """Write configuration, initialise the data folder. Run before every start; idempotent."""


@dataclass(frozen=True)
class Recipe:
    """A Dockerfile below compose/images, and what its context holds beside it."""

    name: str
    folder: str
    """Of the Dockerfile, below compose/images."""
    version: str | None = None
    """The artefact whose version the image carries; None: labctl's own."""
    parents: Mapping[str, str] = field(default_factory=lambda: {"BASE": "jre"})
    """Build arguments that name another recipe's image."""
    artifacts: tuple[str, ...] = ()
    """Unpacked below `artifacts/` in the context."""
    shared: tuple[str, ...] = ()
    """Other folders of compose/images/local in the context."""
    cached: tuple[str, ...] = ()
    """Artefacts below `cache/` in the context, as they are in labctl's own cache."""
    wheels: bool = False
    """Python packages of requirements.lock below `wheels/` in the context."""
    project: bool = False
    """The context is the project itself."""


@dataclass(frozen=True)
class Suspension:
    """How a service lets go of all data while it runs, so that others can take their place."""

    suspend: Callable[[Context], None]
    """Returns once it reads and writes nothing any more. Raises whatever tells that it does not."""
    resume: Callable[[Context], None]
    """Have it go on, by the data that are there now. Does nothing where it is not suspended."""


Files = Mapping[str, str | Callable[[], str]]
"""Texts by file name. One that is still to be made stays as it is once it is there."""


@dataclass(frozen=True)
class Container:
    """How a service runs in a container, beside what the Compose file says."""

    recipes: tuple[Recipe, ...] = ()
    """Its image from packages alone, behind those it is made from; none where it comes in none."""
    companions: tuple[str, ...] = ()
    """Services of the Compose file that are started with it, beside those it needs."""
    reads_references: bool = False
    """Whether it resolves the references in connector files."""
    secrets: Callable[[Endpoints, Mapping[str, str]], Mapping[str, Files]] | None = None
    """What it and its companions read, by Compose service, from the endpoints and the passwords.

    None: each of its passwords, from a file of that name.
    """
    variables: Callable[[Path, LabConfig], Mapping[str, str]] = lambda *_: {}
    """What the Compose file leaves open of it, from the project's folder and `lab.toml`; no secret.

    Asked of a lab that has the service. Its ports and its image need no line here.
    """


@dataclass(frozen=True)
class Service:
    """One part of the lab.

    `probe` asks the service something only a usable one can answer and returns what it said of
    itself (a version); any exception means not yet. `setup` makes what others need of it
    (users, buckets); it runs after every start and is idempotent.
    """

    name: str
    title: str
    ports: Mapping[str, int]
    """Preferred port by endpoint name."""
    native: NativeService
    probe: Callable[[Context], str]
    endpoint: Callable[[Site], Endpoint]
    """Where it answers, and as whom to ask."""
    owner: Callable[[Site], Database] | None = None
    """Of a source database's server: the login that owns sources' databases and nothing else. None:
    there is one login."""
    passwords: tuple[str, ...] = ()
    """Roles whose passwords it needs; each is generated with the lab."""
    own_database: bool = False
    """Whether it keeps its state in a database of the lab's PostgreSQL. The database has its name,
    and so have the role that owns it and the password of that role."""
    heap: str | None = None
    """Of its JVM, where it is one."""
    container: Container = Container()
    needed: Callable[[LabConfig], bool] = lambda _: True
    """Whether a lab has the service at all."""
    after: tuple[str, ...] = ()
    """Services that must be usable before this one can be, where the lab has them."""
    starts_beside: bool = False
    """Whether it waits for those in `after` by itself, so that it can be started beside them."""
    forgets: bool = False
    """Whether nothing that it holds outlives its process: then no snapshot has any of it."""
    suspension: Suspension | None = None
    """Of one whose start takes much longer than that of what it does."""
    setup: Callable[[Context], None] = lambda _: None
    urls: Callable[[Endpoints, Mapping[str, int]], Mapping[str, str]] = lambda *_: {}
    """What a person may open or connect to, by label; holds no secrets."""
    ready_seconds: int = 60
    """How long it may take from its start until it is usable, on a machine that is not busy."""
