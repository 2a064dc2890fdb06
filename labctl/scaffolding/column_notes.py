"""Sentences on what becomes of a table's columns, for those that do not arrive as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from labctl.engine_names import EngineName
from labctl.kafkaconnect.arrival_forecast import Finding, Verdict, table_findings
from labctl.sources import SourceTable, TableRef
from labctl.sources.capture_limits import Limits

__all__ = ["column_notes"]

_SAID: Mapping[Verdict, str] = {
    "as text": "as text",
    "lossy": "with a loss",
    "not compared": "not compared",
    "not captured": "not captured",
}
"""Verdicts that a person should know of, in words. `refused` has a sentence of its own."""


def column_notes(
    table: SourceTable,
    engine: EngineName,
    config: Mapping[str, str],
    beside: Sequence[TableRef],
    limits: Limits,
) -> Iterator[str]:
    """Yield a sentence on the table's rows, and one for the columns of each verdict and reason.

    A sentence says how they arrive, and names the key. `config` is the connector's configuration,
    and `beside` the tables that it reads. Columns that no change has are in `limits`, and not named
    again.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for finding in table_findings(table, engine, config, beside, limits):
        if not finding.column and finding.verdict == "lossy":
            yield f"{table.ref}: {_reason(finding)}"
        elif (
            finding.column and finding.column not in limits.columns() and _is_worth_saying(finding)
        ):
            said = _SAID.get(finding.verdict, "under another name")
            groups.setdefault((said, _reason(finding)), []).append(finding.column)
    for (said, reason), columns in groups.items():
        yield f"{table.ref}: {', '.join(columns)} ({said}: {reason})"


def _is_worth_saying(finding: Finding) -> bool:
    if finding.verdict == "exact":
        return finding.silver != finding.column
    return finding.verdict in _SAID


def _reason(finding: Finding) -> str:
    return "; ".join(filter(None, (finding.why, finding.change)))
