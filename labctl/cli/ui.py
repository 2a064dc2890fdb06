"""`labctl ui`."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import Annotated

import typer

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import stderr
from labctl.config.lab_config import find_project
from labctl.errors import ExitCode, LabError

__all__ = ["ui_command"]

_USUAL_PORT = 8765


@command(root, "ui", example="labctl ui --read-only")
def ui_command(
    invocation: Invocation,
    port: Annotated[
        int | None,
        typer.Option(min=1024, max=65535, help="Port of 127.0.0.1 [default: 8765, or a free one]."),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="A page that changes nothing.")
    ] = False,
) -> None:
    """Show the lab on a page of this machine's browser: from a row to the lake, live.

    The link that is printed has a token: who knows it may do on the page what you may here.
    """
    from labctl.cli.hints import addressed
    from labctl.command_process import LabCommand
    from labctl.state.sockets import free_port, is_free, owner_of
    from labctl.ui.lake_workers import LabAddress, LakeWorkers
    from labctl.ui.page_context import PageContext
    from labctl.ui.page_server import PageServer
    from labctl.ui.ui_application import ui_application

    lab = invocation.lab().require_here()
    options = {"--lab": invocation.name, "--profile": invocation.profile}
    project = find_project(None)
    token = secrets.token_urlsafe(32)
    address = LabAddress(project, lab.name, invocation.profile)
    context = PageContext(
        address,
        LakeWorkers(address),
        labctl=LabCommand(project, (f"--lab={lab.name}", f"--profile={lab.profile}")),
        addressed=lambda text: addressed(text, options),
        is_read_only=read_only,
    )
    if port is not None and not is_free(port):
        raise LabError(
            f"Port {port} is taken: {owner_of(port)}",
            hint="labctl ui takes a free one by itself",
            exit_code=ExitCode.USAGE,
        )
    chosen = port or (_USUAL_PORT if is_free(_USUAL_PORT) else free_port(set()))

    def say() -> None:
        stderr.print(f"http://127.0.0.1:{chosen}/?token={token}", soft_wrap=True, highlight=False)
        stderr.print("Open it in a browser of this machine. Ctrl+C ends the page.")

    application = ui_application(context, lab_name=lab.name, port=chosen, token=token)
    with suppress(KeyboardInterrupt):
        PageServer(application, context, port=chosen, started=say).run()
