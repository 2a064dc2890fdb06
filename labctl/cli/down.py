"""`labctl down` and `labctl destroy`."""

from __future__ import annotations

from labctl.cli.app import Invocation, command, root
from labctl.cli.confirming import YesOption, confirm
from labctl.cli.output import print_result, stderr
from labctl.lab.lifecycle.down import destroy, down

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
    yes: YesOption = False,
) -> None:
    """Stop the lab and delete its data, secrets and logs. The cache of parts stays."""
    lab = invocation.lab(even_damaged=True)
    lab.require_here().state.require()
    confirm(f"Delete lab {lab.name!r} and all its data?", yes=yes)
    with stderr.status(f"removing lab {lab.name!r}"):
        destroy(lab)
    print_result(
        invocation.format,
        {"lab": lab.name, "removed": str(lab.state.folder)},
        lambda: f"Lab {lab.name!r} is gone ({lab.state.folder})",
    )
