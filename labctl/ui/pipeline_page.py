"""The first page: the whole pipeline, live, and the services behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from labctl.errors import LabError
from labctl.ui.pipeline_boxes import columns_of, table_rows
from labctl.ui.pipeline_feed import PipelineFeed
from labctl.ui.pipeline_view import PipelineView
from labctl.ui.rendering import context_of, page, part, render

__all__ = ["live", "log_tail", "pipeline_page", "restart_service", "service_page"]

_BEAT_SECONDS = 5.0
"""Seconds without news after which a word is sent, so that a viewer who left is noticed."""
_LOG_LINES = 200
_SERVICE_SECONDS = 5.0
_RESTART_SECONDS = 300.0


async def pipeline_page(request: Request) -> Response:
    """Return the page; what it shows comes by `live`."""
    return page(request, "pipeline.html.j2", active="pipeline", command="labctl status")


async def live(request: Request) -> Response:
    """Stream the pipeline as server-sent events: each is the page's part as HTML."""
    feed: PipelineFeed = request.app.state.feed
    return _Live(feed, _events(request, feed))


class _Live(StreamingResponse):
    """A stream to a viewer, who is counted until it ends, however it ends."""

    def __init__(self, feed: PipelineFeed, events: AsyncIterator[str]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._feed.viewer():
            await super().__call__(scope, receive, send)


async def _events(request: Request, feed: PipelineFeed) -> AsyncIterator[str]:
    views = feed.views()
    last = ""
    coming: asyncio.Task[PipelineView] | None = None
    ending = asyncio.ensure_future(context_of(request).ending.wait())
    try:
        while not await request.is_disconnected():
            coming = coming or asyncio.ensure_future(anext(views))
            done, _ = await asyncio.wait(
                {coming, ending}, timeout=_BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if ending in done:
                return
            if not done:
                yield ": beat\n\n"
                continue
            text, coming = _pipeline(request, coming.result()), None
            if text != last:
                last = text
                yield "".join(f"data: {line}\n" for line in text.splitlines()) + "\n"
    finally:
        waiting = [task for task in (coming, ending) if task is not None]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def _pipeline(request: Request, view: PipelineView) -> str:
    addressed = context_of(request).addressed
    return render(
        "pipeline_part.html.j2",
        problems=[addressed(problem) for problem in view.data.get("problems", ())],
        differs=[addressed(sentence) for sentence in view.data.get("differs", ())],
        error=view.error,
        columns=columns_of(view),
        tables=table_rows(view),
    )


async def service_page(request: Request) -> Response:
    """Return a service's page: its addresses, and the end of its log by `log_tail`."""
    name = request.path_params["name"]
    context = context_of(request)
    lab = await context.lab()
    service = lab.service(name)
    urls = dict(service.urls(lab.endpoints, lab.ports[name]))
    return page(
        request,
        "service.html.j2",
        active="pipeline",
        command=f"labctl logs {name}",
        service=service,
        urls=urls,
    )


async def log_tail(request: Request) -> Response:
    """Return the last lines that a service logged."""
    context, name = context_of(request), request.path_params["name"]

    def lines() -> list[str]:
        lab = context.address.open()
        return lab.runtime.logs.tail(lab.service(name).name, _LOG_LINES)

    found = await context.ask(lines, seconds=_SERVICE_SECONDS, what="the log")
    return part(request, "log_part.html.j2", lines=found)


async def restart_service(request: Request) -> Response:
    """Restart a service as `labctl restart` does."""
    name = request.path_params["name"]
    context = context_of(request)
    context.must_change()
    done = await context.labctl("restart", "--", name, seconds=_RESTART_SECONDS)
    if done["exit_code"]:
        raise LabError(f"{name} was not restarted", hint=f"labctl logs {name}")
    return part(request, "done_part.html.j2", words=f"{name} was restarted.")
