"""A bound against hangs for fuzz tests: one input may take so long, and the longest is noted."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["HANG_SECONDS", "HangError", "Watch"]

HANG_SECONDS = 20.0
"""Inputs take milliseconds. This is no bound on speed: a busy machine keeps far below it."""
_SHOWN = 300


class HangError(BaseException):
    """An input was not answered. No `except Exception` of the code under test takes it away."""


class Watch:
    """Watches inputs, one at a time. In a process's main thread alone, as signals are."""

    def __init__(self, seconds: float = HANG_SECONDS) -> None:
        self._seconds = seconds
        self.longest_ms = 0.0
        """CPU time of the input that took most."""

    @contextmanager
    def one(self, content: object) -> Iterator[None]:
        """Raises HangError, with `content`, in a block that does not end in time."""

        def give_up(_signal: int, _frame: FrameType | None) -> None:
            raise HangError(f"no answer after {self._seconds} s to {content!r:.{_SHOWN}}")

        before = signal.signal(signal.SIGALRM, give_up)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        began = time.thread_time()
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            self.longest_ms = max(self.longest_ms, (time.thread_time() - began) * 1000)
