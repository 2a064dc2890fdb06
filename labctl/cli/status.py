"""`labctl status`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.addresses import addresses_table
from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result
from labctl.counted import counted
from labctl.errors import ExitCode
from labctl.lab.observe.pipeline_state import (
    BronzeStatus,
    ConnectorStatus,
    SilverTableStatus,
)
from labctl.lab.observe.service_status import ServiceStatus
from labctl.overview import Tone, status_of, tone_of

__all__ = ["status_command", "status_text"]

_STYLES = {Tone.GOOD: "green", Tone.BUSY: "yellow", Tone.BAD: "bold red", Tone.OFF: "dim"}
WRITERS = {"spark": "the Spark application", "connect": "the S3 sink connector"}
WIDTH = 100
"""Characters of an error that a line has room for."""
PROBLEM_WIDTH = 500
"""Characters of a problem that a line has room for: its end says what to do."""


@command(root, "status", example="labctl status --output json")
def status_command(
    invocation: Invocation,
    addresses: Annotated[
        bool, typer.Option("--addresses", help="Show the services' addresses, too.")
    ] = False,
) -> None:
    """Show every service, connector and table, and what keeps changes from the lake.

    Exits with 3 if something does. Files that the lab does not run by are named, too.
    """
    lab = invocation.lab()
    data = status_of(lab)

    def shown() -> RenderableType:
        text = status_text(data, invocation.addressed)
        return Group(addresses_table(lab), "", text) if addresses else text

    print_result(invocation.format, data, shown)
    if not data["ready"]:
        raise typer.Exit(int(ExitCode.NOT_READY))


def status_text(
    data: Mapping[str, Any], addressed: Callable[[str], str] = lambda hint: hint
) -> RenderableType:
    """Show the same as tables.

    Each error takes one line; `addressed` writes commands for the user's lab.
    """
    parts: list[RenderableType] = [
        *_problems(data, addressed),
        _services(data["services"]),
        *_deaths(data["services"]),
    ]
    if data["connectors"]:
        parts += ["", _connectors(data["connectors"])]
    if data["tables"]:
        parts += ["", _tables(data["tables"]), *_refusals(data["tables"])]
    if data["bronze"]:
        parts += ["", Text(_bronze(data["bronze"]))]
    total = sum(service.memory_bytes for service in data["services"])
    parts += ["", f"lab {data['lab']} · profile {data['profile']} · {total / 1024**3:.2f} GiB"]
    return Group(*parts)


def _problems(data: Mapping[str, Any], addressed: Callable[[str], str]) -> list[RenderableType]:
    """Show what is not as it should be, which comes first; nothing if all is well."""
    parts: list[RenderableType] = []
    if data["problems"]:
        parts += [Text("not ready:", style="bold red")]
        parts += [Text(f"  {_in_one_line(problem, PROBLEM_WIDTH)}") for problem in data["problems"]]
        more = "`labctl logs SERVICE` and --output json say more" if data["running"] else ""
        parts += [Text(addressed(more or "start it with `labctl up`")), ""]
    if data["differs"]:
        parts += [Text("not what the files say:", style="yellow")]
        parts += [*(Text(f"  {addressed(sentence)}") for sentence in data["differs"]), ""]
    return parts


def _services(services: Sequence[ServiceStatus]) -> Table:
    table = _table("service", "state", "pid", "up for", "memory", "restarts")
    table.add_column("what")
    for service in services:
        table.add_row(
            service.name,
            _state(service.state),
            str(service.pid or ""),
            _ago(service.started_at) if service.started_at else "",
            f"{service.memory_bytes / 1024**2:.0f} MiB" if service.memory_bytes else "",
            str(service.restarts or ""),
            # What there is no room for is cut off, so that each service keeps to its line.
            Text(_in_one_line(service.detail, WIDTH), no_wrap=True, overflow="ellipsis"),
        )
    return table


def _deaths(services: Sequence[ServiceStatus]) -> list[Text]:
    """Below the table: in it, a long cause would leave the other columns no room."""
    return [
        Text(
            f"{service.name} died {_ago(service.last_death_at)} ago"
            + (f": {service.last_death_cause}" if service.last_death_cause else "")
        )
        for service in services
        if service.restarts and service.last_death_at
    ]


def _connectors(connectors: Sequence[ConnectorStatus]) -> Table:
    table = _table("connector", "state", "tasks", "log kept")
    for connector in connectors:
        tasks = ", ".join(connector.tasks) or "none"
        kept = connector.retained_bytes
        shown = "" if kept is None else f"{kept / 1024**2:.0f} MiB"
        table.add_row(connector.name, _state(connector.state), tasks, shown)
    return table


def _tables(tables: Sequence[SilverTableStatus]) -> Table:
    table = _table("silver table", "state", "type", "last commit", "behind", "dead letters")
    for silver in tables:
        table.add_row(
            silver.name,
            _state(silver.state),
            silver.table_type,
            _since(silver.last_commit_at),
            _count(silver.records_behind),
            _count(silver.dead_letters),
        )
    return table


def _refusals(tables: Sequence[SilverTableStatus]) -> list[Text]:
    said = [f"{t.name} was not rebuilt: {t.rebuild_refused}" for t in tables if t.rebuild_refused]
    return [Text(_in_one_line(line, WIDTH)) for line in said]


def _bronze(bronze: BronzeStatus) -> str:
    parts = [f"bronze is written by {WRITERS[bronze.writer]}"]
    if bronze.state:
        parts[0] += f" ({bronze.state})"
    if bronze.records_behind:
        parts.append(f"{counted(bronze.records_behind, 'record')} behind")
    if bronze.dead_letters:
        parts.append(f"{bronze.dead_letters:,} dead letters")
    if bronze.stopped_topics:
        parts.append(f"stopped for {', '.join(sorted(bronze.stopped_topics))}")
    if (kept := bronze.retention) and kept.files:
        parts.append(f"{counted(kept.files, 'old file')} removed ({kept.bytes / 1024**2:.1f} MiB)")
    if kept and kept.since:
        parts.append(f"holds all that was written since {max(kept.since.values())}")
    return ", ".join(parts)


def _state(state: str) -> Text:
    tone = tone_of(state)
    return Text(state, style=_STYLES[tone] if tone else "")


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _in_one_line(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title, no_wrap=True)
    return table


def _since(moment: str | None) -> str:
    return f"{_ago(datetime.fromisoformat(moment).timestamp())} ago" if moment else "none yet"


def _ago(at: float) -> str:
    seconds = int(time.time() - at)
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 7200:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h"
