"""`labctl tools artifacts`: the parts that do not come with `pip install`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table

from labctl.artifacts import ArtifactStatus, ArtifactStore
from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result
from labctl.cli.progress import ConsoleProgress
from labctl.errors import ExitCode

__all__ = ["fetch_command", "list_command", "verify_command"]

app = group("artifacts")
Names = Annotated[list[str] | None, typer.Argument(help="Which parts [default: all].")]


@command(app, "list", example="labctl tools artifacts list")
def list_command(invocation: Invocation) -> None:
    """List the parts, their versions and where each stands."""
    _show(invocation, ArtifactStore().statuses())


@command(app, "fetch", example="labctl tools artifacts fetch kafka mysql")
def fetch_command(invocation: Invocation, names: Names = None) -> None:
    """Fetch what is missing or damaged. What is there is not fetched again."""
    with ConsoleProgress() as progress:
        statuses = ArtifactStore().fetch(names or None, progress=progress)
    _show(invocation, statuses)


@command(app, "verify", example="labctl tools artifacts verify")
def verify_command(invocation: Invocation, names: Names = None) -> None:
    """Compare every fetched file with its checksum. Exits 5 when one is damaged."""
    with ConsoleProgress() as progress:
        statuses = ArtifactStore().verify(names or None, progress=progress)
    _show(invocation, statuses)
    if any(status.state == "damaged" for status in statuses):
        raise typer.Exit(int(ExitCode.ENVIRONMENT))


def _show(invocation: Invocation, statuses: list[ArtifactStatus]) -> None:
    print_result(invocation.format, {"artifacts": statuses}, lambda: _render(statuses))


def _render(statuses: list[ArtifactStatus]) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    for title in ("part", "version", "from", "state", "size"):
        table.add_column(title)
    notes = []
    for status in statuses:
        table.add_row(
            status.name,
            status.version,
            status.kind,
            status.state,
            f"{status.size / 1024**2:.0f} MiB" if status.size else "",
        )
        notes += [f"{status.name}: {status.note}"] if status.note else []
        notes += [f"{status.name}: damaged: {file}" for file in status.damaged]
    return Group(table, *notes)
