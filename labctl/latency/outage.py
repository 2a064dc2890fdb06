"""The outage of a scenario: a thread that stops a service for a while during the run."""

from __future__ import annotations

import threading
import time

from labctl.lab.lab import Lab
from labctl.lab.lifecycle.starting import SilentReporter
from labctl.lab.lifecycle.up import up
from labctl.latency.latency_report import Fault
from labctl.latency.scenario import Outage

__all__ = ["OutageMaker"]


class OutageMaker:
    """Stops and starts one service once."""

    def __init__(self, lab: Lab, outage: Outage) -> None:
        self._lab = lab.require_here()
        self._outage = outage
        self._begun: float | None = None
        self._ended: float | None = None
        self._error: BaseException | None = None
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._run, name="outage", daemon=True)

    def start(self) -> None:
        """Start the thread; the outage's delay counts from now."""
        self._thread.start()

    def cancel(self) -> None:
        """End the outage early; restart the service if it is stopped."""
        self._cancelled.set()
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def current(self) -> str | None:
        """Name of the service that is stopped now; None if it runs."""
        away = self._begun is not None and self._ended is None
        return self._outage.service if away else None

    def is_over(self) -> bool:
        """Return whether the service is back. Raises the error that prevented it."""
        if self._error is not None:
            raise self._error
        return self._ended is not None

    def fault(self, begin: float) -> Fault | None:
        """Return the outage; None before it is over.

        `begin` is the time of the first change, in seconds since the epoch.
        """
        if self._begun is None or self._ended is None:
            return None
        return Fault(
            service=self._outage.service,
            begin=round(self._begun - begin, 3),
            end=round(self._ended - begin, 3),
        )

    def _run(self) -> None:
        service = self._outage.service
        try:
            if self._cancelled.wait(self._outage.after):
                return
            self._begun = time.time()
            try:
                self._lab.runtime.stop(service)
                self._cancelled.wait(self._outage.seconds)
            finally:
                up(self._lab, SilentReporter(), [service])
                self._ended = time.time()
        except Exception as error:
            self._error = error
