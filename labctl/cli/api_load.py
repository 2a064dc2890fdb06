"""`labctl tools api load`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.app import Invocation
from labctl.cli.output import print_result, stderr
from labctl.errors import ExitCode
from labctl.lab.catalog.lake_api_switch import api_of

if TYPE_CHECKING:
    from labctl.latency.api_load import Round

__all__ = ["load_command"]

CLIENTS_AT_MOST = 1_000


def load_command(
    invocation: Invocation,
    requests: Annotated[int, typer.Option("-n", "--requests", min=1, help="How many.")] = 500,
    clients: Annotated[
        int,
        typer.Option("-c", "--clients", min=1, max=CLIENTS_AT_MOST, help="How many at once."),
    ] = 25,
    path: Annotated[str, typer.Option(help="What is asked for, behind /v1.")] = "/users",
    mix: Annotated[bool, typer.Option("--mix", help="All endpoints in turn.")] = False,
) -> None:
    """Ask the lake API many times: once with an empty cache, once with a full one.

    With --mix each endpoint is asked once before, one after the other. Exits 1 when an answer was
    an error.
    """
    from labctl.latency.api_load import all_endpoints, rounds_of

    lab = invocation.lab()
    url = api_of(lab).url
    rounds: list[Round] = []
    with stderr.status("asking") as status:

        def begin(name: str) -> None:
            status.update(f"asking, {name}")

        if mix:
            paths = all_endpoints(url)
            rounds += rounds_of(lab, paths, requests=len(paths), clients=1, begin=begin)
        else:
            paths = [f"/{path.removeprefix('/')}"]
        rounds += rounds_of(lab, paths, requests=requests, clients=clients, begin=begin)
    data = {"url": url, "paths": paths, "rounds": rounds}
    print_result(invocation.format, data, lambda: _render(paths, rounds))
    if any(one.errors for one in rounds):
        raise typer.Exit(int(ExitCode.FAILED))


def _render(paths: list[str], rounds: list[Round]) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    for title in ("cache", "requests", "at once", "seconds", "a second"):
        table.add_column(title, justify="left" if title == "cache" else "right")
    for title in ("p50", "p90", "p95", "p99", "max"):
        table.add_column(f"{title} ms", justify="right")
    table.add_column("errors", justify="right")
    for one in rounds:
        found = one.percentiles
        times = (found.p50, found.p90, found.p95, found.p99, found.maximum) if found else ()
        table.add_row(
            one.name,
            f"{one.requests:,}",
            str(one.clients),
            f"{one.seconds:.2f}",
            f"{one.a_second:,.0f}",
            *([f"{seconds * 1000:.1f}" for seconds in times] or ["-"] * 5),
            str(one.errors),
        )
    asked = paths[0] if len(paths) == 1 else f"{len(paths)} endpoints in turn"
    failed = [Text(f"{one.name}: {one.first_error}") for one in rounds if one.errors]
    return Group(f"GET {asked}", "", table, *failed)
