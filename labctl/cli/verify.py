"""`labctl verify`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result, stderr
from labctl.errors import ExitCode
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import read_pipeline
from labctl.lab.tables.verification import verify_lab
from labctl.verify import State, TableDiff, TableVerdict, VerifyReport

__all__ = ["verify_command", "verify_exit_code", "verify_summary"]

STYLES = {
    State.EQUAL: "green",
    State.DIFFERENT: "bold red",
    State.IN_FLIGHT: "yellow",
    State.CANNOT_TELL: "yellow",
    State.CANNOT_COMPARE: "yellow",
}


@command(root, "verify", example="labctl verify sale listing")
def verify_command(
    invocation: Invocation,
    tables: Annotated[list[str] | None, typer.Argument(help="Which tables [default: all].")] = None,
    timeout: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for changes on their way.")
    ] = 300.0,
) -> None:
    """Compare every source table with its silver table, row by row.

    Exits with 4 if a table differs, with 7 if it could not tell, and with 3 if all rows match but
    something keeps further changes from silver or bronze.
    """
    lab = invocation.lab().require_running()
    with stderr.status("comparing sources with silver") as status:
        report = verify_lab(
            lab,
            tables or (),
            timeout=timeout,
            on_verdict=lambda verdict: status.update(f"{verdict.source}: {_state(verdict)}"),
            on_wait=lambda so_far: status.update(
                f"{so_far.source}: {so_far.reason or 'not the same yet'}"
            ),
        )
    halted = _halted(lab, report) if report.equal else []
    steps = [
        *_unrecorded(lab, report),
        *_other_rows(report),
        *_extra_rows(lab, report),
        *_with_title(halted),
    ]
    print_result(
        invocation.format,
        {**report.to_dict(), "stopped": halted},
        lambda: Group(verify_summary(report), *map(Text, map(invocation.addressed, steps))),
    )
    if code := verify_exit_code(report):
        raise typer.Exit(int(code))
    if halted:
        raise typer.Exit(int(ExitCode.NOT_READY))


def _halted(lab: Lab, report: VerifyReport) -> list[str]:
    """Return what keeps further changes from the compared tables and from bronze."""
    compared = {verdict.silver for verdict in report.tables}
    sources = {table.source for table in lab.tables if table.name in compared}
    connectors = {lab.config.sources[source].connector for source in sources}
    return read_pipeline(lab).halts(compared, connectors)


def _with_title(halted: Sequence[str]) -> list[str]:
    if not halted:
        return []
    return ["Further changes would not arrive:", *(f"  {sentence}" for sentence in halted)]


def _unrecorded(lab: Lab, report: VerifyReport) -> list[str]:
    """Return why changes of differing tables do not come, which has to be corrected first."""
    differing = {v.silver for v in report.tables if v.state is State.DIFFERENT}
    if not differing:
        return []
    return [
        f"Table {table.name}: {table.source_problem}"
        for table in read_pipeline(lab).tables
        if table.name in differing and table.source_problem
    ]


def _other_rows(report: VerifyReport) -> list[str]:
    """Return next steps for rows that silver lacks, or has with other values.

    A table for which a part has stopped has its next step in its reason.
    """
    differing = [
        v for v in report.tables if v.state is State.DIFFERENT and v.diff and v.reason is None
    ]
    return [
        f"To load {v.silver} again while its changes go on: labctl connectors backfill {v.silver}"
        for v in differing
        if v.diff and (v.diff.missing or v.diff.different or v.diff.columns_missing)
    ]


def _extra_rows(lab: Lab, report: VerifyReport) -> list[str]:
    """Return next steps for rows that the sources do not have."""
    extra = {
        v.silver for v in report.tables if v.state is State.DIFFERENT and v.diff and v.diff.extra
    }
    connectors = sorted(
        {lab.config.sources[table.source].connector for table in lab.tables if table.name in extra}
    )
    return [
        "Rows are extra that were deleted while nobody read the log, or in a way that it does not "
        "tell. To remove them: "
        f"labctl connectors snapshot {connector} --start-over"
        for connector in connectors
    ]


def verify_exit_code(report: VerifyReport) -> ExitCode:
    """0 when all tables are equal, 4 when one is known to differ, 7 when neither is known."""
    if report.equal:
        return ExitCode.OK
    return ExitCode.DIFFERENT if report.different else ExitCode.UNDECIDED


def verify_summary(report: VerifyReport) -> RenderableType:
    """Show one line per table, and the rows that differ."""
    table = Table(box=None, pad_edge=False)
    for title in ("source", "silver", "rows", "state", "missing", "extra", "different"):
        table.add_column(title, justify="left" if title in ("source", "silver") else "right")
    for verdict in report.tables:
        diff = verdict.diff
        table.add_row(
            verdict.source,
            verdict.silver,
            f"{diff.source_rows:,}" if diff else "",
            Text(_state(verdict), style=STYLES[verdict.state]),
            *(
                f"{n:,}" if n else ""
                for n in ((diff.missing, diff.extra, diff.different) if diff else ())
            ),
        )
    lines = [line for verdict in report.tables for line in _explained(verdict)]
    return Group(table, *map(Text, lines), f"{_outcome(report)} ({report.seconds:.1f} s)")


def _outcome(report: VerifyReport) -> str:
    if report.equal:
        return "All rows match"
    if report.different:
        return "Sources and silver differ"
    found = {verdict.state for verdict in report.tables}
    if State.CANNOT_TELL in found:
        return "Not decided: a part did not answer"
    if State.IN_FLIGHT in found:
        return "Not decided: changes are still on their way"
    return "Not decided: not everything can be compared"


def _state(verdict: TableVerdict) -> str:
    return verdict.state.replace("-", " ")


def _explained(verdict: TableVerdict) -> list[str]:
    """Why a table is not equal. Its rows are named only when they differ for good."""
    name, diff = verdict.silver, verdict.diff
    lines = [f"{name}: {verdict.reason}"] if verdict.reason else []
    if diff is not None:
        if verdict.state is State.DIFFERENT:
            lines += _differences(name, diff)
        lines += [
            f"{name}: silver has no column {column} yet: it is NULL in every row of the source"
            for column in diff.columns_awaited
        ]
        lines += [f"{name}: not captured: {column}" for column in diff.columns_uncaptured]
        lines += [f"{name}: cannot compare column {column}" for column in diff.columns_incomparable]
    return lines


def _differences(name: str, diff: TableDiff) -> list[str]:
    lines = [f"{name}: missing {_key(key)}" for key in diff.missing_keys]
    lines += [f"{name}: extra {_key(key)}" for key in diff.extra_keys]
    lines += [f"{name}: more than once {_key(key)}" for key in diff.duplicated_keys]
    lines += [
        f"{name}: {_key(change.key)} {column}: source {old!r}, silver {new!r}"
        for change in diff.changes
        for column, (old, new) in change.columns.items()
    ]
    return lines + [f"{name}: silver has no column {column}" for column in diff.columns_missing]


def _key(key: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in key.items())
