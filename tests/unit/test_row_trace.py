"""What each station on a row's way says of it, and why the row is not there."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from labctl.cli.trace import trace_text
from labctl.engines.postgres.postgres_types import POSTGRES
from labctl.lab.observe.pipeline_state import BronzeStatus, PipelineStatus, SilverTableStatus
from labctl.lab.tables.row_trace import (
    RowTrace,
    State,
    Station,
    bronze_station,
    dropped_by,
    silver_station,
    topic_station,
    why_not_in_bronze,
    why_not_in_silver,
)
from labctl.lab.tables.source_row import typed_as
from labctl.lake.deadletters import DeadLetter
from labctl.lake.records import Record
from labctl.sources import SourceColumn
from labctl.sources.base import Declared
from labctl.sources.type_rules import rule_for
from lakecontract.bronze_beginning import Beginning
from tests.unit.rendering import as_text

TOPIC = "tickit.ecomm.sale"
NOW = datetime(2026, 11, 25, 4, 0, 0, 123456, UTC)
ROW = {"salesid": 200, "commission": Decimal("24.00"), "seller": "Ann "}


def record(offset: int = 7, **value: Any) -> Record:
    found = ROW | {"seller": "Ann", "__deleted": "false"} | value
    return Record(TOPIC, 0, offset, NOW, {"salesid": 200}, found, file="topics/sale+0+7.avro")


def silver(offset: int = 7, deleted: str = "false") -> dict[str, Any]:
    hoodie = {"_hoodie_commit_time": "20261125040001000", "_hoodie_file_name": "a.parquet"}
    return {**hoodie, **ROW, "__kafka_offset": offset, "__deleted": deleted}


def table(**facts: Any) -> SilverTableStatus:
    sound = {"records_behind": 0, "dead_letters": 0, "error": None}
    return SilverTableStatus("sale", "running", "MERGE_ON_READ", "2026", **(sound | facts))


@pytest.mark.parametrize(
    ("found", "row", "state"),
    [
        (record(), ROW, State.CURRENT),
        (record(commission=Decimal("23.00")), ROW, State.OLDER),
        (record(seller="Bob"), ROW, State.OLDER),
        (record(__deleted="true"), ROW, State.OLDER),
        (record(__deleted="true"), None, State.DELETED),
        (record(), None, State.OLDER),
        (None, ROW, State.MISSING),
        (None, None, State.MISSING),
        (record(), "PostgreSQL does not answer", State.CURRENT),
        ("Kafka does not answer", ROW, State.UNKNOWN),
    ],
)
def test_the_topic_has_the_row_as_its_source_has_it(
    found: Record | str | None, row: dict[str, Any] | str | None, state: State
) -> None:
    station = topic_station(found, row, why=lambda: "it lags")
    assert station.state is state
    behind = state is State.OLDER or (found is None and row is not None)
    assert station.why == ("it lags" if behind else found if isinstance(found, str) else None)


@pytest.mark.parametrize(
    ("offset", "newest", "state"),
    [
        (7, record(7), State.CURRENT),
        (6, record(7), State.OLDER),
        (8, record(7), State.CURRENT),
        (7, None, State.CURRENT),
        (None, record(7), State.MISSING),
        (None, None, State.MISSING),
    ],
)
def test_bronze_and_silver_are_as_far_as_the_topic(
    offset: int | None, newest: Record | None, state: State
) -> None:
    file = None if offset is None else record(offset)
    row = None if offset is None else silver(offset)
    for station in (
        bronze_station(file, newest, why=lambda: "it lags"),
        silver_station(row, newest, why=lambda: "it lags"),
    ):
        behind = state is State.OLDER or (offset is None and newest is not None)
        assert (station.state, station.why) == (state, "it lags" if behind else None)


def test_bronze_says_that_a_record_was_removed_after_the_retention() -> None:
    begins = Beginning({0: 8}, "2026")
    place = "it begins at offset 8 of partition 0: older files were removed (lake.retention)"
    for newest, state, why in (
        (record(7), State.REMOVED, None),
        (record(8), State.MISSING, "it lags"),
        (None, State.MISSING, None),
    ):
        station = bronze_station(None, newest, why=lambda: "it lags", beginning=begins)
        assert (station.state, station.place, station.why) == (state, place, why)
    assert bronze_station(record(8), record(8), why=str, beginning=begins).state is State.CURRENT
    gone = bronze_station(None, record(7), why=str, beginning=begins)
    found = RowTrace("sale", {"salesid": 1}, (Station("topic", State.CURRENT), gone))
    assert found.stopped is None
    assert place in as_text(trace_text(found), width=200)


def test_silver_says_commit_and_file_and_that_a_row_was_deleted() -> None:
    station = silver_station(silver(deleted="true"), record(__deleted="true"), why=lambda: "?")
    assert station.state is State.DELETED
    assert station.place == "commit 20261125040001000 in a.parquet, offset 7"
    assert station.at == datetime(2026, 11, 25, 4, 0, 1, tzinfo=UTC)
    assert station.row == ROW


def test_why_silver_has_no_such_row() -> None:
    letter = DeadLetter(TOPIC, 0, 7, NOW, NOW, "a digit too many", False, None, None, {})
    for tables, letters, said in (
        ([table(error="no schema 4")], [], "the table is running: no schema 4"),
        ([table(records_behind=1200)], [], "1,200 records of its topic are not in it yet"),
        (
            [table()],
            [letter],
            "put aside: a digit too many (labctl topics deadletters show sale 0:7)",
        ),
        ([table()], "MinIO does not answer", "labctl verify sale compares it"),
        ([], [], "the Spark application does not answer"),
    ):
        assert said in why_not_in_silver("sale", record(), tables, letters)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "a transform of its file leaves it out"),
        (
            {"transforms": "unwrap", "transforms.unwrap.type": "io.debezium.transforms.X"},
            "a transform of its file leaves it out",
        ),
        (
            {
                "transforms": "unwrap, own",
                "transforms.own.type": "io.debezium.transforms.Filter",
                "skipped.operations": "u",
            },
            "its file has the transform own (io.debezium.transforms.Filter) and "
            "skipped.operations=u, which may leave it out",
        ),
    ],
)
def test_what_in_a_connectors_file_may_leave_a_row_out(config: dict[str, str], said: str) -> None:
    assert dropped_by(config) == said


@pytest.mark.parametrize(
    ("field", "wanted", "is_it"),
    [
        (Decimal("99.9000"), "99.90", True),
        (Decimal("99.9000"), "99.91", False),
        (200, "200", True),
        (0.5, "0.50", True),
        (True, "1", False),
        (True, "True", True),
        ("99.9000", "99.90", False),
        (7, "seven", False),
        (Decimal("NaN"), "NaN", True),
    ],
)
def test_a_number_is_found_however_it_is_written(field: Any, wanted: str, is_it: bool) -> None:
    assert record(x=field).matches({"x": wanted}) is is_it


def test_a_row_that_was_never_there_did_not_arrive() -> None:
    missing = tuple(Station(name, State.MISSING) for name in ("source", "topic", "bronze"))
    found = RowTrace("tickit.sale", {"salesid": 1}, (*missing, Station("silver", State.MISSING)))
    assert found.nowhere
    assert as_text(trace_text(found)).rstrip().endswith("No station knows such a row.")
    deleted = RowTrace("tickit.sale", {}, (*missing, Station("silver", State.DELETED)))
    assert not deleted.nowhere
    assert as_text(trace_text(deleted)).rstrip().endswith("Deleted at the source, and everywhere.")


def test_why_bronze_has_no_such_record() -> None:
    stopped = BronzeStatus("spark", "running", stopped_topics={TOPIC: "its folder is a file"})
    for bronze, said in (
        (stopped, "its folder is a file"),
        (BronzeStatus("connect", None), "the sink connector has not closed its file yet"),
        (BronzeStatus("spark", "running"), "its file is not written yet"),
        (None, "the Spark application does not answer"),
    ):
        assert said in why_not_in_bronze(PipelineStatus([], [], bronze), TOPIC)


def test_the_command_shows_what_differs_and_where_the_row_stopped() -> None:
    stations = (
        Station("source", State.CURRENT, "mysql, ecomm.sale", row=ROW),
        topic_station(record(commission=Decimal("23.00")), ROW, why=lambda: "it lags"),
    )
    said = as_text(trace_text(RowTrace("tickit.sale", {"salesid": 200}, stations)))
    assert "topic    older    2026-11-25 04:00:00.123  tickit.ecomm.sale, partition 0" in said
    assert "topic: commission=23.00" in said
    assert said.rstrip().endswith("The row stopped before topic: it lags.")


@pytest.mark.parametrize(
    ("declared", "given", "asked"),
    [
        (Declared("integer", "integer"), "200", 200),
        (Declared("numeric", "numeric(8,2)", 8, 2), "24", 24),
        # Without a declared size every digit is kept, as text.
        (Declared("numeric", "numeric"), "24", "24"),
        (Declared("text", "text"), "00123", "00123"),
        (Declared("text", "text"), "Ann", "Ann"),
        (Declared("integer", "integer"), 200, 200),
        # The database itself says what is wrong with it.
        (Declared("integer", "integer"), "--5", "--5"),
    ],
)
def test_a_number_is_asked_for_as_its_column_has_it(
    declared: Declared, given: object, asked: object
) -> None:
    column = SourceColumn("c", declared, False, rule_for(POSTGRES, declared, "c"))
    assert typed_as(column, given) == asked
