"""Keeps the application's workers going: each on its own thread, started again when it fails."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol

from lakehouse.clock import ClockError, ClockWatch
from lakehouse.errors import PermanentError, in_one_line
from lakehouse.progress import WorkerProgress

__all__ = ["Feed", "Supervisor", "Worker"]

_log = logging.getLogger(__name__)
_CHECK_SECONDS = 0.25
"""Between two looks at a worker that runs."""
_LOOK_SECONDS = 0.5
"""Between two looks at what a worker waits for, each of which asks Kafka."""
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 10.0


class Worker(Protocol):
    """Something that runs until it is stopped, fails, or has done all there was to do."""

    name: str
    progress: WorkerProgress

    def waiting_for(self) -> str | None:
        """What must be there before `start`."""

    def start(self) -> None:
        """Begin, or go on after a failure, where the target stands."""

    def is_alive(self) -> bool: ...

    def error(self) -> Exception | None:
        """Why it is no longer alive; None when it came to its end."""

    def stop(self) -> None: ...


class Feed(Worker, Protocol):
    """A worker that brings the changes of one source into one table."""

    def has_source(self) -> bool:
        """Whether there is anything to read from yet."""


class _Supervised:
    """One worker and the thread that looks after it."""

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
        """Start the worker again, from its present state or from having given up.

        What it failed of is past from now on, for whoever waits to see what comes of it.
        """
        if self.worker.progress.snapshot()["state"] == "failed":
            self.worker.progress.set(state="starting", error=None)
        self._again.set()

    def succeed(self, worker: Worker, facts: Mapping[str, Any]) -> None:
        """Have another worker take the place of this one, once this one has stopped.

        From then on its progress says `facts`.
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
        """Wait until the worker can start. False when it never will."""
        while missing := self.worker.waiting_for():
            self.worker.progress.set(state="starting", waiting_for=missing)
            if self._once or self._stop.wait(_LOOK_SECONDS):
                return False
            self._take_over()
        self.worker.progress.set(waiting_for=None)
        return True

    def _watch(self) -> Exception | None:
        """Stay until the worker ends, or is to be stopped or started again."""
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
        """Wait before the next try: a while, or until somebody has changed something."""
        name = self.worker.name
        if isinstance(error, PermanentError):
            _log.error("%s has stopped: %s", name, error)
            if self._again.is_set() and not self._stop.is_set():
                # Asked to restart while it was failing: whoever asked waits for what comes now.
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
        """Nothing more to do: end with the application's one run, or stay to be asked again."""
        self.worker.progress.set(state=state)
        if self._once:
            self._stop.set()
        else:
            self._again.wait()


class Supervisor:
    """Runs workers side by side until told to stop; with `once`, until all of them are over."""

    def __init__(self, workers: Iterable[Worker], *, once: bool) -> None:
        self._supervised = {worker.name: _Supervised(worker, once=once) for worker in workers}
        self._stop = threading.Event()

    def run(self) -> bool:
        """Returns, in the end, whether no worker failed for good."""
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
        """Start a worker again, also one that has given up. False when there is none such."""
        one = self._supervised.get(name)
        if one is None:
            return False
        one.again()
        return True

    def replace(self, worker: Worker, **facts: Any) -> None:
        """Have a worker take the place of the one of its name; its progress then says `facts`."""
        self._supervised[worker.name].succeed(worker, facts)

    def _is_any_alive(self) -> bool:
        return any(one.thread.is_alive() for one in self._supervised.values())
