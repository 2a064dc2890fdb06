"""The jobs of one execution, which another thread may stop."""

from __future__ import annotations

import threading
from contextlib import suppress

from sqlapi.sql.statement_errors import SqlError
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
"""Number of workers that are tried for a job, if each is killed while idle."""


class StoppedError(Exception):
    """The run was stopped."""


class Run:
    """The run of one execution, whose jobs each use a worker."""

    def __init__(self, workers: Workers, calls: CatalogCalls, seconds: float) -> None:
        """Limit all jobs together to `seconds`, from the start of the first one."""
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
        """Kill the job's process at once. A run that has not begun will not begin."""
        with self._lock:
            self._stopped = True
            if self._worker is not None:
                self._worker.kill()

    @property
    def stopped(self) -> bool:
        return self._stopped
