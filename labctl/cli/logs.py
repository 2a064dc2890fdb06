"""`labctl logs`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.text import Text

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result

__all__ = ["logs_command"]


@command(root, "logs", example="labctl logs connect --lines 50 --follow")
def logs_command(
    invocation: Invocation,
    service: Annotated[str, typer.Argument(help="Which service.")],
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="How many.")] = 40,
    follow_: Annotated[bool, typer.Option("--follow", "-f", help="Go on as lines come.")] = False,
) -> None:
    """Print the last lines a service logged."""
    lab = invocation.lab()
    lab.require_here().state.require()
    name = lab.service(service).name
    file, last = lab.runtime.logs.file(name), lab.runtime.logs.tail(name, lines)
    print_result(
        invocation.format,
        {"service": service, "file": str(file) if file else None, "lines": last},
        lambda: Text("\n".join(last)),
    )
    if follow_:
        for line in lab.runtime.logs.follow(name):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
