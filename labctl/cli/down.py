"""`labctl down` and `labctl destroy`."""

from __future__ import annotations

from typing import Annotated

import typer

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result, stderr
from labctl.errors import ExitCode, LabError
from labctl.lab.down import destroy, down

__all__ = ["destroy_command", "down_command"]


@command(root, "down", example="labctl down")
def down_command(invocation: Invocation) -> None:
    """Stop the lab's services. Its data stays; `labctl up` goes on where it was."""
    lab = invocation.lab(even_damaged=True)
    with stderr.status(f"stopping lab {lab.name!r}"):
        stopped = down(lab)
    words = f"Lab {lab.name!r} is down" if stopped else f"Lab {lab.name!r} was not running"
    print_result(invocation.format, {"lab": lab.name, "stopped": stopped}, lambda: words)


@command(root, "destroy", example="labctl destroy --yes")
def destroy_command(
    invocation: Invocation,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Stop the lab and delete its data, secrets and logs. The cache of parts stays."""
    lab = invocation.lab(even_damaged=True)
    lab.require_here().state.require()
    if not yes:
        if not stderr.is_terminal:
            raise LabError(
                f"This deletes lab {lab.name!r} and all its data",
                hint="say --yes to do it without being asked",
                exit_code=ExitCode.USAGE,
            )
        typer.confirm(f"Delete lab {lab.name!r} and all its data?", abort=True, err=True)
    with stderr.status(f"removing lab {lab.name!r}"):
        destroy(lab)
    print_result(
        invocation.format,
        {"lab": lab.name, "removed": str(lab.state.folder)},
        lambda: f"Lab {lab.name!r} is gone ({lab.state.folder})",
    )
