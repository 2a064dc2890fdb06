"""The changes of a soak run: transactions of numbered changes, decided by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Kind", "Operation", "Transaction", "plan_transactions"]

_WEIGHTS = {"insert": 30, "update": 50, "delete": 10, "move": 10}
_WIDE_EVERY = 150
"""Average number of transactions per wide one."""
_WIDE_OPERATIONS = 100
_ROWS_AT_LEAST = 200
"""Number of living rows below which a plan has only inserts."""


class Kind(StrEnum):
    """The kind of change to a row."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    MOVE = "move"
    """The row's primary key changes."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A change of one row."""

    number: int
    """Number from 1 on within the table; rises with every operation."""
    kind: Kind
    key: int
    """Key of the row; for a moved row, its old key."""
    new_key: int | None = None
    """New key of a moved row; None for other operations."""

    @property
    def lives_at(self) -> int:
        """The key under which the row is found after this operation."""
        return self.key if self.new_key is None else self.new_key


@dataclass(frozen=True, slots=True)
class Transaction:
    """Operations that are committed together. No two have the same key, so it is repeatable."""

    operations: tuple[Operation, ...]


def plan_transactions(first_key: int, seed: str) -> Iterator[Transaction]:
    """Yield transactions of one table without end. The same arguments give the same ones.

    Keys from `first_key` on belong to the run. No key is used for a second row, so a deleted row
    stays deleted.
    """
    chance = random.Random(seed)  # noqa: S311 - not a secret
    alive: list[int] = []
    next_key, number = first_key, 0
    while True:
        wide = chance.randrange(_WIDE_EVERY) == 0
        touched: set[int] = set()
        operations: list[Operation] = []
        for _ in range(_WIDE_OPERATIONS if wide else 1):
            number += 1
            kind = Kind(chance.choices([*_WEIGHTS], [*_WEIGHTS.values()])[0])
            place = chance.randrange(len(alive)) if alive else 0
            if len(alive) < _ROWS_AT_LEAST or alive[place] in touched:
                kind = Kind.INSERT
            if kind is Kind.INSERT:
                operation = Operation(number, kind, next_key)
                alive.append(next_key)
                next_key += 1
            elif kind is Kind.UPDATE:
                operation = Operation(number, kind, alive[place])
            elif kind is Kind.MOVE:
                operation = Operation(number, kind, alive[place], next_key)
                alive[place] = next_key
                next_key += 1
            else:
                operation = Operation(number, kind, alive[place])
                alive[place] = alive[-1]
                alive.pop()
            touched |= {operation.key, operation.lives_at}
            operations.append(operation)
        yield Transaction(tuple(operations))
