"""What is known of one table during a run: what it must hold, and what queries have shown."""

from __future__ import annotations

import math
import threading
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass

from labctl.soak.plan import Kind, Operation

__all__ = ["Arrival", "Expectation", "Tracker", "Version"]


@dataclass(frozen=True, slots=True)
class Version:
    """A row as silver holds it."""

    number: int
    """Of the operation that made it so; a deleted row keeps the number it had."""
    deleted: bool

    def shows(self, operation: Operation) -> bool:
        """Whether the row has gone through `operation`."""
        if operation.kind is Kind.DELETE:
            return self.deleted
        return self.deleted or self.number >= operation.number


@dataclass(frozen=True, slots=True)
class Arrival:
    """A change's way from the source's acknowledgement to a query."""

    committed: float
    """Seconds since the epoch, as all times here."""
    queryable: float


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A change that no query has shown yet."""

    operation: Operation
    begun: float
    at: float
    """When the source said that it is committed."""


class Expectation:
    """What a table must hold, by the operations that were acknowledged. Not for several threads."""

    def __init__(self) -> None:
        self.rows: dict[int, Version] = {}
        """By key, the last state; moved and deleted rows stay, as deleted ones."""
        self.count = 0

    def add(self, operations: Iterable[Operation]) -> None:
        """The source has committed `operations`."""
        for operation in operations:
            self.count += 1
            if operation.kind in (Kind.DELETE, Kind.MOVE):
                before = self.rows.get(operation.key, Version(0, deleted=False))
                self.rows[operation.key] = Version(before.number, deleted=True)
            if operation.kind is not Kind.DELETE:
                self.rows[operation.lives_at] = Version(operation.number, deleted=False)


class Tracker:
    """Matches what the source acknowledged with what queries show. Safe for several threads.

    A row that is shown with a lower number than before, or again after it was deleted, has gone
    back: `stale` counts it. `stepped_back` counts those that did so between a fault and the
    first change after it: a source connector that dies sends its last seconds again when it is
    back, and a commit may fall in between.
    """

    def __init__(self) -> None:
        self.arrivals: list[Arrival] = []
        self.stale: list[str] = []
        self.stepped_back = 0
        self.fresh_at: float | None = None
        """When the change that `ask_for_change_after` asked for became queryable."""
        self._fresh_after = 0.0
        self._recovering = False
        self._mutex = threading.Lock()
        self._seen: dict[int, Version] = {}
        self._waiting: dict[int, deque[_Waiting]] = defaultdict(deque)
        self._under_way = 0

    @property
    def under_way(self) -> int:
        """Changes that are acknowledged and cannot be queried yet."""
        return self._under_way

    def stuck(self) -> int | None:
        """The key of the change that has been under way for longest."""
        with self._mutex:
            waiting = [(q[0].at, key) for key, q in self._waiting.items()]
        return min(waiting)[1] if waiting else None

    def fault_begins(self) -> None:
        """Until the change that is asked for next is shown, rows may be sent again."""
        with self._mutex:
            self._recovering, self._fresh_after, self.fresh_at = True, math.inf, None

    def ask_for_change_after(self, moment: float) -> None:
        """Have `fresh_at` name the first change that starts after `moment`.

        One whose answer came after `moment` may have been committed, and read, before.
        """
        with self._mutex:
            self._fresh_after, self.fresh_at = moment, None

    def acknowledged(self, operations: Iterable[Operation], begun: float, at: float) -> None:
        """The source, asked at `begun`, said at `at` that it has committed `operations`.

        A query may have shown them already.
        """
        with self._mutex:
            for operation in operations:
                seen = self._seen.get(operation.lives_at)
                if seen is not None and seen.shows(operation):
                    self._arrived(begun, Arrival(at, at))
                else:
                    self._waiting[operation.lives_at].append(_Waiting(operation, begun, at))
                    self._under_way += 1

    def shown(self, rows: Iterable[tuple[int, Version]], at: float) -> None:
        """A query returned rows, each with its key."""
        with self._mutex:
            for key, version in rows:
                seen = self._seen.get(key)
                if seen is not None and (
                    version.number < seen.number or (seen.deleted and not version.deleted)
                ):
                    if self._recovering:
                        self.stepped_back += 1
                    else:
                        self.stale.append(f"key {key}: {seen}, and later {version}")
                self._seen[key] = version
                waiting = self._waiting.get(key, deque())
                while waiting and version.shows(waiting[0].operation):
                    first = waiting.popleft()
                    self._arrived(first.begun, Arrival(first.at, at))
                    self._under_way -= 1
                if not waiting:
                    self._waiting.pop(key, None)

    def _arrived(self, begun: float, arrival: Arrival) -> None:
        self.arrivals.append(arrival)
        if self.fresh_at is None and begun > self._fresh_after:
            self.fresh_at = arrival.queryable
            self._recovering = False
