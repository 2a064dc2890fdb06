"""Verification waits for what is in flight, and for nothing else."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from labctl.cli.verify import verify_exit_code, verify_summary
from labctl.errors import ExitCode, LabError
from labctl.lab.tables import in_flight
from labctl.verify import (
    CaptureState,
    Pair,
    Rows,
    State,
    TableVerdict,
    UnavailableError,
    VerifyReport,
)
from labctl.verify import verify as verify_pairs
from tests.unit.rendering import as_text

PASSED = CaptureState()
BEHIND = CaptureState(waiting_for="connector mysql has not read the source's log to its end")


class SleptTime:
    """A clock on which time passes only while somebody sleeps."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += seconds


def verify(pairs: list[Pair], **options: Any) -> VerifyReport:
    """Verify by a clock of its own, which no machine's load can delay."""
    return verify_pairs(pairs, clock=SleptTime(), **options)


def rows(count: int) -> pa.Table:
    return pa.table({"id": range(count)})


def pair(silver: Iterator[pa.Table | None], in_flight: Iterator[int | None] | None = None) -> Pair:
    waiting = in_flight or itertools.repeat(None)
    return Pair(
        source_name="mysql ecomm.sale",
        silver_name="sale",
        read_source=lambda: Rows(rows(3), ("id",)),
        read_silver=lambda: next(silver),
        in_flight=lambda: next(waiting),
    )


class Capture:
    """Capture that has come as far as `states` say, one after the other; the last one stays."""

    def __init__(self, *states: CaptureState) -> None:
        self.states = list(states)
        self.asked: list[int] = []
        self.ends = itertools.count()

    def end(self) -> int:
        return next(self.ends)

    def state(self, end: int) -> CaptureState:
        self.asked.append(end)
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]


def raising(error: LabError) -> Callable[[], Rows]:
    def read() -> Rows:
        raise error

    return read


def test_equal_at_once() -> None:
    report = verify([pair(iter([rows(3)]))])
    assert report.equal
    (verdict,) = report.tables
    assert (verdict.state, verdict.reads) == (State.EQUAL, 1)


def test_one_tables_crash_takes_no_other_verdict_along() -> None:
    def crash() -> Rows:
        raise OverflowError("too large")

    crashing = replace(pair(iter([rows(3)])), read_source=crash)
    report = verify([crashing, pair(iter([rows(3)]))])
    assert [verdict.state for verdict in report.tables] == [State.CANNOT_COMPARE, State.EQUAL]
    assert report.tables[0].reason == "labctl cannot compare it: OverflowError: too large"


def test_reads_again_until_the_rest_has_arrived() -> None:
    waits: list[int | None] = []
    report = verify(
        [pair(iter([None, rows(1), rows(2), rows(3)]))],
        on_wait=lambda so_far: waits.append(so_far.diff.missing if so_far.diff else None),
    )
    assert report.equal
    assert report.tables[0].reads == 4
    assert [n for n, _ in itertools.groupby(waits)] == [3, 2, 1]


def test_what_no_longer_moves_is_different() -> None:
    report = verify([pair(itertools.repeat(rows(2)))], timeout=30, patience=0.6)
    (verdict,) = report.tables
    assert verdict.state is State.DIFFERENT
    assert verdict.diff is not None
    assert verdict.diff.missing_keys == ({"id": 2},)
    assert report.seconds < 25


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


def test_capture_is_not_asked_about_equal_tables() -> None:
    capture = Capture(BEHIND)
    assert verify([replace(pair(iter([rows(3)])), capture=capture)]).equal
    assert capture.asked == []


def test_what_capture_has_not_passed_is_in_flight_until_it_has() -> None:
    silver = itertools.chain([rows(2)], itertools.repeat(rows(3)))
    capture = Capture(BEHIND, BEHIND, BEHIND, BEHIND, PASSED)
    report = verify([replace(pair(silver), capture=capture)], timeout=30, patience=0.3)
    (verdict,) = report.tables
    assert verdict.state is State.EQUAL
    assert verdict.reads == 2, "nothing is read while capture is known to be behind"


