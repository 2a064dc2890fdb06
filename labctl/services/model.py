"""What a service is to the lab: one small declarative record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labctl.artifacts import ArtifactStore
from labctl.config.endpoints import Endpoints
from labctl.config.model import LabConfig, ServiceSettings

__all__ = ["Context", "NativeService", "Process", "Service"]


@dataclass(frozen=True)
class Context:
    """What a service may know of the lab it runs in."""

    service: str
    lab: str
    project: Path
    """The folder of `lab.toml`: connectors, the Spark application, seeds."""
    config: LabConfig
    data: Path
    """What the service keeps; survives `down`, removed by `destroy`."""
    conf: Path
    """Configuration written anew at every start."""
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
        return self.config.settings(self.service)


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


@dataclass(frozen=True)
class NativeService:
    """How the native runtime starts a service."""

    artifacts: tuple[str, ...]
    """Names in the artefact lock."""
    process: Callable[[Context], Process]
    memory_mib: int
    """What it takes at most with its own settings, a first load of TICKIT included."""
    prepare: Callable[[Context], None] = lambda _: None
    """Write configuration, initialise the data folder. Run before every start; idempotent."""


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
    needed: Callable[[LabConfig], bool] = lambda _: True
    """Whether a lab has the service at all."""
    after: tuple[str, ...] = ()
    """Services that must be usable before this one is started."""
    setup: Callable[[Context], None] = lambda _: None
    urls: Callable[[Endpoints, Mapping[str, int]], Mapping[str, str]] = lambda *_: {}
    """What a person may open or connect to, by label; holds no secrets."""
    ready_seconds: int = 60
    """How long it may take from its start until it is usable, on a machine that is not busy."""
