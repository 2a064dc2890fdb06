"""The page that follows a change: from a row at its source, by its stations, to silver."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from labctl.errors import ExitCode, LabError
from labctl.ui import change_reading
from labctl.ui.asking import ask_lake
from labctl.ui.rendering import context_of, fields_of, page, part

if TYPE_CHECKING:
    from labctl.tables import LabTable
    from labctl.ui.change_reading import RowAtSource

__all__ = ["change_page", "row_part", "stations_part", "write_change"]

_SECONDS = 30.0
_LONGEST_WAY_SECONDS = 600.0
"""Seconds after which a page no longer asks for a change that has not arrived."""


async def change_page(request: Request) -> Response:
    """Return the page: a table's key to fill in, or the row that was chosen."""
    lab = await context_of(request).lab()
    chosen = request.query_params.get("table")
    table = lab.table(chosen) if chosen else None
    return page(
        request,
        "change.html.j2",
        active="change",
        command=None,
        tables=sorted(one.name for one in lab.tables),
        table=table.name if table else None,
        keys=table.properties.key_fields if table else (),
        key=_key(request, table) if table else {},
    )


async def row_part(request: Request) -> Response:
    """Return the row as its source has it, with a form that changes it, and its stations.

    Without a table in the request, it is the row of the lab's data set.
    """
    context = context_of(request)
    lab = await context.lab()
    value = column = None
    if chosen := request.query_params.get("table"):
        table = lab.table(chosen)
        key = _key(request, table)
    else:
        found = await ask_lake(
            request, change_reading.followed, seconds=_SECONDS, what="the source"
        )
        if found is None:
            return part(request, "change_none_part.html.j2")
        table, key, column, value = lab.table(found.table), found.key, found.column, found.value
    row = await ask_lake(
        request, change_reading.row_at_source, table.name, key, seconds=_SECONDS, what=table.source
    )
    return _row_part(request, table, key, row, column=column, value=value)


def _row_part(
    request: Request,
    table: LabTable,
    key: Mapping[str, str],
    row: RowAtSource,
    *,
    column: str | None = None,
    value: str | None = None,
) -> Response:
    asked = {"table": table.name, "key": json.dumps(key)}
    return part(
        request,
        "change_row_part.html.j2",
        table=table.name,
        source=table.source,
        key=key,
        row=row,
        column=column,
        value=value,
        asked=asked if row.at is None else {**asked, "since": str(row.at)},
        command=context_of(request).addressed(_command(table.name, key)),
    )


async def write_change(request: Request) -> Response:
    """Change the row at its source, and return the stations, which are asked for from then on."""
    context = context_of(request)
    context.must_change()
    lab = await context.lab()
    fields = await fields_of(request)
    table = lab.table(fields.get("table", ""))
    key = _key_of(fields.get("key", ""), table)
    column = fields.get("column", "")
    value = None if "null" in fields else fields.get("value", "")
    row = await ask_lake(
        request,
        *(change_reading.write, table.name, key, column, value),
        seconds=_SECONDS,
        what=table.source,
    )
    return _row_part(request, table, key, row, column=column, value=value)


async def stations_part(request: Request) -> Response:
    """Return the stations. While the change has not arrived, the part asks for itself again."""
    context = context_of(request)
    lab = await context.lab()
    table = lab.table(request.query_params.get("table", ""))
    key = _key(request, table)
    since = _since(request)
    is_early = since is not None and time.time() - since < _LONGEST_WAY_SECONDS
    found = error = None
    try:
        found = await ask_lake(
            *(request, change_reading.way, table.name, key, since),
            seconds=_SECONDS,
            what="the pipeline",
        )
    except LabError as caught:
        error = caught
        if not is_early:
            raise
    return part(
        request,
        "change_stations_part.html.j2",
        asked_again=f"{request.url.path}?{request.url.query}",
        since=since,
        way=found,
        error=error,
        hint=context.addressed(error.hint or "") if error else "",
        is_asked_again=is_early and not (found and found.has_arrived),
    )


def _command(table: str, key: Mapping[str, str]) -> str:
    words = (f" --where {shlex.quote(f'{name}={value}')}" for name, value in key.items())
    return f"labctl trace {table}{''.join(words)}"


def _key(request: Request, table: LabTable) -> Mapping[str, str]:
    """Return the key of the request: as JSON, or a field per column."""
    asked = request.query_params
    if text := asked.get("key"):
        return _key_of(text, table)
    fields = {name: asked.get(f"key.{name}") for name in table.properties.key_fields}
    return {name: value for name, value in fields.items() if value is not None}


def _key_of(text: str, table: LabTable) -> Mapping[str, str]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not found:
        raise LabError(
            f"No row of {table.name} was named",
            hint=f"fill in its key: {', '.join(table.properties.key_fields)}",
            exit_code=ExitCode.USAGE,
        )
    return {str(name): str(value) for name, value in found.items()}


def _since(request: Request) -> float | None:
    try:
        return float(request.query_params["since"])
    except (KeyError, ValueError):
        return None
