"""`lab.toml`, typed: which services run, their sizes, and the profiles over them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from labctl.config.aws import AwsProfile
from labctl.config.reading import read_section
from labctl.config.section import Section, SourceEngine
from labctl.errors import ExitCode, LabError
from lakehouse.options import SourceName

__all__ = [
    "NOT_SOURCES",
    "OPTIONAL",
    "ApiSettings",
    "CacheSettings",
    "ComposeProfile",
    "ConnectorSettings",
    "LabConfig",
    "MetastoreSettings",
    "NativeProfile",
    "Profile",
    "ServiceSettings",
    "SilverSettings",
    "SilverSource",
    "Source",
    "SourceEngine",
    "ThriftServerSettings",
    "find_project",
    "lab_file",
]

LAB_NAME_PATTERN = r"^[a-z][a-z0-9-]{0,29}$"
SilverSource = SourceName
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,29}$")]
OPTIONAL = ("cache", "api")
"""Services that a lab may be without: each has a section of its name, with `enabled`."""
NOT_SOURCES = ("kafka", "registry", "objectstore")
"""Secrets of the lab are called so, and each source has a secret of its name."""


def _within_the_project(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError("name what lies within the project's folder")
    return str(path)


Folder = Annotated[str, AfterValidator(_within_the_project)]
File = Folder
Port = Annotated[int, Field(ge=1024, le=65535)]
Memory = Annotated[str, Field(pattern=r"^[1-9][0-9]*[mg]$")]
"""A JVM-style size: `256m`, `2g`."""


class ServiceSettings(Section):
    """Sizes of one service. What is left out has the service's own default."""

    ports: dict[str, Port] = Field(default_factory=dict)
    """Fixed ports by endpoint name; a fixed port that is taken is an error, never moved."""
    heap: Memory | None = None
    """JVM heap, for the services that have one."""
    start_seconds: Annotated[int, Field(ge=1, le=86_400)] | None = None
    """How long it may take to be usable after it was started. Without it the service's own limit,
    which is longer on a busy machine."""


class Source(Section):
    """A source database and the connector that captures it."""

    engine: SourceEngine
    database: str | None = Field(default=None, min_length=1)
    """Its database in the server. MySQL has none: what it calls so are its schemas."""
    schemas: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
    """The schemas whose tables are captured."""
    connector: str
    """Name of the file in `connectors/`, without `.json`."""
    schema_file: File | None = None
    """SQL that makes its tables, relative to the project's folder. Safe to run again: `up` does
    when it has changed."""
    migrate: Annotated[str, Field(min_length=1)] | None = None
    """The command that makes its tables, run in the project's folder with the variables of
    `labctl env`."""
    rows_file: File | None = None
    """SQL that is run once, behind them."""

    @property
    def makes_tables(self) -> bool:
        """Whether the project says how its tables are made: then `up` makes and captures them."""
        return any((self.schema_file, self.migrate, self.rows_file))

    @model_validator(mode="after")
    def _fits_engine(self) -> Self:
        if self.engine == "mysql" and self.database is not None:
            raise ValueError("MySQL has no databases beside its schemas: leave `database` out")
        if self.engine != "mysql" and self.database is None:
            raise ValueError('name the database that holds the schemas: database = "…"')
        return self


class ConnectorSettings(Section):
    allow: list[str] = Field(default_factory=list)
    """Configuration keys of connector files that pass though no plugin is known to read them."""


class SilverSettings(Section):
    source: SilverSource = "kafka"
    """Where the Spark application reads changes: the topics, or the bronze files."""
    properties: Annotated[tuple[Folder, ...], Field(min_length=1)] = ("spark/properties",)
    """Folders of the tables' properties files, relative to the project's."""


class LakeSettings(Section):
    bucket: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$")] = "lake"
    region: str = "us-east-1"


class CacheSettings(Section):
    enabled: bool = False
    """Whether the lab has a cache for what is built on the lake."""


class ApiSettings(Section):
    enabled: bool = False
    """Whether the lab has the lake API."""
    workers: Annotated[int, Field(ge=1, le=32)] = 1
    """Processes that answer, behind one port."""


class MetastoreSettings(Section):
    enabled: bool = False
    """Whether the lab has Hive's metastore, with every silver table in it."""


class ThriftServerSettings(Section):
    enabled: bool = False
    """Whether the lab has Spark's Thrift server, for clients of HiveServer2 such as JDBC's."""


class NativeProfile(Section):
    """Processes of this user."""

    runtime: Literal["native"]


class ComposeProfile(Section):
    """Containers on this machine, by the Compose file in `compose/`."""

    runtime: Literal["compose"]
    images: Literal["official", "local"] = "official"
    """`local`: those that `labctl images build` makes without any image hub."""
    image: dict[str, str] = Field(default_factory=dict)
    """Another image for a service, whichever `images` says."""
    files: list[str] = Field(default_factory=list)
    """Further Compose files laid over the lab's own, relative to `lab.toml`."""


Profile = Annotated[NativeProfile | ComposeProfile | AwsProfile, Field(discriminator="runtime")]
"""A named set of values over one runtime."""
_DEFAULT_PROFILES: dict[str, Profile] = {"native": NativeProfile(runtime="native")}


