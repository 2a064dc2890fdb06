"""The files that a lab depends on, and the role of each."""

from __future__ import annotations

import configparser
import hashlib
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from labctl.application import APPLICATION, application_files
from labctl.config.lab_config import LabConfig, Source
from labctl.kafkaconnect.connector_files import PATTERN
from labctl.services.connect_service import WORKER_FILE
from labctl.services.silver_service import LOG4J2, SPARK_DEFAULTS
from labctl.shipped import own_or_shipped
from labctl.tables import CONNECTORS
from lakecontract.errors import ConfigurationError
from lakecontract.properties import included_files

__all__ = ["Places", "Role", "Use", "digest_of", "find_places"]


class Role(StrEnum):
    """The role of a file."""

    LAB = "lab"
    CONNECTOR = "connector"
    PROPERTIES = "properties"
    CODE = "code"
    """Code of the Spark application."""
    SPARK = "spark"
    """Settings of the Spark application's process."""
    WORKER = "worker"
    """Settings of Kafka Connect's process."""
    SCHEMA = "schema"


@dataclass(frozen=True)
class Use:
    """The use of one file."""

    role: Role
    name: str = ""
    """Name of the connector for a connector's file, of the source for a schema's file."""


@dataclass(frozen=True)
class Places:
    """The files of a project, and their folders."""

    uses: Mapping[Path, Use]
    """Uses of the existing files."""
    folders: frozenset[Path]
    """Existing folders in which other files may appear."""


def find_places(project: Path, config: LabConfig, lab_file: Path) -> Places:
    """Find the files that a lab depends on: the project's, or labctl's where it has none."""
    uses: dict[Path, Use] = {}
    folders = {project, lab_file.parent, project / CONNECTORS}
    for path, use in _files(project, config, lab_file):
        # The first use of a file counts: many files include a base file.
        if path.is_file() and not path.name.startswith("."):
            uses.setdefault(path, use)
        folders.add(path.parent)
    folders |= {project / folder for folder in config.silver.properties}
    # A project's own file replaces labctl's.
    folders |= {(project / name).parent for name in (APPLICATION, SPARK_DEFAULTS, LOG4J2)}
    return Places(uses, frozenset(folder for folder in folders if folder.is_dir()))


def digest_of(path: Path) -> str | None:
    """Return the SHA-256 digest of a file's content; None if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _files(project: Path, config: LabConfig, lab_file: Path) -> Iterator[tuple[Path, Use]]:
    yield lab_file, Use(Role.LAB)
    for path in (project / CONNECTORS).glob(PATTERN):
        yield path, Use(Role.CONNECTOR, path.stem)
    for source in config.sources.values():
        path = project / CONNECTORS / f"{source.connector}.json"
        yield path, Use(Role.CONNECTOR, source.connector)
    yield own_or_shipped(project, WORKER_FILE), Use(Role.WORKER)
    for folder in config.silver.properties:
        for path in (project / folder).glob("*.properties"):
            yield path, Use(Role.PROPERTIES)
            for included in _included(path):
                yield included, Use(Role.PROPERTIES)
    yield own_or_shipped(project, SPARK_DEFAULTS), Use(Role.SPARK)
    yield own_or_shipped(project, LOG4J2), Use(Role.SPARK)
    for path in application_files(project):
        yield path, Use(Role.CODE)
    for name, source in config.sources.items():
        for path in _schema_files(project, source):
            yield path, Use(Role.SCHEMA, name)


def _included(path: Path) -> list[Path]:
    try:
        return [file.resolve() for file in included_files(path)]
    except ConfigurationError:
        return []  # the check reports it


def _schema_files(project: Path, source: Source) -> Iterator[Path]:
    """Yield the files that create a source's tables: its schema file, and its migration's files."""
    if source.schema_file is not None:
        yield project / source.schema_file
    for path in _named_in(project, source.migrate or ""):
        if path.is_dir():
            yield from (file for file in path.rglob("*") if not _is_cache(file.relative_to(path)))
        else:
            yield path


def _named_in(project: Path, command: str) -> Iterator[Path]:
    """Yield the files and folders of the project that a command names, and those of Alembic."""
    try:
        words = shlex.split(command)
    except ValueError:
        return
    for word in words:
        path = project / word
        inside = path.is_relative_to(project) and not _is_cache(path.relative_to(project))
        if inside and path != project and path.exists():
            yield path
    alembic = project / "alembic.ini"
    if "alembic" in words and alembic.is_file():
        yield alembic
        read = configparser.ConfigParser({"here": str(project)}, strict=False)
        try:
            read.read(alembic, encoding="utf-8")
            folder = project / read.get("alembic", "script_location", fallback="")
        except configparser.Error:
            return  # Alembic reports the error
        if folder.is_dir() and folder != project:
            yield folder


def _is_cache(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)
