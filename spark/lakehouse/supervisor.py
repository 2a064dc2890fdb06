"""The supervisor of the application's workers: each has a thread, and restarts if it fails."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol

from lakecontract.errors import PermanentError, in_one_line
from lakehouse.clock import ClockError, ClockWatch
from lakehouse.progress import WorkerProgress

__all__ = ["Feed", "Supervisor", "Worker"]

_log = logging.getLogger(__name__)
_CHECK_SECONDS = 0.25
"""Seconds between two checks of a worker that runs."""
_LOOK_SECONDS = 0.5
"""Seconds between two checks of what a worker waits for, each of which asks Kafka."""
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 10.0


class Worker(Protocol):
    """Something that runs until it is stopped, fails, or has done all its work."""

    name: str
    progress: WorkerProgress

    def waiting_for(self) -> str | None:
        """Return what must be there before `start`; None when nothing is missing."""

    def start(self) -> None:
        """Begin, or continue after a failure, at the target's position."""

    def is_alive(self) -> bool: ...

    def error(self) -> Exception | None:
        """Return why it is no longer alive; None when it ended normally."""

    def stop(self) -> None: ...


class Feed(Worker, Protocol):
    """A worker that brings the changes of one source into one table."""

    def has_source(self) -> bool:
        """Return whether there is anything to read from yet."""


class _Supervised:
    """A worker and the thread that supervises it."""

    def __init__(self, worker: Worker, *, once: bool) -> None:
        self.worker = worker
        self._once = once
        self._stop = threading.Event()
        self._again = threading.Event()
        self._failures = 0
        self._successor: tuple[Worker, Mapping[str, Any]] | None = None
        self.thread = threading.Thread(
            target=self._run, name=f"supervise-{worker.name}", daemon=True
        )

    def ask_to_stop(self) -> None:
        self._stop.set()
        self._again.set()

    def again(self) -> None:
        """Start the worker again, whether it runs or has given up.

        Its last failure is cleared at once, for callers that wait for the result.
        """
        if self.worker.progress.snapshot()["state"] == "failed":
            self.worker.progress.set(state="starting", error=None)
        self._again.set()

    def succeed(self, worker: Worker, facts: Mapping[str, Any]) -> None:
        """Replace this worker by another one, once this one has stopped.

        From then on the progress shows `facts`.
        """
        self._successor = worker, facts
        self._again.set()

    def _take_over(self) -> None:
        successor, self._successor = self._successor, None
        if successor is not None:
            self.worker, facts = successor
            self.worker.progress.set(state="starting", error=None, **facts)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._again.clear()
            self._take_over()
            batches = self.worker.progress.batches
            error: Exception | None
            try:
                if not self._wait_for_source():
                    self._end("done")
                    return
                self.worker.start()
                self.worker.progress.set(state="running")
                error = self._watch()
            except Exception as failure:
                error = failure
            if self.worker.progress.batches > batches:
                self._failures = 0
            if error is not None:
                self._pause_after(error)
            elif not self._again.is_set():
                self._end("done")

    def _wait_for_source(self) -> bool:
        """Wait until the worker can start. Return False when it never will."""
        while missing := self.worker.waiting_for():
            self.worker.progress.set(state="starting", waiting_for=missing)
            if self._once or self._stop.wait(_LOOK_SECONDS):
                return False
            self._take_over()
        self.worker.progress.set(waiting_for=None)
        return True

    def _watch(self) -> Exception | None:
        """Wait until the worker ends, or is to be stopped or restarted. Return its error."""
        clock = ClockWatch()
        while self.worker.is_alive():
            if self._again.wait(_CHECK_SECONDS):
                self.worker.stop()
                return None
            if seconds := clock.went_back():
                self.worker.stop()
                return ClockError(f"The clock was put back by {seconds:.0f} s: begun again")
        return self.worker.error()

    def _pause_after(self, error: Exception) -> None:
        """Wait before the next try: for a while, or until somebody has changed something."""
        name = self.worker.name
        if isinstance(error, PermanentError):
            _log.error("%s has stopped: %s", name, error)
            if self._again.is_set() and not self._stop.is_set():
                # A restart was requested during the failure: whoever asked waits for the result.
                return
            self.worker.progress.set(error=str(error))
            self._end("failed")
            return
        pause = min(_FIRST_PAUSE_SECONDS * 2**self._failures, _LONGEST_PAUSE_SECONDS)
        self._failures += 1
        message = in_one_line(error)
        self.worker.progress.restarted(message)
        stack = error if self._failures == 1 else None
        _log.warning(
            "%s failed and is started again in %.1f s: %s", name, pause, message, exc_info=stack
        )
        self._again.wait(pause)

    def _end(self, state: Literal["done", "failed"]) -> None:
        """Set the last state; end a run with `once`, else wait until the worker is restarted."""
        self.worker.progress.set(state=state)
        if self._once:
            self._stop.set()
        else:
            self._again.wait()


class Supervisor:
    """A runner of workers in parallel until it is stopped; with `once`, until all are over."""

    def __init__(self, workers: Iterable[Worker], *, once: bool) -> None:
        self._supervised = {worker.name: _Supervised(worker, once=once) for worker in workers}
        self._stop = threading.Event()

    def run(self) -> bool:
        """Run the workers to the end. Return whether no worker failed for good."""
        for one in self._supervised.values():
            one.thread.start()
        while not self._stop.is_set() and self._is_any_alive():
            self._stop.wait(_CHECK_SECONDS)
        for one in self._supervised.values():
            one.ask_to_stop()
        for one in self._supervised.values():
            one.thread.join()
        return not any(
            one.worker.progress.snapshot()["state"] == "failed" for one in self._supervised.values()
        )

    def stop(self) -> None:
        """Ask `run` to end; safe from a signal handler and from any thread."""
        self._stop.set()

    def restart(self, name: str) -> bool:
        """Start a worker again, even if it has given up. Return False if there is no such one."""
        one = self._supervised.get(name)
        if one is None:
            return False
        one.again()
        return True

    def replace(self, worker: Worker, **facts: Any) -> None:
        """Replace the worker of the same name; the progress then shows `facts`."""
        self._supervised[worker.name].succeed(worker, facts)

    def _is_any_alive(self) -> bool:
        return any(one.thread.is_alive() for one in self._supervised.values())
