"""`labctl restart`."""

from __future__ import annotations

from typing import Annotated

import typer

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result
from labctl.cli.progress import ConsoleProgress
from labctl.lab.lifecycle.up import restart_service

__all__ = ["restart_command"]


@command(root, "restart", example="labctl restart silver")
def restart_command(
    invocation: Invocation, service: Annotated[str, typer.Argument(help="Which service.")]
) -> None:
    """Restart one service with its current configuration and code."""
    lab = invocation.lab()
    with ConsoleProgress() as progress:
        version = restart_service(lab, service, progress)
    print_result(
        invocation.format,
        {"service": service, "version": version},
        lambda: f"{service}: {version}",
    )
