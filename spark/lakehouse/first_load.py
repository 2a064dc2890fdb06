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
    """Observer of a topic that grows.

    A snapshot fills a topic faster than commits can follow. Each commit begun in the meantime takes
    the processor from the snapshot, and the next commit rewrites its files.
    """

    def __init__(self, enough: int) -> None:
        """`enough` is the number of records to begin with, however fast more arrive."""
        self._enough = enough
        self._looks: deque[tuple[float, int]] = deque()
        self._begun: float | None = None

    @property
    def has_begun(self) -> bool:
        """True if the topic was read once."""
        return self._begun is not None

    @property
    def is_empty(self) -> bool:
        """True if the topic was read, and had no record the last time."""
        return bool(self._looks) and self._looks[-1][1] == 0

    def is_arriving(self, records: int, now: float) -> bool:
        """Return whether to wait for more than `records` at `now` (seconds of a steady clock)."""
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
    """A rule that makes bronze wait for silver's first loads.

    Somebody waits for these loads. Bronze, made from a topic that grows quickly, consists of many
    small batches, which would take a fifth of the processor from the loads.
    """

    def __init__(self, loading: Callable[[Collection[str]], Collection[str]]) -> None:
        """`loading` returns the tables that wait for their first commit from the given topics."""
        self._loading = loading
        self._begun: float | None = None

    def waits_for(self, topics: Collection[str], now: float) -> str | None:
        """Return what bronze waits for at `now` (seconds of a steady clock); None if nothing."""
        if self._begun is None:
            self._begun = now
        loading = self._loading(topics)
        if not loading or now - self._begun >= _LONGEST_BEFORE_BRONZE_SECONDS:
            return None
        return f"silver's first load of {', '.join(loading)}"
