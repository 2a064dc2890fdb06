"""Pointing a lab at a scenario: where silver reads from, and as what type a table is kept.

A table's type is fixed when it is made. Another type is therefore another table, a twin fed by the
same topic, that takes the table's place in the Spark application for the time of the run. The
table itself is left as it is, and catches up when it is back.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from labctl.config.aws import AwsProfile
from labctl.config.tables import PROPERTIES, LabTable
from labctl.errors import ExitCode, LabError
from labctl.lab.in_flight import in_flight_records
from labctl.lab.lab import Lab
from labctl.lab.pipeline import silver_status
from labctl.lab.up import UpReporter, up
from labctl.lake.objectstore import Storage
from labctl.latency.scenario import Scenario, SilverSource, TableType
from lakehouse.properties import read_properties

__all__ = ["Pointed", "pointed", "type_of"]

_TYPES: dict[TableType, str] = {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}
"""As Hudi calls them."""
_FOLDER = "latency-project"
_CATCH_UP_SECONDS = 600.0
_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Pointed:
    """A lab as a scenario needs it."""

    lab: Lab
    source: SilverSource
    tables: list[LabTable]
    """Those the scenario names, or the twins that stand for them."""


@contextmanager
def pointed(lab: Lab, scenario: Scenario, reporter: UpReporter) -> Iterator[Pointed]:
    """The lab as `scenario` needs it, and afterwards as it was.

    Raises LabError (USAGE) where the profile's services are not this machine's to change.
    """
    tables = [lab.table(name) for name in scenario.tables]
    others = [t for t in tables if type_of(t) != (scenario.table_type or type_of(t))]
    source = _source_of(lab)
    if not others and (scenario.source or source) == source:
        yield Pointed(lab, source, tables)
        return
    if isinstance(lab.config.profiles[lab.profile], AwsProfile):
        raise LabError(
            f"Profile {lab.profile!r} reads {source} and keeps {_types(tables)}; a run cannot "
            "change that",
            hint="run without --source and --table-type, or promote with other settings",
            exit_code=ExitCode.USAGE,
        )
    changed = _changed_lab(lab, scenario, others)
    twins = {_twin_name(t, scenario.table_type) for t in others if scenario.table_type}
    try:
        up(changed, reporter)
        meant = [t if t not in others else _twin(changed, t, scenario) for t in tables]
        _wait_until_caught_up(changed, meant)
        yield Pointed(changed, scenario.source or source, meant)
    finally:
        up(lab, reporter)
        _remove_tables(lab, twins)
        shutil.rmtree(changed.project, ignore_errors=True)


def type_of(table: LabTable) -> TableType:
    """The type of a table, by its properties."""
    return next(name for name, hudi in _TYPES.items() if hudi == table.properties.table_type)


def _types(tables: Sequence[LabTable]) -> str:
    return ", ".join(f"{table.name} as {type_of(table)}" for table in tables)


def _source_of(lab: Lab) -> SilverSource:
    """What the application says; what lab.toml says where it cannot be asked."""
    if lab.endpoints.silver.status_url is None:
        return lab.config.silver.source
    said: SilverSource = silver_status(lab)["source"]
    return said


def _twin_name(table: LabTable, kind: TableType | None) -> str:
    return f"{table.name}_{kind}"


def _twin(lab: Lab, table: LabTable, scenario: Scenario) -> LabTable:
    return lab.table(_twin_name(table, scenario.table_type))


def _changed_lab(lab: Lab, scenario: Scenario, others: Sequence[LabTable]) -> Lab:
    """The same lab over a copy of the project's definitions; programs are linked to."""
    folder = lab.state.folder / _FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "spark").mkdir(parents=True)
    shutil.copy(lab.project / "lab.toml", folder)
    (folder / "connectors").symlink_to(lab.project / "connectors")
    for path in (lab.project / "spark").iterdir():
        if path.name != PROPERTIES.name:
            (folder / "spark" / path.name).symlink_to(path)
    shutil.copytree(lab.project / PROPERTIES, folder / PROPERTIES)
    for table in others:
        _replace_by_twin(folder / PROPERTIES, table, scenario.table_type)
    silver = lab.config.silver
    if scenario.source is not None:
        silver = silver.model_copy(update={"source": scenario.source})
    return replace(lab, project=folder, config=lab.config.model_copy(update={"silver": silver}))


def _replace_by_twin(folder: Path, table: LabTable, kind: TableType | None) -> None:
    assert kind is not None  # noqa: S101 - a table is only another's when a type is asked for
    path = next(
        p
        for p in folder.glob("*.*.*.properties")
        if read_properties(p)["hoodie.table.name"] == table.name
    )
    values = read_properties(path) | {
        "hoodie.table.name": _twin_name(table, kind),
        "hoodie.datasource.write.table.type": _TYPES[kind],
    }
    path.write_text("".join(f"{k}={v}\n" for k, v in values.items()), encoding="utf-8")


def _wait_until_caught_up(lab: Lab, tables: Sequence[LabTable]) -> None:
    deadline = time.monotonic() + _CATCH_UP_SECONDS
    for table in tables:
        while in_flight_records(lab, table) != 0:
            if time.monotonic() > deadline:
                raise LabError(
                    f"{table.name} has not taken in its topic after {_CATCH_UP_SECONDS:.0f} s",
                    hint="labctl status, labctl logs silver",
                    exit_code=ExitCode.NOT_READY,
                )
            time.sleep(_POLL_SECONDS)


def _remove_tables(lab: Lab, names: set[str]) -> None:
    storage = Storage.of(lab.endpoints.objectstore)
    for name in names:
        storage.filesystem.delete_dir(storage.path(f"silver/{name}"))
