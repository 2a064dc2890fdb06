"""A pool of workers, which starts one ahead and replaces those that end."""

from __future__ import annotations

import logging
import multiprocessing
import os
import select
import shutil
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

from sqlapi.protocol.protocol_errors import ApiError
from sqlapi.source import SourceError
from sqlapi.sql.statement_errors import SqlError
from sqlapi.workers.jobs import Answered, Begun, Call, Called, Failed, Job, Ready, Setup

__all__ = [
    "CatalogCalls",
    "Deadline",
    "EndedError",
    "LateError",
    "NotBegunError",
    "Worker",
    "Workers",
]

CatalogCalls = dict[str, Callable[..., Any]]
"""Functions of the service that a worker may call, by name."""
_START_SECONDS = 60.0
_IDLE_SECONDS = 60.0
"""Seconds after which all idle workers but one are ended."""
_END_SECONDS = 10.0
_PROCESSES = threading.Lock()
"""Lock around starts and joins: `multiprocessing` checks all its processes when it starts one."""
log = logging.getLogger("sqlapi")


class EndedError(Exception):
    """The process ended before its job was done; the message says how."""


class NotBegunError(Exception):
    """The process was killed before it received the job, so another worker can do it."""


class LateError(Exception):
    """The job took too long."""


class Deadline:
    """A point in time, given as the seconds that are left."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        return max(0.0, self._at - time.monotonic())


class Worker:
    """The service's side of a worker process, which does one job at a time."""

    def __init__(self, context: Any, setup: Setup, number: int) -> None:
        self._folder = setup.scratch / f"worker-{number}"
        self._folder.mkdir(mode=0o700)
        from sqlapi.workers.entry import enter

        ours, theirs = context.Pipe()
        self._connection = ours
        self._process = context.Process(
            target=enter, args=(theirs, setup, self._folder), name=f"sqlapi-{number}", daemon=True
        )
        with _PROCESSES:
            self._process.start()
        theirs.close()
        self.pid: int = self._process.pid
        # The handle keeps referring to this process even if its pid is used again.
        try:
            self._handle: int | None = os.pidfd_open(self.pid)
        except ProcessLookupError:
            self._handle = None
        self.idle_since = time.monotonic()
        self.is_over = False
        self._is_ready = False

    def ready(self) -> bool:
        """Wait until the worker has started; return whether it can take a job."""
        try:
            if not self._is_ready:
                self._is_ready = isinstance(self._received(Deadline(_START_SECONDS)), Ready)
        except (EndedError, LateError):
            return False
        # The process may have been killed while it was idle.
        return self._is_ready and not self._wait_for_end(0)

    def do(self, job: Job, calls: CatalogCalls, deadline: Deadline) -> Answered:
        """Do a job. Raises SqlError, NotBegunError, EndedError, LateError, and `calls`' errors."""
        failed: Exception | None = None
        self._is_ready = False
        try:
            self._connection.send(job)
            begun = isinstance(self._received(deadline), Begun)
        except (EndedError, OSError):
            begun = False
        if not begun:
            self.kill()
            raise NotBegunError
        while True:
            told = self._received(deadline)
            match told:
                case Call():
                    answer, failed = _called(told, calls)
                    with suppress(OSError):
                        self._connection.send(answer)
                case Answered():
                    return told
                case Failed():
                    raise told.error or failed or RuntimeError("a job was given up")

    def _received(self, deadline: Deadline) -> Any:
        ready = wait([self._connection, self._process.sentinel], deadline.left())
        if not ready:
            raise LateError
        if self._connection in ready:
            try:
                return self._connection.recv()
            except (EOFError, OSError):
                pass
        raise self._ended()

    def _ended(self) -> EndedError:
        self.kill()
        self._join()
        code = self._process.exitcode
        if code is not None and code < 0:
            how = f"was ended by {signal.Signals(-code).name}"
        else:
            how = "ended"
        return EndedError(how)

    def kill(self) -> None:
        """Kill the process and wait until its memory is free. Any thread may call this."""
        self.is_over = True
        if self._handle is None:
            return
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        self._wait_for_end(_END_SECONDS)

    def _wait_for_end(self, seconds: float) -> bool:
        """Wait up to `seconds` for the process to end; return whether it has."""
        if self._handle is None:
            return True
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def _join(self) -> None:
        with _PROCESSES:
            self._process.join(_END_SECONDS)

    def remove(self) -> None:
        """Kill the process and remove its files. The worker must not be used afterwards."""
        self.kill()
        self._join()
        self._connection.close()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        shutil.rmtree(self._folder, ignore_errors=True)


def _called(call: Call, calls: CatalogCalls) -> tuple[Called, Exception | None]:
    try:
        return Called(calls[call.name](*call.arguments)), None
    except (SqlError, SourceError, ApiError) as error:
        return Called(error=error), None
    except Exception as error:
        return Called(gives_up=True), error


class Workers:
    """A thread-safe pool of workers."""

    def __init__(self, setup: Setup) -> None:
        """Start the pool. `setup.scratch` must exist, and only this pool may use it."""
        self._setup = setup
        self._context = multiprocessing.get_context("forkserver")
        preload = ["sqlapi.workers.preload", type(setup.source).__module__]
        self._context.set_forkserver_preload(preload)
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        """Idle workers; the most recently used one is the last."""
        self._number = 0
        self._closed = threading.Event()
        self._idle.append(self._start())
        self._keeper = threading.Thread(target=self._keep, name="workers", daemon=True)
        self._keeper.start()

    def _start(self) -> Worker:
        with self._lock:
            self._number += 1
            number = self._number
        return Worker(self._context, self._setup, number)

    def take(self) -> Worker:
        """Return a worker that is ready for a job. Raises EndedError if none can be started."""
        while True:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            fresh = worker is None
            worker = worker or self._start()
            if worker.ready():
                return worker
            worker.remove()
            if fresh:
                raise EndedError("could not be started")

    def put_back(self, worker: Worker) -> None:
        """Return a worker to the pool after its job, whether that failed or not."""
        with self._lock:
            kept = not worker.is_over and not self._closed.is_set()
            if kept:
                worker.idle_since = time.monotonic()
                self._idle.append(worker)
            missing = not self._idle and not self._closed.is_set()
        if not kept:
            worker.remove()
        if missing:
            self._spare()

    def _spare(self) -> None:
        try:
            worker = self._start()
        except OSError:
            log.exception("no worker could be started ahead")
            return
        with self._lock:
            if not self._closed.is_set():
                self._idle.insert(0, worker)
                return
        worker.remove()

    def _keep(self) -> None:
        """End workers that have been idle for long, until `close`."""
        while not self._closed.wait(_IDLE_SECONDS / 4):
            since = time.monotonic() - _IDLE_SECONDS
            with self._lock:
                old = [one for one in self._idle[:-1] if one.idle_since < since]
                self._idle = [one for one in self._idle if one not in old]
            for worker in old:
                worker.remove()

    def close(self) -> None:
        """End all workers that have no job."""
        self._closed.set()
        self._keeper.join()
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.remove()
