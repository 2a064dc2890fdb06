"""`labctl seed`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result, stderr
from labctl.kafkaconnect.apply import Applied
from labctl.lab.seeding import seed_lab
from seeds.tickit.load import SeedResult

__all__ = ["seed_command", "seed_summary"]


@command(root, "seed", example="labctl seed --scale 0.1")
def seed_command(
    invocation: Invocation,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="The original data set's zip or folder [default: what was seeded before].",
        ),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(
            help="Size of the generated data set; 1 is the original's "
            "[default: what was seeded before, else 1]."
        ),
    ] = None,
    reset: Annotated[
        bool, typer.Option("--reset", help="Bring tables that were changed back to the data set.")
    ] = False,
    connect: Annotated[
        bool, typer.Option(help="Apply the source connectors afterwards, so that it streams.")
    ] = True,
) -> None:
    """Load TICKIT into the source databases and start streaming it. Safe to repeat."""
    lab = invocation.lab().require_running()
    with stderr.status("loading TICKIT") as status:
        result, applied = seed_lab(
            lab,
            scale=scale,
            from_path=from_,
            reset=reset,
            connect=connect,
            progress=lambda table, what: status.update(f"{table}: {what}"),
        )
    data = {**vars(result), "connectors": applied}
    print_result(invocation.format, data, lambda: seed_summary(result, applied))


def seed_summary(result: SeedResult, applied: list[Applied]) -> RenderableType:
    """What was loaded and which connectors now stream it."""
    table = Table(box=None, pad_edge=False)
    for title in ("table", "in", "rows", "what", "seconds"):
        table.add_column(title, justify="right" if title in ("rows", "seconds") else "left")
    for seeded in result.tables:
        table.add_row(
            seeded.table,
            seeded.engine,
            f"{seeded.rows:,}",
            str(seeded.action),
            f"{seeded.seconds:.1f}",
        )
    notes = [f"{t.table}: {t.note} (--reset brings the data set back)" for t in result.kept]
    notes += [f"{name}: this lab has no such database" for name in result.skipped]
    notes += [f"{connector.name}: {connector.change}" for connector in applied]
    return Group(table, f"{result.rows:,} rows, {result.origin}, in {result.seconds:.1f} s", *notes)
