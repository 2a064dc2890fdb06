"""Null records: which of them only repeat a delete, and which are one that was lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lakehouse.decode import Undecodable

__all__ = ["LOOK_BACK", "Change", "lost_deletes", "unexplained"]

LOOK_BACK = 1_000
"""How many records before a batch are searched for the delete that a null record follows. Debezium
writes the two one after the other; what may lie between is a transaction's mark, a restart."""


@dataclass(frozen=True, slots=True)
class Change:
    """A record that is not null, of a key that also has a null record."""

    partition: int
    offset: int
    key: bytes
    is_delete: bool
    """Its `__deleted` is 'true'."""


def lost_deletes(nulls: Iterable[Undecodable], changes: Iterable[Change]) -> list[Undecodable]:
    """Those of `nulls` that do not follow a delete of their key.

    Where a connector rewrites deletes, a null record may follow one, for Kafka's compaction to
    remove the key; the table has the delete already. Any other null record is a delete without
    a row: the last change of its key before it says something else, or is not there.
    """
    by_key = _by_key(changes)
    return [
        null for null in nulls if (last := _last_before(null, by_key)) is None or not last.is_delete
    ]


def unexplained(nulls: Iterable[Undecodable], changes: Iterable[Change]) -> list[Undecodable]:
    """Those of `nulls` that none of `changes` comes before: what does lies further back."""
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
