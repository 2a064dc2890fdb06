"""Processes that read the lake for the pages: the page stays small, and what hangs can be ended.

A question is a function of this package, by its name, and plain values. It runs in a process that
has Arrow and DuckDB loaded, which is kept for the next question and ended when nobody asks.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from labctl.errors import ExitCode, LabError
from labctl.ui.daemon_thread import in_daemon_thread

if TYPE_CHECKING:
    from labctl.lab.lab import Lab

__all__ = ["LabAddress", "LakeWorkers"]

T = TypeVar("T")
_AT_ONCE = 2
_GRACE_SECONDS = 1.0
_IDLE_SECONDS = 60.0
"""Seconds without a question after which a process is ended."""


@dataclass(frozen=True)
class LabAddress:
    """The names by which a lab is found."""

    project: Path
    name: str
    profile: str | None = None

    def open(self) -> Lab:
        """Return the lab as its files are now."""
        from labctl.lab.lab import Lab

        return Lab.find(name=self.name, profile=self.profile, project=self.project)


@dataclass(frozen=True)
class _Said:
    """A LabError on its way here: the errors derived from it cannot be sent."""

    what: str
    hint: str | None
    details: tuple[str, ...] = ()
    exit_code: ExitCode = ExitCode.FAILED

    def raised(self) -> LabError:
        return LabError(self.what, hint=self.hint, details=self.details, exit_code=self.exit_code)


@dataclass(frozen=True)
class _Answer:
    """The answer to a question: the result, or the error."""

    found: Any = None
    error: _Said | None = None


class LakeWorkers:
    """Up to two processes, begun when they are needed."""

    def __init__(self, address: LabAddress) -> None:
        self._address = address
        self._free: list[_Worker] = []
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def ask(
        self, question: Callable[..., T], *values: object, seconds: float, what: str
    ) -> T:
        """Return `question(lab, *values)`.

        Raises its LabError, or one (NOT_READY) that names `what` did not answer after `seconds`:
        the process is ended then. It is also ended when the caller is cancelled.
        """
        try:
            await asyncio.wait_for(self._turns.acquire(), seconds)
        except TimeoutError:
            raise LabError(
                f"{what} was not asked within {seconds:g} s: other questions are being answered",
                hint="wait for the queries that run, or close their pages",
                exit_code=ExitCode.NOT_READY,
            ) from None
        try:
            worker = self._free.pop() if self._free else _Worker(self._address)
            try:
                answer = await in_daemon_thread(
                    partial(worker.answer, question, values, seconds, what)
                )
            except BaseException:
                worker.end()
                raise
            worker.asked_at = time.monotonic()
            self._free.append(worker)
            asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._end_idle)
        finally:
            self._turns.release()
        if answer.error is not None:
            raise answer.error.raised()
        found: T = answer.found
        return found

    def _end_idle(self) -> None:
        before = time.monotonic() - _IDLE_SECONDS
        for worker in [one for one in self._free if one.asked_at <= before]:
            self._free.remove(worker)
            worker.end()

    def close(self) -> None:
        """End all processes."""
        for worker in self._free:
            worker.end()
        self._free.clear()


class _Worker:
    """A process, asked one question at a time."""

    def __init__(self, address: LabAddress) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, address), daemon=True)
        self._process.start()
        other.close()
        self.asked_at = time.monotonic()

    def answer(
        self, question: Callable[..., Any], values: tuple[object, ...], seconds: float, what: str
    ) -> _Answer:
        try:
            self._connection.send((question, values))
            if self._connection.poll(seconds):
                found: _Answer = self._connection.recv()
                return found
        except (EOFError, OSError):
            raise LabError(
                f"The process that asked for {what} ended",
                hint="try it again; `free -m` shows whether memory is short",
            ) from None
        raise LabError(
            f"{what} did not answer within {seconds:g} s",
            hint="labctl status",
            exit_code=ExitCode.NOT_READY,
        )

    def end(self) -> None:
        """Kill it, with what it has started: Spark runs in processes of its own."""
        begun: list[psutil.Process] = []
        with suppress(psutil.NoSuchProcess):
            begun = psutil.Process(self._process.pid).children(recursive=True)
        if begun:  # it removes their files
            self._process.terminate()
            self._process.join(_GRACE_SECONDS)
        self._process.kill()
        self._process.join()
        # The connection closes with its last user. A thread may still wait on it for an answer: if
        # it were closed here, the next process's connection could get its number meanwhile.
        for process in begun:
            with suppress(psutil.NoSuchProcess):
                process.kill()


def _serve(connection: Connection[Any, Any], address: LabAddress) -> None:
    """Answer questions until the page ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    while True:
        try:
            question, values = connection.recv()
        except EOFError:
            return
        try:
            answer = _Answer(question(address.open(), *values))
        except LabError as error:
            said = _Said(error.what, error.hint, error.details, error.exit_code)
            answer = _Answer(error=said)
        except Exception as error:
            answer = _Answer(error=_Said(f"{type(error).__name__}: {error}", "labctl doctor"))
        connection.send(answer)
