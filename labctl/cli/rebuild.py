"""`labctl rebuild`."""

from __future__ import annotations

from typing import Annotated

import typer

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result, stderr
from labctl.lab.rebuild import rebuild_table

__all__ = ["rebuild_command"]


@command(root, "rebuild", example="labctl rebuild sale && labctl verify sale")
def rebuild_command(
    invocation: Invocation, table: Annotated[str, typer.Argument(help="Which silver table.")]
) -> None:
    """Write a silver table anew from its bronze files, then go on with what came since."""
    lab = invocation.lab().require_running()
    with stderr.status(f"rebuilding {table} from bronze"):
        seconds = rebuild_table(lab, table)
    print_result(
        invocation.format,
        {"table": table, "seconds": round(seconds, 1)},
        lambda: f"{table} was rebuilt from bronze in {seconds:.1f} s",
    )
