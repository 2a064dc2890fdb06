"""The server: tools for one lab, on standard input and output or on a port of this machine."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable
from importlib.metadata import version
from inspect import getdoc
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from labctl.mcp.changing_tools import changing_tools
from labctl.mcp.lab_command import ToolCommand
from labctl.mcp.reading_tools import reading_tools

__all__ = ["http_application", "tool_server"]

_INSTRUCTIONS = """\
A local change-data-capture lakehouse: databases stream through Debezium and Kafka into bronze files
and Hudi tables (silver). Begin with `status`: it says what is wrong, and what to do.
A tool is a command of `labctl`, its words joined by `_`: where an error says
"next: labctl connectors apply", call `connectors_apply`. `docs_search` explains.
"""
_READ_ONLY = (
    "This server changes nothing: `labctl client mcp serve --allow-changes` has more tools.\n"
)


def tool_server(project: Path, options: tuple[str, ...], *, allow_changes: bool) -> MCPServer[Any]:
    """Return the server of a project's lab; `options` are `--lab` and `--profile`."""
    server: MCPServer[Any] = MCPServer(
        "labctl",
        instructions=_INSTRUCTIONS + ("" if allow_changes else _READ_ONLY),
        version=version("labctl"),
        log_level="WARNING",
    )
    labctl = ToolCommand(project, options)

    def add(tools: Iterable[Callable[..., Any]], *, is_reading: bool) -> None:
        for tool in tools:
            annotations = ToolAnnotations(read_only_hint=is_reading)
            server.add_tool(tool, description=getdoc(tool), annotations=annotations)

    add(reading_tools(labctl, project), is_reading=True)
    if allow_changes:
        add(changing_tools(labctl, project), is_reading=False)
    return server


def http_application(server: MCPServer[Any], port: int, token: str) -> ASGIApp:
    """Return the server as an application that answers `http://127.0.0.1:PORT/mcp` with the token.

    Pages in a browser get no answer: `Host` must be this machine's, and `Origin` its own.
    """
    names = [f"127.0.0.1:{port}", f"localhost:{port}"]
    security = TransportSecuritySettings(
        allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
    )
    return _WithToken(server.streamable_http_app(transport_security=security), token)


class _WithToken:
    """An application that answers only requests with `Authorization: Bearer TOKEN`."""

    def __init__(self, application: Callable[[Scope, Receive, Send], Awaitable[None]], token: str):
        self._application = application
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
                refusal = PlainTextResponse("the token is missing or wrong\n", 401)
                await refusal(scope, receive, send)
                return
        await self._application(scope, receive, send)
