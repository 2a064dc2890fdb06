"""Tracking one table during a run: the rows it must hold, and those that queries returned."""

from __future__ import annotations

import math
import threading
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass

from labctl.soak.soak_plan import Kind, Operation

__all__ = ["Arrival", "Expectation", "Tracker", "Version"]


@dataclass(frozen=True, slots=True)
class Version:
    """The state of a row in silver."""

    number: int
    """Number of the operation that produced this state; a deleted row keeps its old number."""
    deleted: bool

    def shows(self, operation: Operation) -> bool:
        """Return whether the row includes `operation`."""
        if operation.kind is Kind.DELETE:
            return self.deleted
        return self.deleted or self.number >= operation.number


@dataclass(frozen=True, slots=True)
class Arrival:
    """A change's acknowledgement by the source, and its arrival in a query."""

    committed: float
    """Time of the acknowledgement, in seconds since the epoch like all times in this module."""
    queryable: float


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A change that no query has returned yet."""

    operation: Operation
    begun: float
    at: float
    """Time when the source acknowledged the commit."""


class Expectation:
    """The rows that a table must hold after the acknowledged operations. Not thread-safe."""

    def __init__(self) -> None:
        self.rows: dict[int, Version] = {}
        """Last state of each row, by key; moved and deleted rows stay as deleted ones."""
        self.count = 0

    def add(self, operations: Iterable[Operation]) -> None:
        """Record that the source has committed `operations`."""
        for operation in operations:
            self.count += 1
            if operation.kind in (Kind.DELETE, Kind.MOVE):
                before = self.rows.get(operation.key, Version(0, deleted=False))
                self.rows[operation.key] = Version(before.number, deleted=True)
            if operation.kind is not Kind.DELETE:
                self.rows[operation.lives_at] = Version(operation.number, deleted=False)


class Tracker:
    """A match of acknowledged changes with the rows that queries return. Thread-safe.

    A row that a query returns with a lower number than before, or again after its delete, has gone
    back; `stale` lists it. `stepped_back` counts rows that go back between a fault and the first
    change after it: a source connector that dies resends its last seconds when it returns, and a
    commit may contain only a part of them.
    """

    def __init__(self) -> None:
        self.arrivals: list[Arrival] = []
        self.stale: list[str] = []
        self.stepped_back = 0
        self.fresh_at: float | None = None
        """Time when the change requested by `ask_for_change_after` became queryable."""
        self._fresh_after = 0.0
        self._recovering = False
        self._mutex = threading.Lock()
        self._seen: dict[int, Version] = {}
        self._waiting: dict[int, deque[_Waiting]] = defaultdict(deque)
        self._under_way = 0

    @property
    def under_way(self) -> int:
        """Number of changes that are acknowledged but not yet queryable."""
        return self._under_way

    def stuck(self) -> int | None:
        """Return the key of the oldest change that is not yet queryable; None if there is none."""
        with self._mutex:
            waiting = [(q[0].at, key) for key, q in self._waiting.items()]
        return min(waiting)[1] if waiting else None

    def fault_begins(self) -> None:
        """Begin a recovery: rows may be resent until the next requested change is queryable."""
        with self._mutex:
            self._recovering, self._fresh_after, self.fresh_at = True, math.inf, None

    def ask_for_change_after(self, moment: float) -> None:
        """Set `fresh_at` when the first change that starts after `moment` becomes queryable.

        The start counts, because a change acknowledged after `moment` may have been committed, and
        read, before it.
        """
        with self._mutex:
            self._fresh_after, self.fresh_at = moment, None

    def acknowledged(self, operations: Iterable[Operation], begun: float, at: float) -> None:
        """Record that the source, asked at `begun`, acknowledged `operations` at `at`.

        A query may have returned them already.
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
        """Record rows that a query returned at `at`, each with its key."""
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
