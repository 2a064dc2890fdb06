"""Reasons why connectors' tables cannot be captured, found in one pass over the sources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.lab.connectors.capture_checks import captured_refs, limit_problems, limits_of
from labctl.lab.lab import Lab
from labctl.lab.tables.table_fitness import refuse_unfit, unfit_tables
from labctl.sources import Source, connect
from labctl.tables import PROPERTIES

__all__ = ["SourceRefusals", "look_at_sources"]


@dataclass
class SourceRefusals:
    """Findings of one pass over the sources, in the order in which they are reported."""

    files: tuple[ConnectorFile, ...]
    limits: list[str] = field(default_factory=list)
    """Tables that could only be captured wrongly."""
    schemas: list[LabError] = field(default_factory=list)
    """Schemas that a source's database does not have."""
    unfit: list[str] = field(default_factory=list)
    """Tables, and connectors, that would not get to silver."""

    def raise_limits(self) -> None:
        """Raise LabError (USAGE) for tables that could only be captured wrongly."""
        if self.limits:
            raise LabError(
                self.limits[0],
                details=tuple(self.limits[1:]),
                hint="nothing was changed in the databases; correct the file, or take the table "
                "out",
                exit_code=ExitCode.USAGE,
            )

    def raise_unfit(self) -> None:
        """Raise LabError (USAGE) for tables, and connectors, that would not get to silver."""
        refuse_unfit(self.unfit, self.files)

    def raise_any(self) -> None:
        """Raise LabError (USAGE) for the first kind of finding that there is."""
        self.raise_limits()
        for missing in self.schemas:
            raise missing
        self.raise_unfit()


def look_at_sources(
    lab: Lab, files: Iterable[ConnectorFile], *, skip_unreachable: bool = False
) -> SourceRefusals:
    """Ask the databases of these connectors what keeps their tables from being captured.

    With `skip_unreachable`, databases that do not answer are skipped. A promoted lab's databases
    cannot be reached and are not asked.
    """
    found = SourceRefusals(tuple(files))
    if lab.promoted is not None:
        return found
    by_name = {file.name: file for file in found.files}
    for name, settings in lab.config.sources.items():
        file = by_name.get(settings.connector)
        if file is None:
            continue
        try:
            with connect(lab.endpoints, name) as database:
                _look(lab, name, file, database, found)
        except LabError as error:
            if not (skip_unreachable and error.exit_code is ExitCode.NOT_READY):
                raise
    return found


def _look(
    lab: Lab, name: str, file: ConnectorFile, database: Source, found: SourceRefusals
) -> None:
    settings = lab.config.sources[name]
    wanted = captured_refs(lab, name)
    schemas = {*settings.schemas, *(ref.schema for ref in wanted)}
    there = {ref for schema in schemas for ref in database.tables(schema)}
    limits = {ref: limits_of(database, file, ref) for ref in sorted(wanted & there)}
    found.limits += limit_problems(file, limits)
    known = database.schemas()
    if missing := next((schema for schema in settings.schemas if schema not in known), None):
        where = f"database {settings.database}" if settings.database else "the server"
        found.schemas.append(
            LabError(
                f"{lab.project / 'lab.toml'}: sources.{name}.schemas: {where} has no schema "
                f"{missing!r}",
                hint="`labctl seed` makes those of the lab's data sets; a schema of your own must "
                f"be there before its connector; tables are those in {PROPERTIES}",
                exit_code=ExitCode.USAGE,
            )
        )
    found.unfit += unfit_tables(lab, name, database, wanted & there)
