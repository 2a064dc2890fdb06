"""Checks of whether tables can be captured, in their databases, before anything is changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.arrival_forecast import Finding, table_findings
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.lab.connectors.capture_checks import limits_of
from labctl.lab.connectors.source_files import source_file
from labctl.lab.connectors.table_filters import lets_through
from labctl.lab.lab import Lab
from labctl.sources import Source, SourceTable, TableRef, connect
from labctl.sources.capture_limits import NO_LIMITS, Limits

__all__ = [
    "FitTable",
    "fit_tables",
    "refuse_unfit",
    "require_fit",
    "stopping",
    "unfit_tables",
]


@dataclass(frozen=True)
class FitTable:
    """A table of a source, with the findings on its columns."""

    source: str
    ref: TableRef
    has_key: bool
    findings: tuple[Finding, ...]

    @property
    def refusals(self) -> list[Finding]:
        """Findings because of which the table cannot be captured."""
        return [finding for finding in self.findings if finding.verdict == "refused"]

    def data(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "source": self.source,
            "table": str(self.ref),
            "has_key": self.has_key,
            "columns": [asdict(finding) for finding in self.findings],
        }


def fit_tables(
    lab: Lab, name: str, database: Source, refs: Collection[TableRef] = ()
) -> list[FitTable]:
    """Check tables of a source: `refs`, or all that its connector lets through."""
    file, engine = source_file(lab, name), lab.config.sources[name].engine
    read = _read_by(lab, name, database)
    found = []
    for ref in refs or read:
        table = database.describe(ref)
        limits = limits_of(database, file, ref)
        findings = table_findings(table, engine, file.config, read, limits)
        found.append(FitTable(name, ref, bool(table.keys), findings))
    return found


def require_fit(lab: Lab, name: str, database: Source, adding: SourceTable, limits: Limits) -> None:
    """Raise LabError (USAGE) if the table `adding` cannot be captured.

    Raises it also for other tables that would stop the source's connector.
    """
    file, read = source_file(lab, name), _read_by(lab, name, database)
    refuse_unfit(
        [
            *_refusals(lab, name, adding, read, limits),
            *_stopping(lab, name, database, read, but=[adding.ref]),
        ],
        [file],
    )


def unfit_tables(
    lab: Lab, name: str, database: Source, captured: Collection[TableRef]
) -> list[str]:
    """Return what keeps a source's `captured` tables, or its connector, from silver.

    A connector reads each table that its filters let through, not only those with a properties
    file, and a table that it cannot write stops it. What change records of a captured table would
    lack is not covered here: `limits_of` returns it.
    """
    read = _read_by(lab, name, database)
    return [
        *(
            said
            for ref in sorted(captured, key=str)
            for said in _refusals(lab, name, database.describe(ref), read)
        ),
        *_stopping(lab, name, database, read, but=captured),
    ]


def stopping(lab: Lab, name: str) -> list[str]:
    """Return why the connector of a source fails, with one sentence per table that stops it."""
    with connect(lab.endpoints, name) as database:
        return list(_stopping(lab, name, database, _read_by(lab, name, database)))


def _read_by(lab: Lab, name: str, database: Source) -> list[TableRef]:
    """Return the tables that the connector of a source lets through."""
    file, settings = source_file(lab, name), lab.config.sources[name]
    return [
        ref
        for schema in settings.schemas
        for ref in database.tables(schema)
        if lets_through(file.config, settings.engine, ref)
    ]


def _refusals(
    lab: Lab,
    name: str,
    table: SourceTable,
    read: Sequence[TableRef],
    limits: Limits = NO_LIMITS,
) -> Iterator[str]:
    file, engine = source_file(lab, name), lab.config.sources[name].engine
    for finding in table_findings(table, engine, file.config, read, limits):
        if finding.verdict == "refused":
            yield finding.sentence(table.ref)


def _stopping(
    lab: Lab,
    name: str,
    database: Source,
    read: Sequence[TableRef],
    but: Collection[TableRef] = (),
) -> Iterator[str]:
    """Yield what stops the connector of a source, except the tables in `but`.

    All other tables of the source are checked: each one once, and only its names.
    """
    file, engine = source_file(lab, name), lab.config.sources[name].engine
    for ref in read:
        if ref in but:
            continue
        try:
            table = database.describe(ref)
        except LabError:
            continue  # It has no column, or has been dropped meanwhile.
        for finding in table_findings(table, engine, file.config, read):
            if finding.stops_connector:
                yield finding.sentence(ref)


def refuse_unfit(problems: Sequence[str], files: Sequence[ConnectorFile]) -> None:
    """Raise LabError (USAGE) if there are problems with the tables of these connectors."""
    if problems:
        where = ", ".join(file.path.name for file in files if file.is_source)
        raise LabError(
            f"A table cannot be captured: {problems[0]}",
            details=tuple(problems[1:]),
            hint=f"nothing was changed; keys belong into {where}; `labctl table check "
            "SOURCE.SCHEMA.TABLE` tells it of each column",
            exit_code=ExitCode.USAGE,
        )
