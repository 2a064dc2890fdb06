"""First loads: when to begin with a table that has nothing yet, and what waits for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection

__all__ = ["FirstLoad", "SilverFirst"]

_WINDOW_SECONDS = 1.0
_ARRIVING_PER_SECOND = 1_000
_LONGEST_SECONDS = 60.0
_LONGEST_BEFORE_BRONZE_SECONDS = 120.0


class FirstLoad:
    """Watches a topic grow.

    A snapshot fills a topic faster than commits can follow: each commit begun meanwhile takes the
    processor from it, and is rewritten by the next one.
    """

    def __init__(self, enough: int) -> None:
        """`enough` records are worth beginning with, however fast more arrive."""
        self._enough = enough
        self._looks: deque[tuple[float, int]] = deque()
        self._begun: float | None = None

    @property
    def has_begun(self) -> bool:
        """Whether the topic was read once."""
        return self._begun is not None

    @property
    def is_empty(self) -> bool:
        """Whether the topic was read, and had no record the last time."""
        return bool(self._looks) and self._looks[-1][1] == 0

    def is_arriving(self, records: int, now: float) -> bool:
        """Whether to wait for more, `records` being there `now` (seconds of any steady clock)."""
        if self._begun is None:
            self._begun = now
        self._looks.append((now, records))
        while len(self._looks) > 1 and now - self._looks[1][0] >= _WINDOW_SECONDS:
            self._looks.popleft()
        then, before = self._looks[0]
        passed = now - then
        if records >= self._enough or now - self._begun >= _LONGEST_SECONDS:
            return False
        return passed < _WINDOW_SECONDS or records - before >= _ARRIVING_PER_SECOND * passed


class SilverFirst:
    """Has bronze wait for silver's first loads.

    They are what somebody waits for; and bronze, made from a topic that grows quickly, is many
    small batches, which would take a fifth of the processor from them.
    """

    def __init__(self, loading: Callable[[Collection[str]], Collection[str]]) -> None:
        """`loading` names the tables that are waiting for their first commit from given topics."""
        self._loading = loading
        self._begun: float | None = None

    def waits_for(self, topics: Collection[str], now: float) -> str | None:
        """What bronze waits for, `now` (seconds of any steady clock)."""
        if self._begun is None:
            self._begun = now
        loading = self._loading(topics)
        if not loading or now - self._begun >= _LONGEST_BEFORE_BRONZE_SECONDS:
            return None
        return f"silver's first load of {', '.join(loading)}"
