"""`labctl verify`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result, stderr
from labctl.errors import ExitCode
from labctl.lab.verification import verify_lab
from labctl.verify import State, TableVerdict, VerifyReport

__all__ = ["verify_command", "verify_summary"]

STYLES = {State.EQUAL: "green", State.DIFFERENT: "bold red", State.IN_FLIGHT: "yellow"}


@command(root, "verify", example="labctl verify sale listing")
def verify_command(
    invocation: Invocation,
    tables: Annotated[list[str] | None, typer.Argument(help="Which tables [default: all].")] = None,
    timeout: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for changes on their way.")
    ] = 300.0,
) -> None:
    """Compare every source table with its silver table, row by row. Exits 4 if they differ."""
    lab = invocation.lab().require_running()
    with stderr.status("comparing sources with silver") as status:
        report = verify_lab(
            lab,
            tables or (),
            timeout=timeout,
            on_verdict=lambda verdict: status.update(f"{verdict.source}: {verdict.state}"),
        )
    print_result(invocation.format, report.to_dict(), lambda: verify_summary(report))
    if not report.equal:
        raise typer.Exit(int(ExitCode.DIFFERENT))


def verify_summary(report: VerifyReport) -> RenderableType:
    """A line a table, and the rows that are not as they should be."""
    table = Table(box=None, pad_edge=False)
    for title in ("source", "silver", "rows", "state", "missing", "extra", "different"):
        table.add_column(title, justify="left" if title in ("source", "silver") else "right")
    for verdict in report.tables:
        diff = verdict.diff
        table.add_row(
            verdict.source,
            verdict.silver,
            f"{diff.source_rows:,}",
            Text(verdict.state, style=STYLES[verdict.state]),
            *(f"{n:,}" if n else "" for n in (diff.missing, diff.extra, diff.different)),
        )
    lines = [line for verdict in report.tables for line in _differences(verdict)]
    outcome = "every row is the same" if report.equal else "sources and silver differ"
    return Group(table, *lines, f"{outcome}; looked for {report.seconds:.1f} s")


def _differences(verdict: TableVerdict) -> list[str]:
    diff = verdict.diff
    if diff.equal:
        return []
    name = verdict.silver
    lines = [f"{name}: missing {_key(key)}" for key in diff.missing_keys]
    lines += [f"{name}: extra {_key(key)}" for key in diff.extra_keys]
    lines += [f"{name}: more than once {_key(key)}" for key in diff.duplicated_keys]
    lines += [
        f"{name}: {_key(change.key)} {column}: source {old!r}, silver {new!r}"
        for change in diff.changes
        for column, (old, new) in change.columns.items()
    ]
    lines += [f"{name}: silver has no column {column}" for column in diff.columns_missing]
    lines += [f"{name}: cannot compare {column}" for column in diff.columns_incomparable]
    if verdict.in_flight:
        lines.append(f"{name}: {verdict.in_flight:,} records not in silver yet")
    return lines


def _key(key: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in key.items())
