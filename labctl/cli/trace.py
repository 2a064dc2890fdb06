"""`labctl trace`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result
from labctl.cli.records import WhereOption, wanted_fields
from labctl.errors import ExitCode, LabError
from labctl.lab.tables.row_trace import RowTrace, State, trace

__all__ = ["trace_command", "trace_text"]

_STYLES = {
    State.CURRENT: "green",
    State.DELETED: "green",
    State.REMOVED: "green",
    State.OLDER: "yellow",
    State.MISSING: "yellow",
    State.UNKNOWN: "bold red",
}


@command(root, "trace", example="labctl trace sale --where salesid=200")
def trace_command(
    invocation: Invocation,
    table: Annotated[str, typer.Argument(help="Which silver table.")],
    where: WhereOption = None,
) -> None:
    """Follow one row from its source to silver, and say where it stopped, and why.

    Exits with 3 if a station lacks the row or has another version of it, or if none knows it.
    """
    key = wanted_fields(where)
    if not key:
        raise LabError(
            "Which row? No column was named",
            hint="--where salesid=200; several for a key of several columns",
            exit_code=ExitCode.USAGE,
        )
    lab = invocation.lab().require_running()
    found = trace(lab, lab.table(table), key)
    stopped = found.stopped
    print_result(
        invocation.format,
        {
            "table": found.table,
            "key": key,
            "stations": found.stations,
            "arrived": stopped is None and not found.nowhere,
        },
        lambda: trace_text(found),
    )
    if stopped is not None or found.nowhere:
        raise typer.Exit(int(ExitCode.NOT_READY))


def trace_text(found: RowTrace) -> RenderableType:
    """Stations, the row with what differs on its way, and where it stopped."""
    table = Table(box=None, pad_edge=False)
    for title in ("station", "has it", "since", "where"):
        table.add_column(title, no_wrap=title != "where")
    for station in found.stations:
        table.add_row(
            station.name,
            Text(station.state, style=_STYLES[station.state]),
            "" if station.at is None else f"{station.at:%Y-%m-%d %H:%M:%S.%f}"[:-3],
            Text(station.place),
        )
    return Group(table, *map(Text, _rows(found)), Text(_verdict(found)))


def _rows(found: RowTrace) -> Iterator[str]:
    """Yield the row as each station has it, where it differs from the station before."""
    before: dict[str, str] = {}
    for station in found.stations:
        row = {name: str(value) for name, value in (station.row or {}).items()}
        if not row:
            continue
        if not before:
            shown = row
        else:
            shown = {n: v for n, v in row.items() if n in before and before[n] != v}
        if shown:
            yield f"{station.name}: " + ", ".join(f"{n}={v}" for n, v in shown.items())
        before = before | row


def _verdict(found: RowTrace) -> str:
    if stopped := found.stopped:
        return f"The row stopped before {stopped.name}: {stopped.why}."
    if found.nowhere:
        return "No station knows such a row."
    if found.stations[0].state is State.MISSING:
        return "Deleted at the source, and everywhere."
    return "The row arrived."
