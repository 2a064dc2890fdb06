"""The application: pages by their paths, behind the check of who asks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from labctl.command_process import CommandError
from labctl.errors import ExitCode, LabError
from labctl.ui import (
    change_page,
    connectors_page,
    faults_page,
    pipeline_page,
    query_page,
    snapshots_page,
    tables_page,
    topics_page,
)
from labctl.ui.access import Access
from labctl.ui.page_context import PageContext
from labctl.ui.pipeline_feed import PipelineFeed
from labctl.ui.rendering import error_response

__all__ = ["ui_application"]

_STATIC = Path(__file__).with_name("static")


def ui_application(context: PageContext, *, lab_name: str, port: int, token: str) -> ASGIApp:
    """Return the page of a lab as an application that answers on `port` of this machine."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            context.close()

    application = Starlette(
        routes=[
            Route("/", pipeline_page.pipeline_page),
            Route("/live/pipeline", pipeline_page.live),
            Route("/services/{name}", pipeline_page.service_page),
            Route("/services/{name}/log", pipeline_page.log_tail),
            Route("/services/{name}/restart", pipeline_page.restart_service, methods=["POST"]),
            Route("/tables", tables_page.tables_page),
            Route("/tables/list", tables_page.table_list),
            Route("/tables/{name}", tables_page.table_page),
            Route("/tables/{name}/commits", tables_page.table_commits),
            Route("/tables/{name}/rows", tables_page.table_rows),
            Route("/change", change_page.change_page),
            Route("/change/row", change_page.row_part),
            Route("/change/write", change_page.write_change, methods=["POST"]),
            Route("/change/stations", change_page.stations_part),
            Route("/query", query_page.query_page),
            Route("/query/names", query_page.query_names),
            Route("/query/answer", query_page.answer_part, methods=["POST"]),
            Route("/query/file/{form}", query_page.answer_file),
            Route("/topics", topics_page.topics_page),
            Route("/topics/list", topics_page.topic_list),
            Route("/topics/{name}", topics_page.topic_page),
            Route("/topics/{name}/records", topics_page.topic_records),
            Route("/topics/{name}/schemas", topics_page.topic_schemas),
            Route("/topics/{name}/letters", topics_page.topic_letters),
            Route("/topics/{name}/replay", topics_page.replay_letters, methods=["POST"]),
            Route("/connectors", connectors_page.connectors_page),
            Route("/connectors/list", connectors_page.connector_list),
            Route("/connectors/{name}", connectors_page.connector_page),
            Route("/connectors/{name}/now", connectors_page.connector_part),
            Route(
                "/connectors/{name}/restart", connectors_page.restart_connector, methods=["POST"]
            ),
            Route("/faults", faults_page.faults_page),
            Route("/faults/form", faults_page.fault_form),
            Route("/faults/cause", faults_page.cause_fault, methods=["POST"]),
            Route("/snapshots", snapshots_page.snapshots_page),
            Route("/snapshots/list", snapshots_page.snapshot_list),
            *(
                Route(f"/snapshots/{change}", snapshots_page.change_snapshot, methods=["POST"])
                for change in snapshots_page.CHANGES
            ),
            Mount("/static", StaticFiles(directory=_STATIC)),
        ],
        exception_handlers={
            LabError: _lab_error,
            CommandError: _command_error,
            404: _not_found,
            Exception: _fault,
        },
        lifespan=lifespan,
    )
    application.state.context = context
    application.state.lab_name = lab_name
    application.state.feed = PipelineFeed(context)
    return Access(application, port=port, token=token)


async def _lab_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, LabError)  # noqa: S101 - registered for it
    return error_response(request, error)


async def _command_error(request: Request, error: Exception) -> Response:
    what, *rest = str(error).removeprefix("error: ").splitlines()
    hint = rest.pop().removeprefix("next: ") if rest and rest[-1].startswith("next: ") else None
    details = tuple(line.strip() for line in rest)
    return error_response(request, LabError(what, hint=hint, details=details))


async def _fault(request: Request, error: Exception) -> Response:
    """Say a fault of the page itself; the traceback is on the terminal of `labctl ui`."""
    said = LabError(f"{type(error).__name__}: {error}", hint="labctl doctor --report")
    return error_response(request, said)


async def _not_found(request: Request, _: Exception) -> Response:
    error = LabError(
        f"There is no page {request.url.path}",
        hint="the menu has them all",
        exit_code=ExitCode.USAGE,
    )
    answer = error_response(request, error)
    answer.status_code = 404
    return answer
