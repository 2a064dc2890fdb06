"""`lab.toml`, typed: which services run, their sizes, and the profiles over them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from labctl.config.aws import AwsProfile
from labctl.config.config_reading import read_section
from labctl.config.section import Section
from labctl.config.services import OwnService, ServiceSection, ServiceSettings
from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.state.file_changes import finish_changes
from labctl.state.ownership import is_root_by_itself, owner_name, trusted_owners
from lakecontract.options import SourceName

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
    "SilverSettings",
    "SilverSource",
    "Source",
    "ThriftServerSettings",
    "find_project",
    "lab_file",
]

LAB_NAME_PATTERN = r"^[a-z][a-z0-9-]{0,29}$"
SilverSource = SourceName
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,29}$")]
NOT_SOURCES = ("kafka", "registry", "objectstore")
"""Secrets of the lab are called so, and each source has a secret of its name."""


def _within_the_project(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError("name what lies within the project's folder")
    return str(path)


_DURATION = re.compile(r"([1-9]\d{0,5})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def _a_duration(text: object) -> object:
    if not isinstance(text, str) or not _DURATION.fullmatch(text):
        raise ValueError('write a number and a unit (s, m, h or d), such as "30d"')
    return text


Duration = Annotated[str, BeforeValidator(_a_duration)]
"""A number and a unit, as in `-1d`, the age of a point in time (`labctl.lake.instants`)."""
Folder = Annotated[str, AfterValidator(_within_the_project)]
File = Folder


class Source(Section):
    """A source database and its connector, under a name of yours: `[sources.orders]`."""

    engine: EngineName
    """The kind of database."""
    database: str | None = Field(default=None, min_length=1)
    """Its database in the server. Leave it out for an engine whose databases are its `schemas`."""
    schemas: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
    """The schemas whose tables are captured (MySQL: its databases)."""
    connector: str
    """Name of its file in `connectors/`, without `.json`."""
    schema_file: File | None = None
    """File with the SQL that makes its tables, relative to the project's folder. `up` runs it again
    when it has changed."""
    migrate: Annotated[str, Field(min_length=1)] | None = None
    """Command that makes its tables, such as `alembic upgrade head`. It runs in the project's
    folder with the variables of `labctl client env`."""
    rows_file: File | None = None
    """File with the SQL of rows. It runs once, after the tables are made."""

    @property
    def makes_tables(self) -> bool:
        """True if the project says how its tables are made: then `up` makes and captures them."""
        return any((self.schema_file, self.migrate, self.rows_file))


class ConnectorSettings(Section):
    """The connector files."""

    allow: list[str] = Field(default_factory=list)
    """Configuration keys that pass although no plugin is known to read them."""


class SilverSettings(Section):
    """The Spark application."""

    source: SilverSource = "kafka"
    """The source of its changes: the topics, or the bronze files."""
    properties: Annotated[tuple[Folder, ...], Field(min_length=1)] = ("spark/properties",)
    """Folders with the tables' properties files, relative to the project's folder."""


class GoldSettings(Section):
    """Views over silver."""

    materialised: tuple[
        Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$")], ...
    ] = ()
    """Views of `gold/`, by `database.view`, that the Spark application keeps as tables."""


class LakeSettings(Section):
    """The object store."""

    bucket: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$")] = "lake"
    """The bucket of bronze and silver."""
    region: str = "us-east-1"
    """The bucket's region."""
    retention: Duration | None = None
    """Retention of bronze files, and of those put aside in `retired`: `12h`, `30d`. Without it,
    nothing is removed."""

    @property
    def retention_seconds(self) -> int | None:
        """The retention in seconds; None if nothing is removed."""
        if self.retention is None:
            return None
        return int(self.retention[:-1]) * _SECONDS[self.retention[-1]]


class OptionalService(Section):
    """A service that a lab may be without. Its section has the service's name."""

    enabled: bool = False
    """True if the lab has it."""


class CacheSettings(OptionalService):
    """A cache for applications on the lake."""


class ApiSettings(OptionalService):
    """The lake API, an application over Athena's API."""

    workers: Annotated[int, Field(ge=1, le=32)] = 1
    """Processes that answer, behind one port; in containers, per container."""
    replicas: Annotated[int, Field(ge=1, le=16)] = 1
    """Containers of it, behind one port; natively, so many times the workers."""
    database: Name | None = None
    """The database with the application's tables; left out: the one that has all of them."""


class MetastoreSettings(OptionalService):
    """Hive's metastore, with every silver table in it."""


class ThriftServerSettings(OptionalService):
    """Spark's Thrift server, for clients of HiveServer2 such as JDBC's."""


class NativeProfile(Section):
    """Services run as processes of this user."""

    runtime: Literal["native"]
    """Runtime of the services."""


class ComposeProfile(Section):
    """Services run in containers on this machine, by the Compose file in `compose/`."""

    runtime: Literal["compose"]
    """Runtime of the services."""
    images: Literal["official", "local"] = "official"
    """`local`: the images that `labctl tools images build` makes without an image hub."""
    image: dict[str, str] = Field(default_factory=dict)
    """Another image for a service: `image = { kafka = "…" }`. It wins over `images`."""
    files: list[str] = Field(default_factory=list)
    """More Compose files, merged on top of the lab's own. Relative to `lab.toml`."""


Profile = Annotated[NativeProfile | ComposeProfile | AwsProfile, Field(discriminator="runtime")]
"""A named set of values over one runtime."""
_DEFAULT_PROFILES: dict[str, Profile] = {"native": NativeProfile(runtime="native")}


