"""Verification waits for what is in flight, and for nothing else."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pyarrow as pa

from labctl.verify import Pair, State, TableVerdict, verify


def rows(count: int) -> pa.Table:
    return pa.table({"id": range(count)})


def pair(silver: Iterator[pa.Table | None], in_flight: Iterator[int | None] | None = None) -> Pair:
    waiting = in_flight or itertools.repeat(None)
    return Pair(
        source_name="mysql ecomm.sale",
        silver_name="sale",
        keys=("id",),
        read_source=lambda: rows(3),
        read_silver=lambda: next(silver),
        in_flight=lambda: next(waiting),
    )


def test_equal_at_once() -> None:
    report = verify([pair(iter([rows(3)]))])
    assert report.equal
    (verdict,) = report.tables
    assert (verdict.state, verdict.reads) == (State.EQUAL, 1)


def test_reads_again_until_the_rest_has_arrived() -> None:
    waits = []
    report = verify(
        [pair(iter([None, rows(1), rows(2), rows(3)]))],
        on_wait=lambda _pair, diff: waits.append(diff.missing),
    )
    assert report.equal
    assert report.tables[0].reads == 4
    assert waits == [3, 2, 1]


def test_what_no_longer_moves_is_different() -> None:
    report = verify([pair(itertools.repeat(rows(2)))], timeout=30, patience=0.6)
    (verdict,) = report.tables
    assert verdict.state is State.DIFFERENT
    assert verdict.diff.missing_keys == ({"id": 2},)
    assert report.seconds < 10


def test_nothing_is_read_while_records_are_known_to_be_in_flight() -> None:
    lag: Iterator[int | None] = itertools.chain([5] * 6, itertools.repeat(0))
    report = verify([pair(iter([rows(3)]), lag)], timeout=30, patience=0.3)
    assert (report.tables[0].state, report.tables[0].reads) == (State.EQUAL, 1)


def test_what_still_moves_when_the_time_is_up_is_in_flight() -> None:
    lag: Iterator[int | None] = itertools.count(1)
    report = verify([pair(itertools.repeat(rows(2)), lag)], timeout=1, patience=5)
    (verdict,) = report.tables
    assert verdict.state is State.IN_FLIGHT
    assert verdict.in_flight is not None and verdict.in_flight > 1
    assert not report.equal


def test_without_time_everything_is_read_once() -> None:
    report = verify([pair(iter([rows(2)])), pair(iter([rows(3)]))], timeout=0)
    assert [v.state for v in report.tables] == [State.DIFFERENT, State.EQUAL]
    assert [v.reads for v in report.tables] == [1, 1]


def test_every_table_is_told_once_and_kept_in_order() -> None:
    heard: list[TableVerdict] = []
    slow, quick = pair(iter([rows(2), rows(3)])), pair(iter([rows(3)]))
    report = verify([slow, quick], on_verdict=heard.append)
    assert [v.reads for v in report.tables] == [2, 1]
    assert [v.reads for v in heard] == [1, 2]


def test_a_report_is_plain_data() -> None:
    report = verify([pair(iter([rows(2)]))], timeout=0)
    data = json.loads(json.dumps(report.to_dict()))
    assert data["equal"] is False
    assert data["tables"][0]["state"] == "different"
    assert data["tables"][0]["diff"]["missing"] == 1
