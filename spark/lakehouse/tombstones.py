"""Null records: those that only repeat a delete, and those that are a lost delete."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lakehouse.decode import Undecodable

__all__ = ["LOOK_BACK", "Change", "lost_deletes", "unexplained"]

LOOK_BACK = 1_000
"""Number of records before a batch that are searched for the delete that a null record follows.
Debezium writes the two one after the other; a transaction's mark or a restart may lie between."""


@dataclass(frozen=True, slots=True)
class Change:
    """A record that is not null, of a key that also has a null record."""

    partition: int
    offset: int
    key: bytes
    is_delete: bool
    """True if its `__deleted` is 'true'."""


def lost_deletes(nulls: Iterable[Undecodable], changes: Iterable[Change]) -> list[Undecodable]:
    """Return those of `nulls` that do not follow a delete of their key.

    If a connector rewrites deletes, a null record may follow one, for Kafka's compaction to
    remove the key; the table has the delete already. Any other null record is a delete without
    a row: the last change of its key before it is no delete, or is missing.
    """
    by_key = _by_key(changes)
    return [
        null for null in nulls if (last := _last_before(null, by_key)) is None or not last.is_delete
    ]


def unexplained(nulls: Iterable[Undecodable], changes: Iterable[Change]) -> list[Undecodable]:
    """Return those of `nulls` that none of `changes` precedes: their changes lie further back."""
    by_key = _by_key(changes)
    return [null for null in nulls if _last_before(null, by_key) is None]


_Key = tuple[int, bytes]


def _by_key(changes: Iterable[Change]) -> dict[_Key, list[Change]]:
    found: dict[_Key, list[Change]] = defaultdict(list)
    for change in changes:
        found[change.partition, change.key].append(change)
    return found


def _last_before(null: Undecodable, by_key: dict[_Key, list[Change]]) -> Change | None:
    if null.key is None:
        return None
    mine: Sequence[Change] = by_key.get((null.partition, null.key), ())
    earlier = (change for change in mine if change.offset < null.offset)
    return max(earlier, key=lambda change: change.offset, default=None)
