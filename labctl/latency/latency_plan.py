"""The plan of a run: every change in order, with its number, decided in advance."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from labctl.latency.scenario import Changes

__all__ = ["Change", "Kind", "Transaction", "plan_changes"]


class Kind(StrEnum):
    """The kind of change to a row."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    READ = "read"
    """No change: the row is part of a snapshot."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one row."""

    number: int
    """Number from 1 on within the table; for a row of a snapshot, its key."""
    kind: Kind
    key: int


@dataclass(frozen=True, slots=True)
class Transaction:
    """Changes that are committed together."""

    due: float | None
    """Seconds after the run's first change; None: as soon as the transaction before is
    committed."""
    changes: tuple[Change, ...]


def plan_changes(changes: Changes, *, first_key: int, seed: str) -> Iterator[Transaction]:
    """Yield the transactions of one table. The same arguments give the same plan.

    Keys from `first_key` on belong to the run. Rows with the first `changes.rows` of them must
    exist before it.
    """
    chance = random.Random(seed)  # noqa: S311 - not a secret
    rows = _Rows(changes, first_key, chance)
    due = 0.0
    for begin in range(1, changes.count + 1, changes.rows_per_transaction):
        end = min(begin + changes.rows_per_transaction, changes.count + 1)
        taken = tuple(rows.change(number) for number in range(begin, end))
        yield Transaction(None if changes.rate is None else due, taken)
        if changes.rate is not None:
            pause = len(taken) / changes.rate
            due += pause * chance.uniform(1 - changes.jitter, 1 + changes.jitter)


class _Rows:
    """The rows that exist at this point of the plan, least recently changed first."""

    def __init__(self, changes: Changes, first_key: int, chance: random.Random) -> None:
        self._alive = dict.fromkeys(range(first_key, first_key + changes.rows))
        self._next = first_key + changes.rows
        self._chance = chance
        self._weights = (changes.inserts, changes.updates, changes.deletes)

    def change(self, number: int) -> Change:
        kind = self._chance.choices((Kind.INSERT, Kind.UPDATE, Kind.DELETE), self._weights)[0]
        if kind is Kind.INSERT or not self._alive:
            kind, key = Kind.INSERT, self._next
            self._next += 1
        else:
            key = next(iter(self._alive))
            del self._alive[key]
        if kind is not Kind.DELETE:
            self._alive[key] = None
        return Change(number, kind, key)
