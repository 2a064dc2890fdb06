"""The input of a promotion: the project's own files and the target profile."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from labctl.artifacts.lock import Lock, load_lock
from labctl.config.aws import AwsProfile, RdsSettings
from labctl.config.endpoints import database_name
from labctl.config.lab_config import LabConfig, lab_file
from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.conflicts import check_apart
from labctl.kafkaconnect.connector_files import ConnectorFile, connector_files
from labctl.lake.gold import GoldView, load_views, views_over
from labctl.lake.queries import QUERIES, QueryFile, load_queries, queries_over
from labctl.services.connect_service import WORKER_FILE
from labctl.shipped import own_or_shipped
from labctl.sinks import Sink, require_readable, used_sinks
from labctl.tables import CONNECTORS, GOLD, LabTable, lab_tables
from lakecontract.errors import ConfigurationError
from lakecontract.properties import included_files, read_properties
from sqlapi.catalog.table_inputs import names_of
from sqlapi.source import SourceTable

__all__ = ["PromotedConnector", "Promotion", "load_promotion"]


@dataclass(frozen=True)
class PromotedConnector:
    """A connector that MSK Connect is to run."""

    file: ConnectorFile
    source: str | None
    """Name of the source that it captures; None for a sink."""
    engine: EngineName | None
    """The source's engine; None for a sink."""

    @property
    def name(self) -> str:
        return self.file.name


@dataclass(frozen=True)
class Promotion:
    """Everything that a plan is made from. It never calls AWS and holds no secret."""

    project: Path
    config: LabConfig
    profile_name: str
    profile: AwsProfile
    tables: tuple[LabTable, ...]
    files: tuple[ConnectorFile, ...]
    """The connector files of the lab's sources and of the sinks in use, sorted by name."""
    worker: dict[str, str]
    """The content of `connectors/worker.properties`."""
    views: tuple[GoldView, ...]
    """Every view of `gold/`, each after the views that it reads."""
    queries: tuple[QueryFile, ...]
    """Every statement of `queries/`."""
    lock: Lock

    @property
    def lab_toml(self) -> Path:
        return lab_file(self.project, self.config.name)

    def key(self, name: str) -> str:
        """Return the full name of a profile key in `lab.toml`."""
        return f"profiles.{self.profile_name}.{name}"

    @cached_property
    def databases(self) -> tuple[str, ...]:
        """The databases of the silver tables, sorted by name."""
        return tuple(sorted({table.properties.database for table in self.tables}))

    @cached_property
    def lake_views(self) -> tuple[GoldView, ...]:
        """The views that read only tables of the lab."""
        return tuple(views_over(self.views, self.table_names))

    @cached_property
    def lake_queries(self) -> tuple[QueryFile, ...]:
        """The statements that read only tables of the lab and views over them."""
        views = (view.name for view in self.lake_views)
        return tuple(queries_over(self.queries, [*self.table_names, *views]))

    @cached_property
    def table_names(self) -> frozenset[str]:
        """Athena's names for the silver tables; a merge-on-read table has three."""
        kinds = {table.name: table.properties.table_type for table in self.tables}
        named = (SourceTable("", name, "", kind) for name, kind in kinds.items())
        return frozenset(name for table in named for name in names_of(table))

    @cached_property
    def view_databases(self) -> tuple[str, ...]:
        """The databases that have views but no silver tables, sorted by name."""
        return tuple(sorted({view.database for view in self.lake_views} - {*self.databases}))

    @cached_property
    def properties_files(self) -> dict[str, Path]:
        """The tables' properties files and the files they include, by path in the project."""
        own = [table.properties.file for table in self.tables]
        found = {file.resolve() for one in own for file in (one, *included_files(one))}
        root = self.project.resolve()
        return {file.relative_to(root).as_posix(): file for file in sorted(found)}

    @cached_property
    def connectors(self) -> tuple[PromotedConnector, ...]:
        """The connectors of the sources in `lab.toml`, and of sinks if the profile runs them."""
        sinks = [sink.file for sink in self.sinks] if self.profile.connect.sink else []
        names = {source.connector: name for name, source in self.config.sources.items()}
        return tuple(
            PromotedConnector(file, name, self.config.sources[name].engine if name else None)
            for file in self.files
            if (name := names.get(file.name)) or file in sinks
        )

    @cached_property
    def sinks(self) -> tuple[Sink, ...]:
        """The sinks that receive the tables' topics."""
        return tuple(used_sinks(self.files, self.tables))

    @cached_property
    def rds(self) -> dict[EngineName, RdsSettings]:
        """The instances that sources use, by engine, in the order of the sources in `lab.toml`."""
        return {
            source.engine: self.profile.rds[source.engine]
            for source in self.config.sources.values()
            if source.engine in self.profile.rds
        }

    @property
    def captured(self) -> dict[str, RdsSettings]:
        """The instance of each source, by the source's name."""
        return {
            name: self.rds[source.engine]
            for name, source in self.config.sources.items()
            if source.engine in self.rds
        }

    def database_of(self, source: str) -> str:
        """Return the name of a source's database in its instance."""
        return database_name(self.config, source, self.captured[source].database)

    def tables_of(self, source: str) -> tuple[LabTable, ...]:
        return tuple(table for table in self.tables if table.source == source)


def load_promotion(project: Path, config: LabConfig, profile_name: str) -> Promotion:
    """Read everything that the profile promotes.

    Raises LabError (USAGE) if the profile is not an AWS profile or a file cannot be used.
    """
    profile = config.promotable.get(profile_name)
    if profile is None:
        promotable = [*config.promotable]
        raise LabError(
            f"Profile {profile_name!r} of {lab_file(project, config.name)} is not one of AWS",
            hint=f"say --profile {promotable[0]}"
            if promotable
            else "add one with runtime = 'aws'; docs/aws.md has an example",
            exit_code=ExitCode.USAGE,
        )
    try:
        worker = read_properties(own_or_shipped(project, WORKER_FILE))
    except ConfigurationError as error:
        raise LabError(str(error), exit_code=ExitCode.USAGE) from None
    tables = tuple(lab_tables(project, config))
    files = connector_files(project / CONNECTORS)
    sinks = used_sinks(files, tables)
    if profile.connect.sink and config.silver.source == "bronze":
        require_readable(sinks)
    captured = {source.connector for source in config.sources.values()}
    check_apart([file for file in files if file.name in captured])
    used = captured | {sink.file.name for sink in sinks}
    return Promotion(
        project=project,
        config=config,
        profile_name=profile_name,
        profile=profile,
        tables=tables,
        files=tuple(file for file in files if file.name in used),
        worker=worker,
        views=tuple(load_views(project / GOLD)),
        queries=tuple(load_queries(project / QUERIES)),
        lock=load_lock(),
    )
