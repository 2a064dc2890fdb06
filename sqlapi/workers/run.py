"""One execution's use of workers, which another thread may stop."""

from __future__ import annotations

import threading
from contextlib import suppress

from sqlapi.sql.errors import SqlError
from sqlapi.workers.jobs import Answered, Job
from sqlapi.workers.pool import (
    CatalogCalls,
    Deadline,
    EndedError,
    LateError,
    NotBegunError,
    Worker,
    Workers,
)

__all__ = ["Run", "StoppedError"]


_ATTEMPTS = 5
"""How many workers a job is given to, if each is killed while it waits."""


class StoppedError(Exception):
    """The run was stopped."""


class Run:
    """Jobs of one execution, each in a worker."""

    def __init__(self, workers: Workers, calls: CatalogCalls, seconds: float) -> None:
        """`seconds` are for all jobs together, from the first one on."""
        self._workers = workers
        self._calls = calls
        self._seconds = seconds
        self._deadline: Deadline | None = None
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._stopped = False

    def ask(self, job: Job) -> Answered:
        """Do a job. Raises SqlError and StoppedError."""
        self._deadline = self._deadline or Deadline(self._seconds)
        try:
            for _ in range(_ATTEMPTS):
                with suppress(NotBegunError):
                    return self._asked(job, self._deadline)
            raise EndedError("could not be started")
        except EndedError as error:
            if self._stopped:
                raise StoppedError from None
            raise SqlError(
                "GENERIC_INTERNAL_ERROR",
                f"The process of the query {error}. Perhaps memory has run out.",
            ) from None
        except LateError:
            raise SqlError(
                "EXCEEDED_TIME_LIMIT",
                f"Query exceeded the maximum run time of {self._seconds:g} s",
            ) from None

    def _asked(self, job: Job, deadline: Deadline) -> Answered:
        worker = self._workers.take()
        try:
            with self._lock:
                if self._stopped:
                    raise StoppedError
                self._worker = worker
            return worker.do(job, self._calls, deadline)
        except LateError:
            worker.kill()
            raise
        finally:
            with self._lock:
                self._worker = None
            self._workers.put_back(worker)

    def stop(self) -> None:
        """End the job at once, and with it the process. A run that has not begun will not."""
        with self._lock:
            self._stopped = True
            if self._worker is not None:
                self._worker.kill()

    @property
    def stopped(self) -> bool:
        return self._stopped
