"""`labctl tools api cache`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.app import Invocation, command
from labctl.cli.format import Format
from labctl.cli.output import print_result, stdout
from labctl.json_text import to_json_line
from labctl.lab.catalog.api_cache import (
    RESULTS,
    CachedAnswer,
    CacheStats,
    clear,
    keys,
    monitor,
    stats,
)

__all__ = ["cache"]

cache = typer.Typer(
    name="cache",
    help="What the lake API keeps of its answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@command(cache, "keys", example="labctl tools api cache keys")
def keys_command(invocation: Invocation) -> None:
    """List the answers that are kept: endpoint, arguments, the tables' commits, time left."""
    found = keys(invocation.lab())
    print_result(invocation.format, {"keys": found}, lambda: _listed(found))


def _listed(found: list[CachedAnswer]) -> RenderableType:
    if not found:
        return "Nothing is kept"
    table = Table(box=None, pad_edge=False)
    table.add_column("key", no_wrap=True)
    table.add_column("seconds left", justify="right")
    table.add_column("bytes", justify="right")
    for one in found:
        table.add_row(Text(one.key), str(one.seconds_left), f"{one.bytes:,}")
    return table


@command(cache, "clear", example="labctl tools api cache clear")
def clear_command(invocation: Invocation) -> None:
    """Drop the answers that are kept."""
    number = clear(invocation.lab())
    print_result(invocation.format, {"dropped": number}, lambda: f"{number} answers dropped")


@command(cache, "stats", example="labctl tools api cache stats")
def stats_command(invocation: Invocation) -> None:
    """Count what the API found in the cache and what it did not, by endpoint."""
    found = stats(invocation.lab())
    print_result(invocation.format, found, lambda: _counted(found))


def _counted(found: CacheStats) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    table.add_column("endpoint")
    for result in RESULTS:
        table.add_column(result, justify="right")
    for endpoint, counts in found.endpoints.items():
        table.add_row(endpoint, *(f"{counts[result]:,}" for result in RESULTS))
    ratio = "nothing was asked yet" if found.hit_ratio is None else f"{found.hit_ratio:.1%} hits"
    return Group(
        table,
        "",
        f"{ratio}; {found.keys:,} answers are kept in {found.memory_bytes / 1024**2:.1f} MiB, "
        f"{found.evicted:,} were dropped for lack of room",
    )


@command(cache, "monitor", example="labctl tools api cache monitor --count 10")
def monitor_command(
    invocation: Invocation,
    count: Annotated[
        int | None, typer.Option(min=1, help="End after so many commands [default: Ctrl-C].")
    ] = None,
) -> None:
    """Print every command that the cache gets, as `redis-cli MONITOR` does."""
    for one in islice(monitor(invocation.lab()), count):
        if invocation.format is Format.JSON:
            sys.stdout.write(to_json_line(one) + "\n")
            sys.stdout.flush()
            continue
        at = datetime.fromtimestamp(one.at, UTC).strftime("%H:%M:%S.%f")
        stdout.print(Text(f"{at} {one.client} {one.text}"), overflow="ellipsis", no_wrap=True)
