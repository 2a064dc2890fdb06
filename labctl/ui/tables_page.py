"""The tables of the lake: what there is, and rows as they were at any commit."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from labctl.lake.instants import parse_instant
from labctl.ui import table_reading
from labctl.ui.asking import ask_lake
from labctl.ui.rendering import context_of, page, part

if TYPE_CHECKING:
    from labctl.ui.table_reading import TablePart

__all__ = ["table_commits", "table_list", "table_page", "table_rows", "tables_page"]

_SECONDS = 30.0


async def tables_page(request: Request) -> Response:
    """Return the page; the list comes by `table_list`."""
    return page(request, "tables.html.j2", active="tables", command='labctl query "SHOW TABLES"')


async def table_list(request: Request) -> Response:
    """Return the list of silver tables."""
    found = await ask_lake(request, table_reading.tables, seconds=_SECONDS, what="the lake")
    return part(request, "tables_part.html.j2", tables=found)


async def table_page(request: Request) -> Response:
    """Return the page of a table; its commits and rows come by the functions below."""
    name = request.path_params["name"]
    return page(request, "table.html.j2", active="tables", command=None, name=name)


async def table_commits(request: Request) -> Response:
    """Return the slider over a table's commits, and the form about its rows."""
    name = request.path_params["name"]
    found = await ask_lake(request, table_reading.history, name, seconds=_SECONDS, what=name)
    return part(request, "table_form_part.html.j2", name=name, history=found)


async def table_rows(request: Request) -> Response:
    """Return rows at an instant: those of `labctl query --as-of`."""
    name, asked = request.path_params["name"], request.query_params
    given = asked.get("at")
    at = parse_instant(given) if given else None
    found: TablePart = await ask_lake(
        request,
        table_reading.part,
        *(name, at, asked.get("where", ""), asked.get("order", "")),
        asked.get("descending") == "on",
        seconds=_SECONDS,
        what=name,
    )
    command = f"labctl query {shlex.quote(found.sql)}" + (f" --as-of {at}" if at else "")
    return part(
        request,
        "table_rows_part.html.j2",
        name=name,
        at=at,
        found=found,
        shown_command=context_of(request).addressed(command),
    )
