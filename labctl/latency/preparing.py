"""Preparing a lab for a scenario: silver's source, and the tables' types."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from labctl.config.lab_config import SilverSource
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.starting import UpReporter
from labctl.lab.observe.pipeline_state import silver_status
from labctl.latency.scenario import Scenario
from labctl.latency.shadow_tables import Twin, changed, type_of
from labctl.tables import LabTable

__all__ = ["PreparedLab", "prepared"]


@dataclass(frozen=True)
class PreparedLab:
    """A lab as a scenario needs it."""

    lab: Lab
    source: SilverSource
    tables: list[LabTable]
    """Tables that the scenario names, or the twins used for them."""


@contextmanager
def prepared(lab: Lab, scenario: Scenario, reporter: UpReporter) -> Iterator[PreparedLab]:
    """Change the lab to what `scenario` needs, yield it, and restore it at the end.

    Raises LabError (USAGE) if the profile's managed services cannot be changed from this machine.
    """
    tables = [lab.table(name) for name in scenario.tables]
    twins = {table.name: twin for table in tables if (twin := _twin(table, scenario))}
    source = _source_of(lab)
    wanted = scenario.source or source
    if not twins and wanted == source:
        yield PreparedLab(lab, source, tables)
        return
    if lab.promoted is not None:
        kinds = ", ".join(f"{table.name} as {type_of(table)}" for table in tables)
        raise LabError(
            f"Profile {lab.profile!r} reads {source} and keeps {kinds}; a run cannot change that",
            hint="run without --source and --table-type, or promote with other settings",
            exit_code=ExitCode.USAGE,
        )
    with changed(lab, reporter, source=wanted, twins=list(twins.values())) as other:
        names = [twins[t.name].name if t.name in twins else t.name for t in tables]
        yield PreparedLab(other, wanted, [other.table(name) for name in names])


def _twin(table: LabTable, scenario: Scenario) -> Twin | None:
    """Return a twin for the table; None if it already has the type that the scenario wants."""
    wanted = scenario.table_type
    if wanted is None or wanted == type_of(table):
        return None
    return Twin(table, f"{table.properties.table}_{wanted}", wanted, in_its_place=True)


def _source_of(lab: Lab) -> SilverSource:
    """Return silver's source from the Spark application, or from lab.toml if it has no status."""
    if lab.endpoints.silver.status_url is None:
        return lab.config.silver.source
    said: SilverSource = silver_status(lab)["source"]
    return said
