"""The connectors: failed ones first, with why; their settings, positions, and what can be done."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from labctl.ui import connector_reading
from labctl.ui.asking import ask_lake
from labctl.ui.rendering import context_of, page, part

if TYPE_CHECKING:
    from labctl.ui.connector_reading import ConnectorDetail

__all__ = [
    "connector_list",
    "connector_page",
    "connector_part",
    "connectors_page",
    "restart_connector",
]

_SECONDS = 30.0
_RESTART_SECONDS = 300.0


async def connectors_page(request: Request) -> Response:
    """Return the page; the list comes by `connector_list`, again and again."""
    command = "labctl connectors status"
    return page(request, "connectors.html.j2", active="connectors", command=command)


async def connector_list(request: Request) -> Response:
    """Return the list of connectors."""
    found = await ask_lake(
        request, connector_reading.connectors, seconds=_SECONDS, what="Kafka Connect"
    )
    addressed = context_of(request).addressed
    why = {line.name: [addressed(sentence) for sentence in line.why] for line in found}
    return part(request, "connectors_part.html.j2", connectors=found, why=why)


async def connector_page(request: Request) -> Response:
    """Return the page of a connector; what it shows comes by `connector_part`."""
    name = request.path_params["name"]
    command = f"labctl connectors status {shlex.quote(name)}"
    return page(request, "connector.html.j2", active="connectors", command=command, name=name)


async def connector_part(request: Request) -> Response:
    """Return a connector's state, settings and position."""
    name = request.path_params["name"]
    found: ConnectorDetail = await ask_lake(
        request, connector_reading.connector, name, seconds=_SECONDS, what="Kafka Connect"
    )
    addressed = context_of(request).addressed
    return part(
        request,
        "connector_part.html.j2",
        found=found,
        why=[addressed(sentence) for sentence in found.line.why],
        differs=any(setting.differs for setting in found.settings),
        apply_command=addressed(f"labctl connectors apply {shlex.quote(name)}"),
    )


async def restart_connector(request: Request) -> Response:
    """Restart a connector as `labctl connectors restart` does."""
    name = request.path_params["name"]
    context = context_of(request)
    context.must_change()
    await context.labctl("connectors", "restart", "--", name, seconds=_RESTART_SECONDS)
    return part(request, "done_part.html.j2", words=f"{name} was restarted.")