def test_what_capture_never_passes_is_not_called_different() -> None:
    stays = replace(pair(itertools.repeat(rows(2))), capture=Capture(BEHIND))
    report = verify([stays], timeout=1, patience=0.2)
    (verdict,) = report.tables
    assert (verdict.state, verdict.reason) == (State.IN_FLIGHT, BEHIND.waiting_for)
    assert verify_exit_code(report) is ExitCode.UNDECIDED
    shown = as_text(verify_summary(report))
    assert "has not read" in shown
    assert "missing id=2" not in shown, "rows that may be on their way are not listed"


def test_what_differs_after_capture_has_passed_is_different() -> None:
    capture = Capture(BEHIND, PASSED)
    stays = replace(pair(itertools.repeat(rows(2))), capture=capture)
    report = verify([stays], timeout=30, patience=0.5)
    assert report.tables[0].state is State.DIFFERENT
    assert verify_exit_code(report) is ExitCode.DIFFERENT
    assert set(capture.asked) == {0}, "the mark stays while the difference does"
    assert "missing id=2" in as_text(verify_summary(report))


def test_a_connector_that_still_puts_records_into_topics_is_waited_for() -> None:
    moving = (CaptureState(moving=n) for n in range(12))
    silver = itertools.chain([rows(2)] * 4, itertools.repeat(rows(3)))
    report = verify([replace(pair(silver), capture=Capture(*moving))], timeout=30, patience=0.6)
    assert report.tables[0].state is State.EQUAL


def test_a_connector_that_is_paused_is_not_waited_for_until_the_time_is_up() -> None:
    paused = CaptureState(waiting_for="connector mysql is PAUSED", stuck=True)
    stays = replace(pair(itertools.repeat(rows(2))), capture=Capture(paused))
    report = verify([stays], timeout=60, patience=0.3)
    assert report.tables[0].state is State.IN_FLIGHT
    assert report.seconds < 50


def test_a_connector_that_has_failed_brings_nothing_more() -> None:
    failed = CaptureState(waiting_for="connector mysql is FAILED: why", stuck=True, failed=True)
    lost = replace(pair(itertools.repeat(rows(2))), capture=Capture(failed))
    report = verify([lost], timeout=60, patience=0.3)
    (verdict,) = report.tables
    assert (verdict.state, verdict.reason) == (State.DIFFERENT, failed.waiting_for)
    assert verify_exit_code(report) is ExitCode.DIFFERENT
    assert report.seconds < 50


def test_records_that_silver_will_not_take_are_not_in_flight() -> None:
    why = "table sale is failed: its record key is null"
    waiting = pair(itertools.repeat(rows(2)), itertools.repeat(4))
    failed = replace(waiting, stopped=lambda: why)
    slow = pair(iter([*[rows(2)] * 3, rows(3)]))
    report = verify([failed, slow], timeout=60, patience=10)
    assert [v.state for v in report.tables] == [State.DIFFERENT, State.EQUAL]
    assert report.tables[0].reason == f"{why}; 4 records of its topic are not in silver"
    assert report.tables[0].seconds < 1
    assert why in as_text(verify_summary(report))


def test_a_table_that_silver_has_given_up_may_be_equal() -> None:
    stopped = replace(pair(iter([rows(3)]), itertools.repeat(1)), stopped=lambda: "it is failed")
    assert verify([stopped]).equal


def test_a_table_that_is_tried_again_is_waited_for_until_it_has_failed_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: dict[str, Any] = {"state": "retrying", "restarts": 5, "offsets": {"0": 7}, "error": "X"}
    monkeypatch.setattr(in_flight, "silver_status", lambda _: {"tables": {"sale": told}})
    table: Any = SimpleNamespace(name="sale")
    lab: Any = None
    stopped = in_flight.StoppedTables(lab)
    for more in ({}, {"restarts": 7}, {"offsets": {"0": 8}}, {"restarts": 9}, {"error": "Y"}):
        told |= more
        assert stopped.why(table) is None
    told |= {"restarts": 10, "error": None}
    assert stopped.why(table) is None
    told |= {"restarts": 12, "error": "Y"}
    assert stopped.why(table) == "table sale is tried again without success: Y"
    told |= {"state": "failed", "restarts": 0, "error": "no key"}
    assert in_flight.StoppedTables(lab).why(table) == "table sale is failed: no key"


