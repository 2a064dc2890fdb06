"""What a soak run counts as missing, there twice, or gone back."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest

from labctl.lake.bronze_records import Bronze
from labctl.lake.objectstore import LakeStorage
from labctl.latency.targets import Target
from labctl.soak.checking import BronzeRecords, Finding, compare_rows
from labctl.soak.following import versions_of
from labctl.soak.soak_plan import Kind, Operation
from labctl.soak.tracking import Expectation, Tracker, Version
from labctl.sources import TableRef
from labctl.tables import LabTable
from lakecontract.properties import load_tables

TOPIC = "tickit.ecomm.sale"
INSERT = Operation(1, Kind.INSERT, 100)
UPDATE = Operation(2, Kind.UPDATE, 100)
MOVE = Operation(3, Kind.MOVE, 100, 101)
DELETE = Operation(4, Kind.DELETE, 101)


def live(number: int) -> Version:
    return Version(number, deleted=False)


def gone(number: int) -> Version:
    return Version(number, deleted=True)


def test_a_change_is_under_way_until_a_query_shows_its_number_or_a_later_one() -> None:
    tracker = Tracker()
    tracker.acknowledged([INSERT, UPDATE], 9.5, 10.0)
    assert tracker.under_way == 2
    assert tracker.stuck() == 100
    tracker.shown([(100, live(1))], 11.0)
    assert tracker.under_way == 1
    tracker.shown([(100, live(2))], 12.0)
    assert tracker.under_way == 0
    assert [a.queryable for a in tracker.arrivals] == [11.0, 12.0]
    assert tracker.stuck() is None


def test_a_query_can_be_faster_than_the_databases_answer() -> None:
    tracker = Tracker()
    tracker.shown([(100, live(2))], 9.0)
    tracker.acknowledged([INSERT, UPDATE], 9.5, 10.0)
    assert tracker.under_way == 0


def test_moved_and_deleted_rows_arrive_too() -> None:
    tracker = Tracker()
    tracker.acknowledged([INSERT, MOVE, DELETE], 9.5, 10.0)
    tracker.shown([(100, gone(1)), (101, live(3))], 11.0)
    assert tracker.under_way == 1
    tracker.shown([(101, gone(3))], 12.0)
    assert tracker.under_way == 0
    assert tracker.stale == []


@pytest.mark.parametrize(("before", "after"), [(live(5), live(4)), (gone(5), live(5))])
def test_a_row_that_goes_back_is_told_of(before: Version, after: Version) -> None:
    tracker = Tracker()
    tracker.shown([(100, before)], 1.0)
    tracker.shown([(100, after)], 2.0)
    assert len(tracker.stale) == 1


def test_rows_that_are_sent_again_after_a_fault_are_counted_apart() -> None:
    tracker = Tracker()
    tracker.shown([(100, live(2))], 1.0)
    tracker.fault_begins()
    tracker.ask_for_change_after(3.0)
    tracker.shown([(100, live(1))], 4.0)
    tracker.shown([(100, live(2))], 5.0)
    assert (tracker.stepped_back, tracker.stale) == (1, [])
    tracker.acknowledged([Operation(3, Kind.UPDATE, 100)], 5.5, 6.0)
    tracker.shown([(100, live(3))], 7.0)
    tracker.shown([(100, live(2))], 8.0)
    assert (tracker.stepped_back, len(tracker.stale)) == (1, 1)


def test_the_first_change_after_a_moment_is_found() -> None:
    tracker = Tracker()
    tracker.acknowledged([INSERT], 9.5, 10.0)
    tracker.ask_for_change_after(11.0)
    tracker.shown([(100, live(1))], 12.0)
    assert tracker.fresh_at is None
    tracker.acknowledged([UPDATE], 12.5, 13.0)
    tracker.shown([(100, live(2))], 14.0)
    assert tracker.fresh_at == 14.0


def test_a_change_from_before_a_fault_is_none_after_it_however_late_its_answer() -> None:
    tracker = Tracker()
    tracker.fault_begins()
    tracker.ask_for_change_after(11.0)
    tracker.acknowledged([INSERT, UPDATE], 10.9, 11.1)
    tracker.shown([(100, live(2))], 12.0)
    assert tracker.fresh_at is None
    tracker.shown([(100, live(1))], 13.0)
    assert (tracker.stepped_back, tracker.stale) == (1, [])


def expected(*operations: Operation) -> Expectation:
    expectation = Expectation()
    expectation.add(operations)
    return expectation


def test_silver_as_expected_has_no_finding() -> None:
    finding = Finding()
    compare_rows([(100, gone(2)), (101, live(3))], expected(INSERT, UPDATE, MOVE), finding)
    assert finding == Finding()


@pytest.mark.parametrize(
    ("held", "missing", "twice", "wrong"),
    [
        ([(100, gone(2))], 1, 0, 0),
        ([(100, gone(2)), (101, live(2))], 1, 0, 0),
        ([(100, gone(2)), (101, live(3)), (101, live(3))], 0, 1, 0),
        ([(100, live(2)), (101, live(3))], 0, 0, 1),
        ([(100, gone(2)), (101, gone(3))], 0, 0, 1),
        ([(100, gone(2)), (101, live(9))], 0, 0, 1),
    ],
)
def test_what_silver_lacks_or_has_twice_is_counted(
    held: list[tuple[int, Version]], missing: int, twice: int, wrong: int
) -> None:
    finding = Finding()
    compare_rows(held, expected(INSERT, UPDATE, MOVE), finding)
    assert (finding.missing_in_silver, finding.twice_in_silver, finding.wrong_in_silver) == (
        missing,
        twice,
        wrong,
    )
    assert finding.examples or twice


@pytest.fixture
def target() -> Target:
    """Table `sale`, numbers in `qtysold`."""
    folder = Path(__file__).parents[3] / "spark" / "properties"
    (properties,) = [t for t in load_tables([folder]) if t.topic == TOPIC]
    table = LabTable("mysql", "mysql", "ecomm", "sale", properties)
    return Target(table, TableRef("ecomm", "sale"), "salesid", "qtysold", ())


def write_bronze(folder: Path, first: int, records: list[tuple[int, int, str]]) -> None:
    """One object with records of key, number and `__deleted`, from offset `first` on."""
    fields = [("salesid", "int"), ("qtysold", "int"), ("__deleted", "string")]
    schema = {
        "type": "record",
        "name": "sale",
        "fields": [{"name": name, "type": kind} for name, kind in fields],
    }
    content = io.BytesIO()
    names = [name for name, _ in fields]
    fastavro.writer(content, schema, [dict(zip(names, r, strict=True)) for r in records])
    path = folder / "topics" / TOPIC / "year=2026" / f"{TOPIC}+0+{first:010}.avro"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.getvalue())


def check_bronze(folder: Path, target: Target) -> Finding:
    records = BronzeRecords(Bronze(LakeStorage.local(folder)), target, 100)
    records.read(0.0)
    finding = Finding()
    records.check([INSERT, UPDATE, MOVE, DELETE], finding)
    return finding


WHOLE = [
    (1, 1, "false"),
    (100, 1, "false"),
    (100, 2, "false"),
    (100, 2, "true"),
    (101, 3, "false"),
    (101, 3, "true"),
]


def test_bronze_with_every_change_has_no_finding(tmp_path: Path, target: Target) -> None:
    write_bronze(tmp_path, 0, WHOLE[:3])
    write_bronze(tmp_path, 3, WHOLE[3:])
    assert check_bronze(tmp_path, target) == Finding()


@pytest.mark.parametrize("lost", [1, 2, 3, 4, 5])
def test_a_change_that_bronze_lacks_is_counted(tmp_path: Path, target: Target, lost: int) -> None:
    write_bronze(tmp_path, 0, [r for place, r in enumerate(WHOLE) if place != lost])
    assert check_bronze(tmp_path, target).missing_in_bronze == 1


def test_offsets_that_are_twice_or_not_in_bronze_are_counted(
    tmp_path: Path, target: Target
) -> None:
    write_bronze(tmp_path, 0, WHOLE)
    write_bronze(tmp_path, 5, WHOLE[5:])
    write_bronze(tmp_path, 8, WHOLE[5:])
    finding = check_bronze(tmp_path, target)
    assert finding.missing_in_bronze == 0
    assert finding.twice_in_bronze + finding.gaps_in_bronze == 3


def test_numbers_may_be_text_padded_as_sql_servers_char_is(target: Target) -> None:
    rows = pa.table({"id": [99, 100], "name": ["1", "2   "], "__deleted": ["false", "true"]})
    named = replace(target, key="id", number="name")
    assert versions_of(rows, named, 100) == [(100, gone(2))]
