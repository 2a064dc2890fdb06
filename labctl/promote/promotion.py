"""What is promoted: the project's own files, and the profile that says where to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from labctl.artifacts.lock import Lock, load_lock
from labctl.config.aws import AwsProfile, RdsSettings
from labctl.config.model import LabConfig, SourceEngine
from labctl.config.tables import LabTable, lab_tables
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.files import ConnectorFile, connector_files
from lakehouse.errors import ConfigurationError
from lakehouse.properties import read_properties

__all__ = ["PromotedConnector", "Promotion", "load_promotion"]

CONNECTORS = Path("connectors")
WORKER = CONNECTORS / "worker.properties"


@dataclass(frozen=True)
class PromotedConnector:
    """A connector MSK Connect is to run."""

    file: ConnectorFile
    engine: SourceEngine | None
    """The source it captures; None for the sink."""

    @property
    def name(self) -> str:
        return self.file.name


@dataclass(frozen=True)
class Promotion:
    """Everything a plan is made from. Nothing in here touches AWS or holds a secret."""

    project: Path
    config: LabConfig
    profile_name: str
    profile: AwsProfile
    tables: tuple[LabTable, ...]
    files: tuple[ConnectorFile, ...]
    """Every connector file there is, by name."""
    worker: dict[str, str]
    """`connectors/worker.properties`."""
    lock: Lock

    @property
    def lab_toml(self) -> Path:
        return self.project / "lab.toml"

    def key(self, name: str) -> str:
        """A key of the profile, as one finds it in `lab.toml`."""
        return f"profiles.{self.profile_name}.{name}"

    @cached_property
    def connectors(self) -> tuple[PromotedConnector, ...]:
        """The connectors of the sources `lab.toml` names, and the sink's where it is to run."""
        engines = {source.connector: engine for engine, source in self.config.sources.items()}
        return tuple(
            PromotedConnector(file, engines.get(file.name))
            for file in self.files
            if file.name in engines or (not file.is_source and self.profile.connect.sink)
        )

    @cached_property
    def rds(self) -> dict[str, RdsSettings]:
        """The databases, in the order of `lab.toml`'s sources; without those no source uses."""
        return {
            engine: self.profile.rds[engine]
            for engine in self.config.sources
            if engine in self.profile.rds
        }

    def tables_of(self, engine: str) -> tuple[LabTable, ...]:
        return tuple(table for table in self.tables if table.engine == engine)


def load_promotion(project: Path, config: LabConfig, profile_name: str) -> Promotion:
    """Read what the profile promotes.

    Raises LabError (USAGE) when the profile is not one of AWS, or a file cannot be used.
    """
    profile = config.profiles.get(profile_name)
    if not isinstance(profile, AwsProfile):
        promotable = [n for n, p in config.profiles.items() if isinstance(p, AwsProfile)]
        raise LabError(
            f"Profile {profile_name!r} of {project / 'lab.toml'} is not one of AWS",
            hint=f"say --profile {promotable[0]}"
            if promotable
            else "add one with runtime = 'aws'; docs/aws.md has an example",
            exit_code=ExitCode.USAGE,
        )
    try:
        worker = read_properties(project / WORKER)
    except ConfigurationError as error:
        raise LabError(str(error), exit_code=ExitCode.USAGE) from None
    return Promotion(
        project=project,
        config=config,
        profile_name=profile_name,
        profile=profile,
        tables=tuple(lab_tables(project, config)),
        files=tuple(connector_files(project / CONNECTORS)),
        worker=worker,
        lock=load_lock(),
    )
