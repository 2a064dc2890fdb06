"""HTML from templates: whole pages, and parts that replace a part of a page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from labctl.errors import LabError
from labctl.ui.page_context import PageContext

__all__ = ["PAGES", "context_of", "error_response", "fields_of", "page", "part", "render"]

PAGES: Mapping[str, tuple[str, str]] = {
    "pipeline": ("/", "Pipeline"),
    "change": ("/change", "Follow a change"),
    "tables": ("/tables", "Tables"),
    "query": ("/query", "Query"),
    "topics": ("/topics", "Topics"),
    "connectors": ("/connectors", "Connectors"),
    "faults": ("/faults", "Faults"),
    "snapshots": ("/snapshots", "Snapshots"),
}
"""The pages in the order of the menu: path and title, by name."""
_STATUS = {2: 400, 3: 503}
"""HTTP status by the exit code of a command with the same error; else 500."""


def context_of(request: Request) -> PageContext:
    """Return what the application gives to every page."""
    context: PageContext = request.app.state.context
    return context


async def fields_of(request: Request) -> Mapping[str, str]:
    """Return the fields of a form that was sent."""
    text = (await request.body()).decode(errors="replace")
    return dict(parse_qsl(text, keep_blank_values=True))


def page(
    request: Request, template: str, *, active: str, command: str | None, **values: Any
) -> HTMLResponse:
    """Return the whole page of a template; `command` says the same on the command line."""
    context = context_of(request)
    text = render(
        template,
        pages=PAGES,
        active=active,
        command=context.addressed(command) if command else None,
        is_read_only=context.is_read_only,
        lab_name=request.app.state.lab_name,
        **values,
    )
    return HTMLResponse(text)


def part(request: Request, template: str, **values: Any) -> HTMLResponse:
    """Return a part of a page."""
    is_read_only = context_of(request).is_read_only
    return HTMLResponse(render(template, is_read_only=is_read_only, **values))


def error_response(request: Request, error: LabError) -> HTMLResponse:
    """Return an error as the command line says it: as a part where a page asked for one."""
    values: dict[str, Any] = {
        "error": error,
        "hint": context_of(request).addressed(error.hint or ""),
    }
    if request.headers.get("HX-Request"):
        # A part is shown in its place, also one that says what is wrong.
        return part(request, "error_part.html.j2", **values)
    answer = page(request, "error.html.j2", active="", command="labctl status", **values)
    answer.status_code = _STATUS.get(int(error.exit_code), 500)
    return answer


def render(template: str, **values: Any) -> str:
    """Render a template of this package."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("labctl.ui"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=_number, moment=_moment, clock=_clock, instant_moment=_instant_moment
    )
    return environment


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:,}"


def _moment(seconds: float) -> str:
    """Return a time, seconds since the epoch, as `<time>` has it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _clock(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3]


def _instant_moment(text: str) -> str:
    """Return an instant of Hudi as people read it, in UTC."""
    from sqlapi.instants import to_datetime

    return to_datetime(text).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
