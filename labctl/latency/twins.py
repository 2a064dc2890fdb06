"""A lab with other settings for a while: silver from another source, and twins of tables.

A table's type is fixed when it is made. Another type is therefore another table, a twin fed by the
same topic; the table itself is left as it is, and catches up when it is back.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp

from labctl.config.model import ComposeProfile, LabConfig, SilverSource
from labctl.errors import ExitCode, LabError
from labctl.lab.in_flight import in_flight_records
from labctl.lab.lab import Lab
from labctl.lab.starting import UpReporter
from labctl.lab.up import up
from labctl.lake import Lake
from labctl.latency.scenario import TableType
from labctl.services.api import lake_database
from labctl.tables import LabTable
from lakehouse.properties import TABLE_KEY, read_properties

__all__ = ["Twin", "changed", "config_meanwhile", "type_of", "wait_until_caught_up", "write_twin"]

_TYPES: dict[TableType, str] = {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}
"""As Hudi calls them."""
_LAYOUT: dict[TableType, dict[str, str]] = {
    # A commit rewrites the files of the buckets that it touches, whole.
    "cow": {"hoodie.bucket.index.num.buckets": "16"},
    "mor": {},
}
"""What a table of tens of thousands of rows has besides, to be of the type."""
_CATCH_UP_SECONDS = 600.0
_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Twin:
    """A silver table that takes in another one's topic."""

    of: LabTable
    table: str
    """Its name, in the same database."""
    table_type: TableType
    in_its_place: bool
    """Whether the Spark application leaves the other one alone meanwhile."""

    @property
    def name(self) -> str:
        return f"{self.of.properties.database}.{self.table}"


def type_of(table: LabTable) -> TableType:
    """The type of a table, by its properties."""
    return next(name for name, hudi in _TYPES.items() if hudi == table.properties.table_type)


@contextmanager
def changed(
    lab: Lab,
    reporter: UpReporter,
    *,
    source: SilverSource | None = None,
    twins: Sequence[Twin] = (),
) -> Iterator[Lab]:
    """The lab reading from `source` (None: as it does) with `twins`, which have caught up.

    Afterwards it is as it was, and the twins are gone.
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
    """The lab's configuration with another source, wherever its project lies."""
    config = lab.config
    profile = config.profiles[lab.profile]
    if isinstance(profile, ComposeProfile):
        files = [str(lab.project / file) for file in profile.files]
        there = profile.model_copy(update={"files": files})
        config = config.model_copy(update={"profiles": config.profiles | {lab.profile: there}})
    # The tables are made already, by files that the copy does not have.
    made = dict.fromkeys(("schema_file", "rows_file", "migrate"))
    sources = {name: s.model_copy(update=made) for name, s in config.sources.items()}
    config = config.model_copy(update={"sources": sources}).with_source(source)
    if config.api.enabled:
        # It goes on with the tables that are left alone meanwhile.
        database = lake_database(lab.project, lab.config)
        pinned = config.api.model_copy(update={"database": database})
        config = config.model_copy(update={"api": pinned})
    return config


def _copy_project(project: Path, folder: Path) -> None:
    """A copy of what the project defines: a container sees nothing that lies outside of it."""
    shutil.copy(project / "lab.toml", folder)
    for part in ("connectors", "labs", "spark"):
        if not (project / part).is_dir():
            continue
        shutil.copytree(project / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))


def write_twin(path: Path, twin: Twin) -> None:
    """Give a twin a properties file instead of its table's, which is at `path`, or beside it."""
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
    """Until silver has committed all that is in the tables' topics; LabError after `seconds`."""
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
