"""The pipeline between two whole looks: what a quick one changes, and what is shown first."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from labctl.lab.observe.pipeline_state import ConnectorStatus, SilverTableStatus
from labctl.lab.observe.service_status import ServiceStatus
from labctl.overview import DOWN, Tone
from labctl.runtimes.runtime_protocols import ProcessState
from labctl.tables import LabTable
from labctl.ui.pipeline_boxes import columns_of, table_rows
from labctl.ui.pipeline_view import PipelineView, QuickLook, as_now, rates

KAFKA = ServiceStatus("kafka", "Apache Kafka", "ready", "Kafka 4", 7, 1.0, 2**28, 0, None, "", {})
SALE = SilverTableStatus("tickit.sale", "running", "MERGE_ON_READ", None, 5, 0, None)
TOPIC = "tickit.ecomm.sale"
TOPICS = {"tickit.sale": TOPIC}
UP = ProcessState("RUNNING", 7, 1.0)


def data(**changed: Any) -> dict[str, Any]:
    sound = {"running": True, "ready": True, "services": [KAFKA], "tables": [SALE], "problems": []}
    return {**sound, **changed}


def look(
    state: ProcessState | None = UP, *, end: int | None = None, ingested: int | None = None
) -> QuickLook:
    told = {"state": "running", "error": None, "last_commit_at": None, "offsets": {"0": ingested}}
    tables = {} if ingested is None else {"tickit.sale": told}
    return QuickLook(
        9.0,
        {} if state is None else {"kafka": state},
        {"tables": tables},
        {} if end is None else {TOPIC: end},
    )


def view(**changed: Any) -> PipelineView:
    table = SimpleNamespace(name="tickit.sale", source="mysql", topic=TOPIC)
    other = SimpleNamespace(name="tickit.date", source="mysql", topic="tickit.ecomm.date")
    return PipelineView(cast("tuple[LabTable, ...]", (table, other)), data(**changed))


@pytest.mark.parametrize(
    "now",
    [None, ProcessState("EXITED", None, None), ProcessState("BACKOFF", None, None),
     ProcessState("STARTING", 8, 2.0)],
)  # fmt: skip
def test_another_process_than_the_one_that_answered_is_no_answer(now: ProcessState | None) -> None:
    seen = as_now(data(), look(now), TOPICS)
    (kafka,) = seen["services"]
    assert kafka.state == DOWN
    assert seen["problems"] == ["service kafka is down"]
    assert not seen["ready"]


def test_the_same_process_stays_as_it_answered() -> None:
    assert as_now(data(), look(), TOPICS) == data()


def test_a_service_that_was_stopped_before_is_no_news() -> None:
    stopped = replace(KAFKA, state="stopped", pid=None)
    seen = as_now(data(services=[stopped]), look(None), TOPICS)
    assert seen["services"] == [stopped]
    assert seen["problems"] == []


@pytest.mark.parametrize("state", ["failed", "restarting", "starting"])
def test_a_service_that_had_no_process_keeps_the_reason(state: str) -> None:
    ended = replace(KAFKA, state=state, detail="its heap is full", pid=None)
    said = ["service kafka is failed: its heap is full"]
    seen = as_now(data(services=[ended], problems=said), look(None), TOPICS)
    assert seen["services"] == [ended]
    assert seen["problems"] == said


def test_what_a_table_lacks_is_counted_from_the_last_quick_look() -> None:
    (table,) = as_now(data(), look(end=12, ingested=9), TOPICS)["tables"]
    assert table.records_behind == 3
    (table,) = as_now(data(), look(end=8, ingested=9), TOPICS)["tables"]
    assert table.records_behind == 0


def test_a_part_that_does_not_answer_leaves_what_was_known() -> None:
    (table,) = as_now(data(), look(), TOPICS)["tables"]
    assert table == SALE


def test_rates_are_of_what_both_looks_know() -> None:
    assert rates({"a": 1, "b": 5}, {"a": 7, "b": 4, "c": 3}, 3.0) == {"a": 2.0, "b": 0.0}
    assert rates({"a": 1}, {"a": 7}, 0.0) == {}


def test_tables_with_a_problem_come_first_and_say_it() -> None:
    failed = replace(SALE, name="tickit.sale", state="failed", error="its words")
    fine = replace(SALE, name="tickit.date")
    rows = table_rows(view(tables=[fine, failed]))
    assert [row.name for row in rows] == ["tickit.sale", "tickit.date"]
    assert (rows[0].problem, rows[0].tone) == ("its words", Tone.BAD)


def test_tables_are_listed_also_while_the_application_does_not_answer() -> None:
    rows = table_rows(view(tables=[]))
    assert [(row.name, row.state) for row in rows] == [
        ("tickit.date", "not known"),
        ("tickit.sale", "not known"),
    ]


def test_a_connector_is_as_bad_as_its_worst_task() -> None:
    failed = ConnectorStatus("orders", "RUNNING", ["RUNNING", "FAILED"], "binlog purged")
    boxes = {
        box.name: box for column in columns_of(view(connectors=[failed])) for box in column.boxes
    }
    assert (boxes["orders"].tone, boxes["orders"].state) == (Tone.BAD, "failed")
    assert boxes["orders"].error == "binlog purged"
    idle = replace(failed, tasks=[], error=None)
    boxes = {
        box.name: box for column in columns_of(view(connectors=[idle])) for box in column.boxes
    }
    assert boxes["orders"].tone is Tone.BAD
    paused = replace(failed, tasks=["PAUSED"], error=None)
    boxes = {
        box.name: box for column in columns_of(view(connectors=[paused])) for box in column.boxes
    }
    assert boxes["orders"].tone is Tone.BAD


def test_no_service_is_left_out_also_one_of_the_users_own() -> None:
    own = replace(KAFKA, name="dashboard")
    shown = [box.name for column in columns_of(view(services=[KAFKA, own])) for box in column.boxes]
    assert {"kafka", "dashboard"} <= set(shown)
