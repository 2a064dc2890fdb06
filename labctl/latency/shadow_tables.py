"""Running a lab with other settings for a while: another source for silver, and twins of tables.

A table's type is fixed when it is created. Another type therefore needs another table, a twin that
reads the same topic. The table itself stays as it is, and catches up when the lab is restored.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp

from labctl.config.lab_config import ComposeProfile, LabConfig, SilverSource
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.starting import UpReporter
from labctl.lab.lifecycle.up import up
from labctl.lab.tables.in_flight import in_flight_records
from labctl.lake import Lake
from labctl.latency.scenario import TableType
from labctl.services.api_service import lake_database
from labctl.tables import LabTable
from lakecontract.properties import TABLE_KEY, read_properties

__all__ = ["Twin", "changed", "config_meanwhile", "type_of", "wait_until_caught_up", "write_twin"]

_TYPES: dict[TableType, str] = {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}
"""Hudi's names of the table types."""
_LAYOUT: dict[TableType, dict[str, str]] = {
    # A commit rewrites all files of the buckets that it touches.
    "cow": {"hoodie.bucket.index.num.buckets": "16"},
    "mor": {},
}
"""Additional properties of a table with tens of thousands of rows, by type."""
_CATCH_UP_SECONDS = 600.0
_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Twin:
    """A silver table that reads the topic of another table."""

    of: LabTable
    table: str
    """Name of the twin, in the same database as the table."""
    table_type: TableType
    in_its_place: bool
    """True if the Spark application stops writing the other table meanwhile."""

    @property
    def name(self) -> str:
        return f"{self.of.properties.database}.{self.table}"


def type_of(table: LabTable) -> TableType:
    """Return the type of a table, from its properties."""
    return next(name for name, hudi in _TYPES.items() if hudi == table.properties.table_type)


@contextmanager
def changed(
    lab: Lab,
    reporter: UpReporter,
    *,
    source: SilverSource | None = None,
    twins: Sequence[Twin] = (),
) -> Iterator[Lab]:
    """Yield the lab with silver reading from `source` (None: unchanged) and with `twins`.

    The twins have caught up then. At the end, restore the lab and remove the twins.
    """
    folder = Path(mkdtemp(prefix="project-", dir=lab.require_here().state.folder))
    try:
        _copy_project(lab.project, folder)
        for twin in twins:
            write_twin(folder / twin.of.properties.file.relative_to(lab.project), twin)
        other = replace(lab, project=folder, config=config_meanwhile(lab, source))
        try:
            up(other, reporter)
            wait_until_caught_up(other, [other.table(twin.name) for twin in twins])
            yield other
        finally:
            up(lab, reporter)
            _remove_tables(lab, twins)
    finally:
        shutil.rmtree(folder)


def config_meanwhile(lab: Lab, source: SilverSource | None) -> LabConfig:
    """Return the lab's configuration with another source, usable from any project folder.

    The user's own services, which run in the project's folder, stop meanwhile.
    """
    config = lab.config.without_own_services()
    profile = config.profiles[lab.profile]
    if isinstance(profile, ComposeProfile):
        files = [str(lab.project / file) for file in profile.files]
        there = profile.model_copy(update={"files": files})
        config = config.model_copy(update={"profiles": config.profiles | {lab.profile: there}})
    # The sources' tables exist already, and the copy lacks the files that create them.
    made = dict.fromkeys(("schema_file", "rows_file", "migrate"))
    sources = {name: s.model_copy(update=made) for name, s in config.sources.items()}
    config = config.model_copy(update={"sources": sources}).with_source(source)
    if config.api.enabled:
        # The API keeps serving the original tables meanwhile.
        database = lake_database(lab.project, lab.config)
        pinned = config.api.model_copy(update={"database": database})
        config = config.model_copy(update={"api": pinned})
    return config


def _copy_project(project: Path, folder: Path) -> None:
    """Copy the project's definitions, since a container sees nothing outside of the folder."""
    shutil.copy(project / "lab.toml", folder)
    for part in ("connectors", "labs", "spark"):
        if not (project / part).is_dir():
            continue
        shutil.copytree(project / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))


def write_twin(path: Path, twin: Twin) -> None:
    """Write a twin's properties file: over its table's file at `path`, or next to it."""
    values = read_properties(path) | {
        TABLE_KEY: twin.table,
        "hoodie.datasource.write.table.type": _TYPES[twin.table_type],
    }
    if twin.table_type != type_of(twin.of):
        values |= _LAYOUT[twin.table_type]
    place = path if twin.in_its_place else path.with_name(f"twin.of.{twin.table}.properties")
    place.write_text("".join(f"{key}={value}\n" for key, value in values.items()), "utf-8")


def wait_until_caught_up(
    lab: Lab, tables: Sequence[LabTable], *, seconds: float = _CATCH_UP_SECONDS
) -> None:
    """Wait until silver has committed all records of the tables' topics.

    Raises LabError (NOT_READY) for a table that has not caught up after `seconds`.
    """
    deadline = time.monotonic() + seconds
    for table in tables:
        while in_flight_records(lab, table) != 0:
            if time.monotonic() > deadline:
                raise LabError(
                    f"{table.name} has not taken in its topic after {seconds:.0f} s",
                    hint="labctl status, labctl logs silver",
                    exit_code=ExitCode.NOT_READY,
                )
            time.sleep(_POLL_SECONDS)


def _remove_tables(lab: Lab, twins: Sequence[Twin]) -> None:
    lake = Lake(lab.endpoints.objectstore)
    names = lake.table_names()
    for twin in twins:
        if twin.name in names:
            lake.storage.filesystem.delete_dir(lake.storage.path(lake.table(twin.name).path))
