"""The clock of a table's instants, which must not go back when the system clock does.

Hudi itself would wait in a loop, without a message, until the clock has passed the last instant
that its process has made. A process that restarts knows none of these instants.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

__all__ = ["ClockError", "ClockWatch", "InstantClock", "PutBackError", "now"]

_WAITED_OUT_SECONDS = 2.0
"""Seconds that time synchronisation may set the clock back; such a step is waited out."""
_GENERATOR = "org.apache.hudi.common.table.timeline.HoodieInstantTimeGenerator"


class ClockError(Exception):
    """The clock is behind a table's latest commit. A retry helps once it is not."""


def now() -> float:
    """Return the seconds since the epoch."""
    return time.time()


class PutBackError(ClockError):
    """A commit was completed before it started, by the clock, so that readers may omit it."""


class ClockWatch:
    """Detector of a clock that is put back.

    Spark waits for the next batch by the clock: after a step back by an hour it would wait an hour.
    """

    def __init__(self) -> None:
        self._ahead = now() - time.monotonic()

    def went_back(self) -> float:
        """Return the seconds the clock went back since the last call; 0 if too few to matter."""
        before, self._ahead = self._ahead, now() - time.monotonic()
        back = before - self._ahead
        return back if back > _WAITED_OUT_SECONDS else 0.0


class InstantClock:
    """The clock for one table's instants."""

    _highest = 0.0
    """The latest time of any table's instant in this process."""

    def __init__(self, table: str, jvm: Any) -> None:
        self._table = table
        self._jvm = jvm
        self._latest = 0.0

    @property
    def behind(self) -> float:
        """Seconds that the clock is behind the table's latest instant; 0 when it is not."""
        return max(0.0, self._latest - now())

    def has(self, instant: str) -> None:
        """Note that the table has an instant of that name."""
        generator = self._jvm.org.apache.hudi.common.table.timeline.HoodieInstantTimeGenerator
        self._latest = max(
            self._latest, generator.parseDateFromInstantTime(instant).getTime() / 1e3
        )

    def forget(self) -> None:
        """Forget the latest instant, because the table is written again."""
        self._latest = 0.0

    def take(self) -> None:
        """Prepare for a new instant. Raises ClockError when it would not be the latest."""
        if (behind := self.behind) > _WAITED_OUT_SECONDS:
            raise ClockError(
                f"The clock is {timedelta(seconds=round(behind))} behind the latest commit of "
                f"table {self._table}: set it right. Nothing is lost, and the table goes on by "
                "itself when the clock has passed that commit. If the commit is from a clock that "
                f"was ahead, do not wait: labctl table rebuild {self._table}, which gives up time "
                "travel to what was before"
            )
        time.sleep(behind)
        self._latest = moment = now()
        if moment < InstantClock._highest:
            self._start_anew()
        InstantClock._highest = moment

    def made(self) -> None:
        """Check a completed instant. Raises PutBackError when it ended before it was taken."""
        if now() < self._latest:
            raise PutBackError(
                f"The clock was put back during a commit of table {self._table}: the table is "
                "written again from bronze, and gives up time travel to what was before"
            )

    def _start_anew(self) -> None:
        """Reset Hudi's last instant, so that Hudi does not wait for the clock to pass it."""
        for field in self._jvm.java.lang.Class.forName(_GENERATOR).getDeclaredFields():
            # The field that holds the last instant; its name differs between versions.
            if field.getType().getSimpleName() == "AtomicReference":
                field.setAccessible(True)
                field.get(None).set("0")
