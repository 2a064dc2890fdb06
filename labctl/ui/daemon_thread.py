"""Functions that block, in threads that keep no program from ending."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TypeVar

__all__ = ["in_daemon_thread"]

T = TypeVar("T")


def in_daemon_thread(question: Callable[[], T]) -> asyncio.Future[T]:
    """Return the coming answer of `question`. At the end, Python waits for the threads of pools."""
    loop = asyncio.get_running_loop()
    coming: asyncio.Future[T] = loop.create_future()

    def tell(answer: Callable[[], None]) -> None:
        if not coming.done():
            answer()

    def run() -> None:
        try:
            found = question()
        except BaseException as error:
            said = error
            answer = lambda: coming.set_exception(said)  # noqa: E731
        else:
            answer = lambda: coming.set_result(found)  # noqa: E731
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(tell, answer)

    Thread(target=run, daemon=True).start()
    return coming
