"""`labctl seed`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result, stderr
from labctl.counted import counted
from labctl.datasets import data_sets
from labctl.lab.lifecycle.seeding import Seeded, seed_lab

__all__ = ["seed_command", "seed_summary"]


@command(root, "seed", example="labctl seed --scale 0.1")
def seed_command(
    invocation: Invocation,
    name: Annotated[
        str | None, typer.Argument(help="The data set [default: those that lab.toml names].")
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Tell which data sets there are, and load none.")
    ] = False,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Zip or folder of the data set's own files [default: what was seeded before].",
        ),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(
            help="Size of the generated data set; 1 is the original's "
            "[default: what was seeded before, else 1]."
        ),
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Only these tables, with commas between [default: all].")
    ] = None,
    reset: Annotated[
        bool, typer.Option("--reset", help="Bring tables that were changed back to the data set.")
    ] = False,
    connect: Annotated[
        bool, typer.Option(help="Apply the source connectors afterwards, so that it streams.")
    ] = True,
) -> None:
    """Load data sets into the source databases and start streaming them. Safe to repeat."""
    if list_:
        known = [
            {"name": one.name, "title": one.title, "tables": [t.label for t in one.tables]}
            for one in data_sets()
        ]
        print_result(invocation.format, known, lambda: _list(known))
        return
    lab = invocation.lab().require_running()
    with stderr.status("loading") as status:
        seeded = seed_lab(
            lab,
            name,
            scale=scale,
            from_path=from_,
            only=[part.strip() for part in (only or "").split(",") if part.strip()],
            reset=reset,
            connect=connect,
            progress=lambda table, what: status.update(f"{table}: {what}"),
        )
    data = {**vars(seeded), "rows": seeded.rows, "seconds": seeded.seconds}
    print_result(invocation.format, data, lambda: seed_summary(seeded))


def _list(known: list[dict[str, Any]]) -> RenderableType:
    table = Table("data set", "what it holds", "tables", box=None, pad_edge=False)
    for one in known:
        table.add_row(one["name"], one["title"], ", ".join(one["tables"]))
    return table


def seed_summary(seeded: Seeded) -> RenderableType:
    """Show what was loaded, and which connectors stream it now."""
    table = Table(box=None, pad_edge=False)
    for title in ("table", "in", "rows", "what", "seconds"):
        table.add_column(title, justify="right" if title in ("rows", "seconds") else "left")
    for one in seeded.tables:
        table.add_row(one.table, one.engine, f"{one.rows:,}", str(one.action), f"{one.seconds:.1f}")
    notes = []
    for result in seeded.data_sets:
        notes.append(
            f"{result.data_set}: {counted(result.rows, 'row')}, {result.origin}, "
            f"in {result.seconds:.1f} s"
        )
        notes += [f"{t.table}: {t.note} (--reset brings the data set back)" for t in result.kept]
        notes += [f"{name}: no source of this lab has its schema" for name in result.skipped]
        notes += [f"{name}: {result.origin} has no file of it" for name in result.without_file]
    notes += [f"{connector.name}: {connector.change}" for connector in seeded.connectors]
    notes += [sentence for one in seeded.connectors for sentence in one.without_table]
    return Group(table, *notes)
