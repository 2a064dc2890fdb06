"""The clock that verification waits by."""

from __future__ import annotations

import time
from typing import Protocol

__all__ = ["SYSTEM_CLOCK", "Clock"]


class Clock(Protocol):
    """A monotonic clock and a way to let its time pass. Seconds."""

    def now(self) -> float:
        """Return the time since some fixed moment."""

    def sleep(self, seconds: float) -> None:
        """Wait until so many seconds have passed."""


class _SystemClock:
    """The machine's own monotonic clock."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


SYSTEM_CLOCK: Clock = _SystemClock()
