"""`labctl client mcp`."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result, stderr
from labctl.config.lab_config import find_project
from labctl.extras import require_extra

__all__ = ["init_command", "serve_command"]

app = group("mcp")
_Changes = Annotated[
    bool, typer.Option("--allow-changes", help="Tools that change the lab and its files, too.")
]


@command(app, "serve", example="labctl client mcp serve --allow-changes")
def serve_command(
    invocation: Invocation,
    allow_changes: _Changes = False,
    http: Annotated[
        int | None,
        typer.Option(
            min=1024, max=65535, help="Answer on this port of 127.0.0.1, not on standard input."
        ),
    ] = None,
) -> None:
    """Serve the lab's commands as tools, by the Model Context Protocol, until interrupted.

    Without --allow-changes there is no tool that changes anything. On a port, a client needs the
    token from a file that only you can read; its path is printed.
    """
    require_extra("mcp")
    from labctl.mcp.tool_server import http_application, tool_server

    # Not the lab's: a tool says what is wrong with it, even if it cannot be read.
    project = find_project(None)
    server = tool_server(project, _options(invocation), allow_changes=allow_changes)
    if http is None:
        server.run("stdio")
        return
    import uvicorn

    from labctl.state.lab_state import write_private

    token = secrets.token_urlsafe(32)
    path = invocation.lab().state.require().folder / "mcp-token"
    write_private(path, token)
    stderr.print(f"http://127.0.0.1:{http}/mcp, with the token in {path}")
    uvicorn.run(
        http_application(server, http, token), host="127.0.0.1", port=http, log_level="warning"
    )


@command(app, "init", example="labctl client mcp init --allow-changes")
def init_command(invocation: Invocation, allow_changes: _Changes = False) -> None:
    """Write the server into .mcp.json of the project, where coding agents find it."""
    require_extra("mcp")
    from labctl.mcp.client_settings import write_settings

    path = write_settings(find_project(None), _options(invocation), allow_changes=allow_changes)
    print_result(
        invocation.format,
        {"file": str(path), "allow_changes": allow_changes},
        lambda: f"{path} names the server. Next: start your agent in {path.parent}",
    )


def _options(invocation: Invocation) -> tuple[str, ...]:
    """Return the options of this command that each tool's command gets."""
    options = {"--lab": invocation.name, "--profile": invocation.profile}
    return tuple(f"{name}={value}" for name, value in options.items() if value)