class LabConfig(Section):
    """The whole of `lab.toml`."""

    name: Annotated[str, Field(pattern=LAB_NAME_PATTERN)] = "lab"
    profile: str = "native"
    sources: Annotated[dict[Name, Source], Field(min_length=1)]
    """By name. Several may be of one engine, and several of one database."""
    data_sets: tuple[str, ...] = ()
    """Those that `labctl seed` fills the sources with, by name."""
    services: dict[str, ServiceSettings] = Field(default_factory=dict)
    """By name. Which there are says `labctl.services`, whose `load_config` refuses others."""
    connectors: ConnectorSettings = ConnectorSettings()
    silver: SilverSettings = SilverSettings()
    lake: LakeSettings = LakeSettings()
    cache: CacheSettings = CacheSettings()
    api: ApiSettings = ApiSettings()
    metastore: MetastoreSettings = MetastoreSettings()
    thriftserver: ThriftServerSettings = ThriftServerSettings()
    profiles: dict[str, Profile] = Field(default_factory=lambda: dict(_DEFAULT_PROFILES))

    @model_validator(mode="before")
    @classmethod
    def _sources_have_engines(cls, data: Any) -> Any:
        sections = data.get("sources") if isinstance(data, dict) else None
        for name, section in sections.items() if isinstance(sections, dict) else ():
            if isinstance(section, dict) and "schema" in section and "engine" not in section:
                raise ValueError(_in_new_words(str(name), section))
        return data

    @model_validator(mode="after")
    def _sources_differ(self) -> Self:
        if taken := next((name for name in self.sources if name in NOT_SOURCES), None):
            raise ValueError(f"sources.{taken}: a source cannot be called so; rename it")
        owners: dict[str, str] = {}
        for name, source in self.sources.items():
            if (other := owners.setdefault(source.connector, name)) != name:
                raise ValueError(
                    f"sources.{name}.connector: {source.connector} captures sources.{other} "
                    "already; a source has a connector of its own"
                )
        return self

    @model_validator(mode="after")
    def _the_thrift_server_has_tables(self) -> Self:
        if self.thriftserver.enabled and not self.metastore.enabled:
            raise ValueError(
                "thriftserver.enabled: it finds its tables in Hive's metastore; write [metastore] "
                "with enabled = true, too"
            )
        return self

    def sources_of(self, engine: SourceEngine) -> dict[str, Source]:
        """The sources of an engine, by name."""
        return {name: source for name, source in self.sources.items() if source.engine == engine}

    @classmethod
    def load(cls, path: Path) -> LabConfig:
        """Read and check `path`. Raises LabError naming file, key and a hint."""
        config = read_section(path, cls, hint="docs/configuration.md lists every key")
        if path.parent.name == "labs" and config.name != path.stem:
            raise LabError(
                f"{path}: name: {config.name!r} is not the file's",
                hint=f'write name = "{path.stem}", or rename the file',
                exit_code=ExitCode.USAGE,
            )
        if config.profile not in config.profiles:
            raise LabError(
                f"{path}: profile: {config.profile!r} is not one of the profiles defined there",
                hint=f"defined: {', '.join(sorted(config.profiles))}",
                exit_code=ExitCode.USAGE,
            )
        return config

    def with_source(self, source: str | None) -> LabConfig:
        """The same but for where silver reads; unchanged where `source` is None or empty."""
        if not source:
            return self
        silver = SilverSettings.model_validate(self.silver.model_dump() | {"source": source})
        return self.model_copy(update={"silver": silver})

    def switching_on(self, names: Iterable[str]) -> LabConfig:
        """The same with services of `OPTIONAL` that `lab.toml` may leave out."""
        sections = {name: getattr(self, name) for name in names if name in OPTIONAL}
        return self.model_copy(
            update={
                name: section.model_copy(update={"enabled": True})
                for name, section in sections.items()
            }
        )

    @staticmethod
    def valid_name(name: str) -> bool:
        """Whether `name` can name a lab."""
        return re.fullmatch(LAB_NAME_PATTERN, name) is not None

    def settings(self, service: str) -> ServiceSettings:
        """The settings of `service`, defaults where `lab.toml` is silent."""
        return self.services.get(service) or ServiceSettings()


def _in_new_words(name: str, section: dict[str, Any]) -> str:
    """What to write in place of a source of earlier versions, whose name was its engine."""
    lines = [
        f'engine = "{name}"',
        *(['database = "…"'] if name in ("postgres", "sqlserver") else []),
        f'schemas = ["{section["schema"]}"]',
        f'connector = "{section.get("connector", "…")}"',
    ]
    return (
        f"sources.{name}: this is how earlier versions wrote it. Write [sources.{name}] with "
        + (", ".join(lines))
    )


def lab_file(project: Path, lab: str | None) -> Path:
    """The file that defines the lab of that name: `labs/NAME.toml`, else `lab.toml`."""
    own = project / "labs" / f"{lab}.toml"
    return own if lab is not None and own.is_file() else project / "lab.toml"


def find_project(start: Path | None = None) -> Path:
    """The folder that holds `lab.toml`: upwards from `start`, $LABCTL_PROJECT or here.

    Raises LabError where there is none.
    """
    if start is None and (configured := os.environ.get("LABCTL_PROJECT")):
        start = Path(configured)
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "lab.toml").is_file():
            return folder
    raise LabError(
        f"No lab.toml in {here} or a folder above it",
        hint="run labctl inside the project, or set LABCTL_PROJECT to its folder",
        exit_code=ExitCode.USAGE,
    )
