"""Null records: a tombstone behind a delete is left out, any other is a delete that was lost."""

from __future__ import annotations

from lakehouse.decode import LOST_DELETE, Undecodable
from lakehouse.tombstones import Change, lost_deletes, unexplained


def null(offset: int, key: bytes | None = b"7", partition: int = 0) -> Undecodable:
    return Undecodable("topic", partition, offset, 0, LOST_DELETE, key, None, ())


def change(offset: int, *, deletes: bool, key: bytes = b"7", partition: int = 0) -> Change:
    return Change(partition, offset, key, deletes)


def test_a_null_record_behind_the_delete_of_its_key_repeats_it() -> None:
    changes = [change(3, deletes=False), change(4, deletes=True)]

    # Another key's record, or a transaction's mark, may lie between; it may come twice.
    assert lost_deletes([null(5), null(7)], [*changes, change(6, key=b"8", deletes=False)]) == []


def test_a_null_record_behind_anything_else_is_a_lost_delete() -> None:
    lost = null(5)

    assert lost_deletes([lost], []) == [lost]
    assert lost_deletes([lost], [change(4, deletes=False)]) == [lost]
    assert lost_deletes([lost], [change(3, deletes=True), change(4, deletes=False)]) == [lost]
    assert lost_deletes([lost], [change(4, key=b"8", deletes=True)]) == [lost]
    assert lost_deletes([lost], [change(4, partition=1, deletes=True)]) == [lost]
    assert lost_deletes([lost], [change(6, deletes=True)]) == [lost]


def test_a_null_record_without_a_key_is_a_lost_delete() -> None:
    lost = null(5, key=None)

    assert lost_deletes([lost], [change(4, deletes=True)]) == [lost]


def test_only_what_the_batch_says_nothing_of_is_looked_for_before_it() -> None:
    known, unknown = null(5), null(6, key=b"8")

    assert unexplained([known, unknown], [change(4, deletes=False)]) == [unknown]
