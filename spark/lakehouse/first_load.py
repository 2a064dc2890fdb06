"""When to begin with a table that has nothing yet, while its topic is being filled."""

from __future__ import annotations

__all__ = ["FirstLoad"]

_WINDOW_SECONDS = 1.0
_ARRIVING_PER_SECOND = 1_000
_LONGEST_SECONDS = 60.0


class FirstLoad:
    """Watches a topic grow.

    A snapshot fills a topic faster than commits can follow: each commit begun meanwhile takes the
    processor from it, and is rewritten by the next one.
    """

    def __init__(self, enough: int) -> None:
        """`enough` records are worth beginning with, however fast more arrive."""
        self._enough = enough
        self._begun: float | None = None
        self._looked_at = 0.0
        self._records = 0
        self._arriving = True

    def is_arriving(self, records: int, now: float) -> bool:
        """Whether to wait for more, `records` being there `now` (seconds of any steady clock)."""
        if self._begun is None:
            self._begun = self._looked_at = now
            self._records = records
        elif (passed := now - self._looked_at) >= _WINDOW_SECONDS:
            self._arriving = records - self._records >= _ARRIVING_PER_SECOND * passed
            self._looked_at, self._records = now, records
        waited = now - self._begun
        return self._arriving and records < self._enough and waited < _LONGEST_SECONDS
