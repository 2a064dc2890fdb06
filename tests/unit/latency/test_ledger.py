"""What is known of each change, whichever of its witnesses comes first."""

from __future__ import annotations

from labctl.latency.latency_plan import Change, Kind
from labctl.latency.ledger import Ledger, Message, Stored, Version

TABLE = "sale"


def message(key: int, number: int, offset: int, *, deleted: bool = False) -> Message:
    return Message(TABLE, key, number, deleted, 1.0, 2.0, 0, offset)


def wrote(ledger: Ledger, *changes: Change) -> None:
    ledger.written(TABLE, changes, 0.0, 0.5)


def test_a_record_that_is_faster_than_the_databases_answer_is_not_lost() -> None:
    ledger = Ledger()
    ledger.received(message(7, 1, 100))
    wrote(ledger, Change(1, Kind.UPDATE, 7))
    assert ledger.traces[0].offset == 100
    assert ledger.in_kafka == 1


def test_a_query_that_is_faster_than_the_consumer_counts() -> None:
    ledger = Ledger()
    wrote(ledger, Change(1, Kind.UPDATE, 7))
    ledger.shown(TABLE, [Version(7, 100, 3.0, 4.0)])
    ledger.received(message(7, 1, 100))
    assert (ledger.traces[0].hudi, ledger.traces[0].queryable) == (3.0, 4.0)


def test_a_later_version_shows_the_earlier_changes_of_its_row_and_no_other() -> None:
    ledger = Ledger()
    wrote(ledger, *(Change(n, Kind.UPDATE, key) for n, key in ((1, 7), (2, 8), (3, 7), (4, 7))))
    for offset, (number, key) in enumerate(((1, 7), (2, 8), (3, 7), (4, 7)), start=100):
        ledger.received(message(key, number, offset))
    ledger.shown(TABLE, [Version(7, 102, 3.0, 4.0)])
    assert [t.queryable for t in ledger.traces] == [4.0, None, 4.0, None]
    assert ledger.queryable == 2


def test_a_delete_is_known_by_its_key_and_not_by_the_number_the_row_had() -> None:
    ledger = Ledger()
    wrote(ledger, Change(1, Kind.UPDATE, 7), Change(2, Kind.DELETE, 7))
    ledger.received(message(7, 1, 100))
    ledger.received(message(7, 1, 101, deleted=True))
    assert [t.offset for t in ledger.traces] == [100, 101]
    assert [t.records for t in ledger.traces] == [1, 1]


def test_a_record_that_comes_again_is_a_duplicate() -> None:
    ledger = Ledger()
    wrote(ledger, Change(1, Kind.UPDATE, 7))
    ledger.received(message(7, 1, 100))
    ledger.received(message(7, 1, 105))
    assert ledger.traces[0].records == 2
    assert ledger.traces[0].offset == 100
    assert ledger.in_kafka == 1


def test_what_has_no_record_or_no_object_is_named() -> None:
    ledger = Ledger()
    wrote(ledger, *(Change(n, Kind.UPDATE, n) for n in (1, 2, 3)))
    ledger.received(message(1, 1, 100))
    ledger.received(message(2, 2, 101))
    ledger.stored(TABLE, [Stored(0, 50, 101, 9.0), Stored(1, 101, 200, 9.0)])
    assert [t.change.number for t in ledger.not_in_kafka()] == [3]
    assert [t.change.number for t in ledger.not_in_bronze()] == [2, 3]


def test_a_record_is_in_the_object_whose_offsets_span_it() -> None:
    ledger = Ledger()
    wrote(ledger, *(Change(n, Kind.UPDATE, n) for n in (1, 2, 3)))
    for number, offset in ((1, 109), (2, 110), (3, 120)):
        ledger.received(message(number, number, offset))
    ledger.stored(TABLE, [Stored(0, 110, 120, 8.0), Stored(0, 100, 110, 7.0)])
    assert [t.bronze for t in ledger.traces] == [7.0, 8.0, None]