class LabConfig(Section):
    """The whole of `lab.toml`."""

    name: Annotated[str, Field(pattern=LAB_NAME_PATTERN)] = "lab"
    """Name of the lab that commands use unless `--lab` says otherwise."""
    profile: str = "native"
    """Profile that a lab is made with unless `--profile` says otherwise. The lab keeps it."""
    sources: Annotated[dict[Name, Source], Field(min_length=1)]
    """Sources by name. Several may be of one engine, and several of one database."""
    data_sets: tuple[str, ...] = ()
    """Data set with which `labctl seed` fills the sources. `labctl seed --list` shows all."""
    services: dict[str, ServiceSection] = Field(default_factory=dict)
    """Services by name: settings of the lab's, which `labctl.services` knows, and services of the
    user's own."""
    connectors: ConnectorSettings = ConnectorSettings()
    silver: SilverSettings = SilverSettings()
    gold: GoldSettings = GoldSettings()
    lake: LakeSettings = LakeSettings()
    cache: CacheSettings = CacheSettings()
    api: ApiSettings = ApiSettings()
    metastore: MetastoreSettings = MetastoreSettings()
    thriftserver: ThriftServerSettings = ThriftServerSettings()
    profiles: dict[str, Profile] = Field(default_factory=lambda: dict(_DEFAULT_PROFILES))

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

    @property
    def promotable(self) -> dict[str, AwsProfile]:
        """Return the profiles of AWS, by name: no service of such a lab runs on this machine."""
        return {name: one for name, one in self.profiles.items() if one.runtime == "aws"}

    def sources_of(self, engine: EngineName) -> dict[str, Source]:
        """Return the sources of an engine, by name."""
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
        """Return a copy with another source of silver; the same if `source` is None or empty."""
        if not source:
            return self
        silver = SilverSettings.model_validate(self.silver.model_dump() | {"source": source})
        return self.model_copy(update={"silver": silver})

    def switching_on(self, names: Iterable[str]) -> LabConfig:
        """Return a copy with services of `OPTIONAL` switched on."""
        sections = {name: getattr(self, name) for name in names if name in OPTIONAL}
        return self.model_copy(
            update={
                name: section.model_copy(update={"enabled": True})
                for name, section in sections.items()
            }
        )

    @staticmethod
    def valid_name(name: str) -> bool:
        """Return whether `name` can name a lab."""
        return re.fullmatch(LAB_NAME_PATTERN, name) is not None

    def settings(self, service: str) -> ServiceSettings:
        """Return the settings of `service`, with defaults for what `lab.toml` does not set."""
        section = self.services.get(service)
        if isinstance(section, OwnService):
            return section.settings
        return section or ServiceSettings()

    @property
    def own_services(self) -> dict[str, OwnService]:
        """The services of the user's own, by name."""
        return {
            name: section
            for name, section in self.services.items()
            if isinstance(section, OwnService)
        }

    def without_own_services(self) -> LabConfig:
        """Return a copy without the user's services."""
        return self.for_runtime("none")

    def for_runtime(self, runtime: str) -> LabConfig:
        """Return a copy without the user's services that have no form for `runtime`."""
        services = {
            name: section
            for name, section in self.services.items()
            if not isinstance(section, OwnService) or section.has_form(runtime)
        }
        return self.model_copy(update={"services": services})


OPTIONAL = tuple(
    name
    for name, field in LabConfig.model_fields.items()
    if isinstance(field.default, OptionalService)
)
"""Services that a lab may be without: each has a section of its name, with `enabled`."""


def lab_file(project: Path, lab: str | None) -> Path:
    """Return the file that defines the lab of that name: `labs/NAME.toml`, else `lab.toml`."""
    own = project / "labs" / f"{lab}.toml"
    return own if lab is not None and own.is_file() else project / "lab.toml"


def _require_trusted(project: Path) -> None:
    """Raise LabError (USAGE) for a project that was found, and that another user may have made."""
    trusted = trusted_owners()
    for path in (project, project / "lab.toml"):
        facts = path.lstat()
        if facts.st_uid not in trusted:
            why = f"belongs to user {owner_name(facts.st_uid)}"
        elif stat.S_ISDIR(facts.st_mode) and facts.st_mode & stat.S_IWOTH:
            why = "can be written by every user"
        else:
            continue
        raise LabError(
            f"{path} {why}: a project says which programs run as you",
            hint=f"if you trust everyone who writes there: export LABCTL_PROJECT={project}",
            exit_code=ExitCode.USAGE,
        )


def find_project(start: Path | None = None) -> Path:
    """Find the folder that holds `lab.toml`: upwards from `start`, $LABCTL_PROJECT or here.

    A change of its files that a killed command has begun is completed. Raises LabError where there
    is no such folder, and where another user has put it there: a project says what runs as this
    user. One that `start` or $LABCTL_PROJECT names is taken as it is, and so is the working
    directory of root in a container, which has the host user's files.
    """
    if start is None and (configured := os.environ.get("LABCTL_PROJECT")):
        start = Path(configured)
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        finish_changes(folder)
        if (folder / "lab.toml").is_file():
            if folder != here or (start is None and not is_root_by_itself()):
                _require_trusted(folder)
            return folder
    raise LabError(
        f"No lab.toml in {here} or a folder above it",
        hint="run labctl inside the project, or set LABCTL_PROJECT to its folder",
        exit_code=ExitCode.USAGE,
    )
