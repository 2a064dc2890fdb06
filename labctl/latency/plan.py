"""What will be changed, in order: every change with its number, decided before the run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from labctl.latency.scenario import Changes

__all__ = ["Change", "Kind", "Transaction", "plan_changes"]


class Kind(StrEnum):
    """What is done to a row."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    READ = "read"
    """Nothing: the row is part of a snapshot."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one row."""

    number: int
    """From 1 on, within its table; of a snapshot's row, its key."""
    kind: Kind
    key: int


@dataclass(frozen=True, slots=True)
class Transaction:
    """Changes that are committed together."""

    due: float | None
    """Seconds after the run's first change; None: as soon as the one before is committed."""
    changes: tuple[Change, ...]


def plan_changes(changes: Changes, *, first_key: int, seed: str) -> Iterator[Transaction]:
    """The transactions of one table. The same arguments give the same plan.

    Keys from `first_key` on belong to the run; the first `changes.rows` of them are there before.
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
    """The rows there are at this point of the plan, the one untouched for longest first."""

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
