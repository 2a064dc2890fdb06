"""Questions about the lake for a request, given up when nobody waits for the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request

from labctl.errors import ExitCode, LabError
from labctl.ui.page_context import PageContext
from labctl.ui.rendering import context_of

__all__ = ["ask_lake"]

T = TypeVar("T")
_LOOK_SECONDS = 0.25


async def ask_lake(
    request: Request, question: Callable[..., T], *values: object, seconds: float, what: str
) -> T:
    """Return `LakeWorkers.ask`. It ends when the browser has left, or the server ends."""
    context = context_of(request)
    asked = asyncio.ensure_future(context.lake.ask(question, *values, seconds=seconds, what=what))
    gone = asyncio.ensure_future(_until_nobody_waits(request, context))
    try:
        await asyncio.wait({asked, gone}, return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            return asked.result()
        raise LabError("Nobody waits for the answer", exit_code=ExitCode.NOT_READY)
    finally:
        for task in (asked, gone):
            task.cancel()
        await asyncio.gather(asked, gone, return_exceptions=True)


async def _until_nobody_waits(request: Request, context: PageContext) -> None:
    while not context.ending.is_set() and not await request.is_disconnected():
        await asyncio.sleep(_LOOK_SECONDS)
