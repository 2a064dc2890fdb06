"""`status` says whatever keeps a change from silver or bronze, and why."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from labctl.cli.status import status_text
from labctl.json_text import to_json
from labctl.lab.lab import Lab
from labctl.lab.observe import pipeline_state
from labctl.lab.observe.bronze_retention import BronzeRetention
from labctl.lab.observe.pipeline_state import PipelineStatus, read_pipeline
from labctl.lab.observe.service_status import LabStatus, ServiceStatus
from labctl.overview import status_data
from labctl.sources.log_slots import Slot
from tests.unit.rendering import as_text

CONNECTOR = "source_connector_mysql"
TOPIC = "tickit.ecomm.sale"
RUNNING = {"connector": {"state": "RUNNING"}, "tasks": [{"id": 0, "state": "RUNNING"}]}
TRACE = "org.apache.X: Exiting WorkerSourceTask\n\tat Y\nCaused by: java.Z: binlog purged\n\tat W\n"


def table(**facts: Any) -> dict[str, Any]:
    return {
        "state": "running",
        "table_type": "MERGE_ON_READ",
        "last_commit_at": "2026-11-23T09:30:00.120000+00:00",
        "offsets": {"0": 7},
        "error": None,
        **facts,
    }


def bronze(**facts: Any) -> dict[str, Any]:
    sound = {"state": "running", "error": None, "stopped_topics": {}, "offsets": {TOPIC: {"0": 4}}}
    return sound | facts


def ask(
    monkeypatch: pytest.MonkeyPatch,
    *,
    connectors: dict[str, Any] | None = None,
    sale: dict[str, Any] | None = None,
    bronze_said: dict[str, Any] | None = None,
    ends: dict[int, int] | None = None,
    commits: dict[str, str | None] | None = None,
    seeded: dict[str, float] | None = None,
    source: dict[str, str] | None = None,
    gold: dict[str, Any] | None = None,
    slots: list[Slot] | None = None,
    retention: dict[str, Any] | None = None,
) -> PipelineStatus:
    """The pipeline of a lab with one table, of which Connect and the application say this."""
    said = {"tables": {"sale": sale or table()}, "bronze": bronze_said or bronze()}
    said |= {"gold": gold} if gold else {}
    said |= {"retention": retention} if retention else {}
    statuses = {CONNECTOR: RUNNING} if connectors is None else connectors
    monkeypatch.setattr(pipeline_state, "silver_status", lambda _lab: said)
    monkeypatch.setattr(pipeline_state, "_connector_statuses", lambda _lab: statuses)
    instants = {"sale": "20261123"} if commits is None else commits
    monkeypatch.setattr(pipeline_state, "_commits", lambda *_: instants)
    monkeypatch.setattr(pipeline_state, "read_slots", lambda _lab: slots or [])
    monkeypatch.setattr(pipeline_state, "source_problems", lambda *_: source or {})
    monkeypatch.setattr(pipeline_state, "restored_sources", lambda *_: {})
    monkeypatch.setattr(
        pipeline_state, "end_offsets", lambda *_: {TOPIC: {0: 7} if ends is None else ends}
    )
    lab = SimpleNamespace(
        tables=[SimpleNamespace(name="sale", topic=TOPIC, source="mysql")],
        config=SimpleNamespace(sources={"mysql": SimpleNamespace(connector=CONNECTOR)}),
        state=SimpleNamespace(load=lambda: {"seeded": seeded or {}}),
        endpoints=SimpleNamespace(kafka=None, sources={}),
    )
    return read_pipeline(cast(Lab, lab))


def lab_status(state: str = "ready", detail: str = "Kafka 4.1.1") -> LabStatus:
    kafka = ServiceStatus("kafka", "Kafka", state, detail, 1, 0.0, 0, 0, None, "", {})
    return LabStatus("tickit", "native", "native", True, state == "ready", [kafka])


def test_a_pipeline_that_flows_has_no_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask(monkeypatch)
    assert found.problems() == []
    assert found.tables[0].records_behind == 0
    assert found.bronze is not None
    assert found.bronze.records_behind == 3
    assert status_data(lab_status(), found)["ready"] is True


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (
            {"sale": table(state="failed", error="record 7 does not fit")},
            "table sale is failed: record 7 does not fit",
        ),
        (
            {"sale": table(state="retrying", error="the registry does not answer")},
            "table sale is retrying: the registry does not answer",
        ),
        (
            {"sale": table(maintenance_error="no space left")},
            "table sale is not compacted, and grows: no space left; it is tried again until it "
            "succeeds (labctl logs silver)",
        ),
        (
            {"bronze_said": bronze(state="retrying", error="no such bucket")},
            "bronze is retrying: no such bucket",
        ),
        (
            {"bronze_said": bronze(stopped_topics={TOPIC: "offset 9 is not Avro"})},
            f"bronze has stopped for {TOPIC}: offset 9 is not Avro",
        ),
        (
            {"gold": {"g.v": {"state": "failed", "error": "no", "last_commit_at": None}}},
            "g.v, a view kept as a table, is failed: no",
        ),
        ({"connectors": {}}, f"connector {CONNECTOR} is not applied"),
        (
            {"connectors": {CONNECTOR: RUNNING | {"connector": {"state": "PAUSED"}}}},
            f"connector {CONNECTOR} is PAUSED",
        ),
        (
            {"connectors": {CONNECTOR: RUNNING | {"tasks": [{"state": "FAILED", "trace": TRACE}]}}},
            f"connector {CONNECTOR} is FAILED: java.Z: binlog purged; "
            f"labctl connectors restart {CONNECTOR}",
        ),
        (
            {"connectors": {CONNECTOR: RUNNING | {"tasks": []}}},
            f"connector {CONNECTOR} is running without a task",
        ),
    ],
)
def test_what_holds_changes_up_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, said: dict[str, Any], problem: str
) -> None:
    found = ask(monkeypatch, **said)
    assert found.problems() == [problem]
    data = status_data(lab_status(), found)
    assert (data["ready"], data["problems"]) == (False, [problem])
    assert problem in as_text(status_text(data))


def test_the_log_kept_for_a_connector_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Slot("s", CONNECTOR, active=True, retained_bytes=70 * 1024**2, left_bytes=0, lost=False)
    found = ask(monkeypatch, slots=[kept, replace(kept, name="old", connector=None)])
    assert found.connectors[0].retained_bytes == 70 * 1024**2
    assert found.problems() == []  # That it is scarce is for `doctor` to say.
    heading, line, *_ = (
        as_text(status_text(status_data(lab_status(), found))).split("log kept")[1].splitlines()
    )
    assert heading.strip() == ""
    assert line.split()[-2:] == ["70", "MiB"]


def test_a_slot_that_was_given_up_is_a_problem_though_its_connector_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lost = Slot("s", CONNECTOR, active=False, retained_bytes=0, left_bytes=None, lost=True)
    (problem,) = ask(monkeypatch, slots=[lost]).problems()
    assert f"{CONNECTOR} has missed changes" in problem
    assert problem.endswith(f"labctl connectors snapshot {CONNECTOR}")


def test_before_seeding_no_connector_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    new = table(last_commit_at=None)
    assert ask(monkeypatch, connectors={}, sale=new).problems() == []


def test_after_seeding_every_connector_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    new = table(last_commit_at=None)
    found = ask(monkeypatch, connectors={}, sale=new, seeded={"scale": 1.0})
    assert found.problems() == [f"connector {CONNECTOR} is not applied"]


def test_a_topic_that_a_table_was_written_from_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    (problem,) = ask(monkeypatch, ends={}).problems()
    assert f"Kafka has lost {TOPIC}," in problem
    assert "labctl connectors apply --start-over" in problem
    assert ask(monkeypatch, ends={}, commits={"sale": None}).problems() == []


def test_the_last_commit_is_told_by_its_age(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(last_commit_at: str | None) -> str:
        found = ask(monkeypatch, sale=table(last_commit_at=last_commit_at))
        return as_text(status_text(status_data(lab_status(), found))).split("last commit")[1]

    monkeypatch.setattr(time, "time", lambda: 1_000_060.5)
    assert "60 s ago" in shown("1970-01-12T13:46:40.120000+00:00")
    assert "none yet" in shown(None)


def test_lag_and_dead_letters_are_told_per_table(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask(monkeypatch, sale=table(dead_letters=2), ends={0: 10, 1: 5})
    assert (found.tables[0].records_behind, found.tables[0].dead_letters) == (8, 2)


def test_a_refused_rebuild_is_told_and_its_table_is_no_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = ask(monkeypatch, sale=table(rebuild_refused="there is nothing in bronze"))
    assert found.problems() == []
    text = as_text(status_text(status_data(lab_status(), found)))
    assert "sale was not rebuilt: there is nothing in bronze" in text


def test_a_service_that_is_not_usable_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    data = status_data(lab_status("restarting", "ConnectionError: refused"), ask(monkeypatch))
    assert data["problems"] == ["service kafka is restarting: ConnectionError: refused"]


def test_what_keeps_changes_from_some_tables_is_told_of_these(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert ask(monkeypatch).halts() == []
    failed = ask(
        monkeypatch,
        sale=table(state="failed", error="record 7 does not fit"),
        bronze_said=bronze(stopped_topics={TOPIC: "no schema"}),
        connectors={CONNECTOR: RUNNING | {"connector": {"state": "PAUSED"}}},
    )
    said = "table sale is failed: record 7 does not fit"
    halted = f"bronze has stopped for {TOPIC}: no schema"
    paused = f"connector {CONNECTOR} is PAUSED"
    assert failed.halts({"sale"}, {CONNECTOR}) == [paused, said, halted]
    assert failed.halts({"listing"}, {"other"}) == [halted], "they were not asked for"
    assert set(failed.halts()) <= set(failed.problems())


def test_files_that_the_lab_does_not_run_by_are_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "spark/properties/a.properties: a runs by other properties: labctl up"
    data = status_data(lab_status(), ask(monkeypatch), [sentence])
    assert (data["ready"], data["differs"]) == (True, [sentence])
    assert as_text(status_text(data, lambda text: text.upper())).splitlines()[:2] == [
        "not what the files say:",
        f"  {sentence.upper()}",
    ]


def test_why_a_service_died_leaves_the_table_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    cause = "the kernel killed it for lack of memory"
    connect = ServiceStatus(
        "connect", "Connect", "ready", "4.1.1", 4711, 1e9, 2**29, 3, time.time() - 50, cause, {}
    )
    status = LabStatus("tickit", "native", "native", running=True, ready=True, services=[connect])
    lines = as_text(status_text(status_data(status, ask(monkeypatch))), width=80).splitlines()
    assert lines[1].split()[:3] == ["connect", "ready", "4711"]
    assert lines[1].split()[-2:] == ["3", "4.1.1"]
    assert lines[2] == f"connect died 50 s ago: {cause}"


def test_a_long_error_takes_one_line_as_text_and_is_whole_in_json(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    error = "first line\n" + "x" * 5000
    data = status_data(lab_status(), ask(monkeypatch, sale=table(state="failed", error=error)))
    assert data["tables"][0].error == error
    text = as_text(status_text(data))
    assert max(map(len, text.splitlines())) < 550
    assert "table sale is failed: first line xxx" in text


def test_status_says_what_was_removed_from_bronze(monkeypatch: pytest.MonkeyPatch) -> None:
    since = "2026-11-01T00:00:00.000+00:00"
    said = {
        "seconds": 86_400,
        "files": {TOPIC: 3, "retired": 2},
        "bytes": {TOPIC: 2**20, "retired": 2**20},
        "begins": {TOPIC: {"offsets": {"0": 30}, "since": since}},
        "error": None,
    }
    found = ask(monkeypatch, retention=said)
    assert found.bronze is not None
    assert found.bronze.retention == BronzeRetention(86_400, 5, 2**21, {TOPIC: since}, None)
    assert found.problems() == []
    data = status_data(lab_status(), found)
    assert '"since": {' in to_json(data)
    text = as_text(status_text(data), width=300)
    assert f"5 old files removed (2.0 MiB), holds all that was written since {since}" in text

    failed = ask(monkeypatch, retention=said | {"error": "access denied"})
    assert failed.problems() == ["old bronze files stay until the next try: access denied"]
    assert failed.halts() == []
