"""`labctl tools api`."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from labctl.cli.api_cache import cache
from labctl.cli.api_demo import demo_command
from labctl.cli.api_load import load_command
from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result, stderr
from labctl.cli.progress import ConsoleProgress
from labctl.errors import ExitCode
from labctl.lab.catalog.lake_api_switch import (
    ApiStatus,
    SwitchedOff,
    api_of,
    api_status,
    switch_off,
    switch_on,
)

__all__ = ["down_command", "open_command", "status_command", "up_command"]

app = group("api")
app.add_typer(cache)


@command(app, "up", example="labctl tools api up")
def up_command(
    invocation: Invocation,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Start no cache that the lab does not have.")
    ] = False,
) -> None:
    """Switch the lake API on in the lab that runs, with its cache. It stays so until `api down`."""
    lab = invocation.lab()
    with ConsoleProgress() as progress:
        started = switch_on(lab, progress, cached=not no_cache)
    url = api_of(invocation.lab())
    data = {"url": url.url, "swagger": url.swagger, "seconds": round(started.seconds, 1)}
    print_result(
        invocation.format,
        data,
        lambda: (
            f"The lake API answers at {url.swagger}\n"
            + invocation.addressed(
                "Next: labctl tools api open · labctl tools api load · labctl tools api down"
            )
        ),
    )


@command(app, "down", example="labctl tools api down")
def down_command(invocation: Invocation) -> None:
    """Stop the lake API, and the cache that `api up` started with it."""
    lab = invocation.lab()
    with stderr.status("stopping the lake API"):
        ended = switch_off(lab)
    print_result(invocation.format, ended, lambda: invocation.addressed(_ended(ended)))


def _ended(ended: SwitchedOff) -> str:
    if not ended.stopped:
        words = "The lake API was not running"
    else:
        words = f"Stopped: {', '.join(ended.stopped)}"
    if ended.by_file:
        words += ". lab.toml switches it on: `labctl up` starts it again"
    return words


@command(app, "status", example="labctl tools api status")
def status_command(invocation: Invocation) -> None:
    """Show whether the lake API runs, and whether Athena's API and the cache answer it.

    Exits 0 when it can answer, else 3.
    """
    status = api_status(invocation.lab())
    print_result(invocation.format, status, lambda: _render(status))
    if status.health not in ("UP", "DEGRADED"):
        raise typer.Exit(int(ExitCode.NOT_READY))


def _render(status: ApiStatus) -> RenderableType:
    service = status.service
    table = Table(box=None, pad_edge=False, show_header=False)
    shown = {
        "state": f"{service.state} {'' if service.state == 'ready' else service.detail}".strip(),
        **service.urls,
        "health": status.health or "unknown",
        **status.components,
        "cache": "as new as the tables"
        if status.cached
        else "none: `labctl tools api up` starts one",
        "workers": str(status.workers),
        "memory": f"{service.memory_bytes / 1024**2:.0f} MiB",
        "restarts": str(service.restarts),
    }
    for name, value in shown.items():
        table.add_row(name, value)
    return table


@command(app, "open", example="labctl tools api open")
def open_command(invocation: Invocation) -> None:
    """Open the page that shows what the lake API answers; print its address."""
    url = api_of(invocation.lab()).swagger
    opened = webbrowser.open(url)
    print_result(invocation.format, {"url": url, "opened": opened}, lambda: url)
    if not opened:
        stderr.print("No browser could be opened: the address is above", highlight=False)


command(app, "load", example="labctl tools api load --mix")(load_command)
command(app, "demo", example="labctl tools api demo")(demo_command)
