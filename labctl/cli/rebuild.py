"""`labctl table rebuild`."""

from __future__ import annotations

from typing import Annotated

import typer

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result, stderr
from labctl.lab.tables.table_rebuild import cancel_rebuild, rebuild_table
from labctl.lab.tables.table_requests import refill_table

__all__ = ["rebuild_command"]


@command(group("table"), "rebuild", example="labctl table rebuild sale && labctl verify sale")
def rebuild_command(
    invocation: Invocation,
    table: Annotated[str, typer.Argument(help="Which silver table.")],
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Withdraw a request that has not been carried out.")
    ] = False,
    from_topic: Annotated[
        bool,
        typer.Option(
            "--from-topic",
            help="From all that its topic has, and bronze too: for a topic that was recreated.",
        ),
    ] = False,
) -> None:
    """Write a silver table again from its bronze files, then go on with what came since.

    Refused if bronze lacks files that were removed after the lake's retention.

    With --from-topic the table, with its history, is removed, and its bronze files are moved to
    the folder `retired`: both start again with the first record that the topic has. Take a new
    snapshot first, so that the topic has every row.
    """
    lab = invocation.lab().require_running()
    if cancel:
        withdrawn = cancel_rebuild(lab, table)
        print_result(
            invocation.format,
            {"table": table, "withdrawn": withdrawn},
            lambda: (
                f"the request to rebuild {table} was withdrawn"
                if withdrawn
                else f"there is no request to rebuild {table}"
            ),
        )
        return
    if from_topic:
        refill_table(lab, table)
        print_result(
            invocation.format,
            {"table": table, "from_topic": True},
            lambda: (
                f"{table} and its bronze files are being written again from its topic; "
                f"labctl verify {table} says when every row is there"
            ),
        )
        return
    with stderr.status(f"rebuilding {table} from bronze"):
        seconds = rebuild_table(lab, table)
    print_result(
        invocation.format,
        {"table": table, "seconds": round(seconds, 1)},
        lambda: f"{table} was rebuilt from bronze in {seconds:.1f} s",
    )
