"""`labctl connectors backfill`."""

from __future__ import annotations

from typing import Annotated

import typer

from labctl.cli.app import Invocation
from labctl.cli.output import print_result, stderr
from labctl.counted import counted
from labctl.lab.connectors.backfill import backfill_table

__all__ = ["backfill_command"]


def backfill_command(
    invocation: Invocation,
    table: Annotated[str, typer.Argument(help="Which silver table.")],
    where: Annotated[
        str | None,
        typer.Option("--where", help="Only rows with this condition, in the source's SQL."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", help="Only rows in which this column is not NULL."),
    ] = None,
) -> None:
    """Load a table again, or a part of it, while its changes go on.

    For values that no change brings: a column that was added with a default, or renamed. Returns
    once silver has the rows. Interrupted, it has the connector stop; rows that were read stay.
    """
    lab = invocation.lab().require_running()
    with stderr.status(f"{table} is loaded again") as status:
        done = backfill_table(
            lab,
            table,
            where=where,
            columns=tuple(column or ()),
            on_progress=lambda said: status.update(f"{table}: {said}"),
        )
    print_result(
        invocation.format,
        done,
        lambda: (
            f"{done.table}: {counted(done.rows, 'row', 'were')} loaded again "
            f"in {done.seconds:.1f} s"
        ),
    )