def test_a_part_that_does_not_answer_leaves_it_open() -> None:
    silent = replace(
        pair(iter([])), read_source=raising(UnavailableError("mysql", "MySQL is not there"))
    )
    report = verify([silent, pair(iter([rows(3)]))], timeout=0.6)
    assert [v.state for v in report.tables] == [State.CANNOT_TELL, State.EQUAL]
    assert report.tables[0].reason == "MySQL is not there"
    assert verify_exit_code(report) is ExitCode.UNDECIDED
    assert "MySQL is not there" in as_text(verify_summary(report))


def test_a_part_that_was_stopped_is_not_waited_for() -> None:
    silent = replace(
        pair(iter([])), read_source=raising(UnavailableError("mysql", "MySQL is not there"))
    )
    report = verify([silent], timeout=60, comes_back=lambda part: part != "mysql")
    assert report.tables[0].state is State.CANNOT_TELL
    assert report.seconds < 50


def test_a_table_that_cannot_be_compared_does_not_keep_the_others_from_it() -> None:
    absent = replace(pair(iter([])), read_source=raising(LabError("MySQL has no table ecomm.sale")))
    report = verify([absent, pair(iter([rows(3)]))], timeout=60)
    assert [v.state for v in report.tables] == [State.CANNOT_COMPARE, State.EQUAL]
    assert report.seconds < 50
    assert "has no table ecomm.sale" in as_text(verify_summary(report))


def test_a_column_that_cannot_be_compared_is_told_and_the_others_are_compared() -> None:
    def read() -> Rows:
        return Rows(rows(3), ("id",), unread=("tags: text[]",))

    silver = rows(3).append_column("tags", pa.array([["a"], [], None]))
    report = verify([replace(pair(itertools.repeat(silver)), read_source=read)], timeout=60)
    assert report.tables[0].state is State.CANNOT_COMPARE
    assert "cannot compare column tags: text[]" in as_text(verify_summary(report))
    differs = replace(pair(itertools.repeat(silver.slice(1))), read_source=read)
    assert verify([differs], timeout=0).tables[0].state is State.DIFFERENT


def test_equal_tables_are_told_in_plain_words() -> None:
    assert "All rows match (" in as_text(verify_summary(verify([pair(iter([rows(3)]))])))


def test_where_the_log_s_end_is_not_to_be_had_nothing_is_called_different() -> None:
    class Lost(Capture):
        failures = 3

        def end(self) -> int:
            self.failures -= 1
            if self.failures >= 0:
                raise UnavailableError("mysql", "MySQL is not there")
            return super().end()

    capture = Lost(BEHIND)
    stays = replace(pair(itertools.repeat(rows(2))), capture=capture)
    report = verify([stays], timeout=3, patience=0.2)
    assert (report.tables[0].state, report.tables[0].reason) == (
        State.IN_FLIGHT,
        BEHIND.waiting_for,
    )
    assert capture.asked, "the end is asked for again"


def test_equality_is_seen_while_connect_is_away() -> None:
    class Away(Capture):
        def state(self, end: int) -> CaptureState:
            if end in self.asked:
                raise UnavailableError("connect", "Kafka Connect is not there")
            return super().state(end)

    silver = itertools.chain([rows(2), rows(2)], itertools.repeat(rows(3)))
    report = verify([replace(pair(silver), capture=Away(BEHIND))], timeout=60, patience=5)
    assert report.equal
    assert report.seconds < 50
    away = replace(pair(itertools.repeat(rows(2))), capture=Away(BEHIND))
    verdict = verify([away], timeout=1, patience=0.2).tables[0]
    assert (verdict.state, verdict.reason) == (State.CANNOT_TELL, "Kafka Connect is not there")


def test_a_database_that_does_not_tell_its_log_s_end_leaves_it_open() -> None:
    class Refusing(Capture):
        def end(self) -> int:
            raise LabError("MySQL refused a statement: access denied")

    refuses = replace(pair(itertools.repeat(rows(2))), capture=Refusing(PASSED))
    report = verify([refuses], timeout=60, comes_back=lambda part: part == "mysql")
    assert report.tables[0].state is State.CANNOT_TELL
    assert report.seconds < 50
