"""Connectors that run and write nothing, positions that are gone, slots that keep the log."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from labctl.engines.postgres import postgres_slots
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.conflicts import check_apart
from labctl.kafkaconnect.connector_files import connector_files
from labctl.kafkaconnect.traces import cause, needs_snapshot
from labctl.lab.connectors import connector_slots, connector_states
from labctl.lab.connectors import silent_connectors as silent_module
from labctl.lab.connectors.connector_slots import drop_slot, read_slots, slot_of
from labctl.lab.connectors.connector_states import delete_connector, wait_running
from labctl.lab.connectors.silent_connectors import silent_connectors
from labctl.lab.lab import Lab
from labctl.sources.refusals import statement_failed

FILES = connector_files(Path(__file__).parents[2] / "connectors")
POSTGRES = next(file for file in FILES if file.name.endswith("postgres_kafka_avro_tickit"))
MYSQL = next(file for file in FILES if "mysql" in file.name)
GONE = (
    "org.apache.kafka.connect.errors.ConnectException: stopped\n"
    "Caused by: io.debezium.DebeziumException: The connector is trying to read change stream "
    "starting at X, but this is no longer available on the server. Reconfigure the connector to "
    "use a snapshot mode when needed.\n"
)


class Database:
    """Answers statements from a table of answers, by what they contain."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.said: list[str] = []

    def qualified(self, ref: object) -> str:
        return str(ref)

    def execute(self, sql: str, parameters: object = ()) -> list[Any]:
        del parameters
        self.said.append(sql)
        for part, answer in self.answers.items():
            if part in sql:
                if isinstance(answer, Exception):
                    raise answer
                return list(answer)
        return []


def lab_of(*, rows: object) -> Lab:
    table = SimpleNamespace(source="mysql", topic="t", db_schema="ecomm", source_name="sale")
    sources = {
        "mysql": SimpleNamespace(connector="source_mysql"),
        "postgres": SimpleNamespace(connector=POSTGRES.name),
    }
    return cast(
        Lab,
        SimpleNamespace(
            tables=[table],
            config=SimpleNamespace(sources=sources),
            endpoints=SimpleNamespace(
                sources={"postgres": SimpleNamespace(engine="postgres")}, connect=None
            ),
            rows=rows,
        ),
    )


@pytest.mark.parametrize(
    ("rows", "ends", "running", "silent"),
    [
        ([(1,)], {"t": {}}, ["source_mysql"], True),
        ([(1,)], {"t": {0: 0}}, ["source_mysql"], True),
        ([(1,)], {"t": {0: 5}}, ["source_mysql"], False),
        ([], {"t": {}}, ["source_mysql"], False),
        (LabError("no such table"), {"t": {}}, ["source_mysql"], False),
        ([(1,)], {"t": {}}, [], False),
        ([(1,)], None, ["source_mysql"], False),
    ],
)
def test_a_connector_that_runs_and_has_written_nothing(
    monkeypatch: pytest.MonkeyPatch,
    rows: Any,
    ends: dict[str, dict[int, int]] | None,
    running: list[str],
    silent: bool,
) -> None:
    database = Database(EXISTS=rows)
    monkeypatch.setattr(silent_module, "connect", lambda *_: nullcontext(database))
    found = silent_connectors(lab_of(rows=rows), running, ends)
    assert list(found) == (["source_mysql"] if silent else [])
    assert all("ecomm.sale has rows" in why for why in found.values())


def test_connectors_that_share_what_is_one_connectors_own() -> None:
    check_apart(FILES)
    for file, key in (
        (POSTGRES, "slot.name"),
        (MYSQL, "database.server.id"),
        (MYSQL, "schema.history.internal.kafka.topic"),
    ):
        others = {"slot.name", "database.server.id", "schema.history.internal.kafka.topic"} - {key}
        config = {k: v if k not in others else f"{v}_2" for k, v in file.config.items()}
        with pytest.raises(LabError, match=f"{key}: .* is {file.name}'s already"):
            check_apart([*FILES, replace(file, name="second", config=config)])


def test_a_position_that_is_gone_is_said_with_the_command() -> None:
    assert needs_snapshot(GONE)
    assert "labctl connectors snapshot source_x" in cause(GONE, "source_x")
    history = "io.debezium.DebeziumException: The db history topic is missing. You may attempt"
    large = (
        "a.B: callback\nCaused by: a.RecordTooLargeException: The message is 9000416 bytes "
        "when serialized which is larger than 8388608, which is the value of max.request.size"
    )
    unreadable = (
        "a.B: stopped\nCaused by: io.debezium.text.ParsingException: DDL statement couldn't be "
        "parsed. Please open a GitHub issue at https://github.com/debezium/dbz/issues with the "
        "statement 'ALTER DATABASE\n CHARACTER SET latin1'\nmismatched input\nCaused by: c.D: x"
    )
    cut = (
        "Caused by: io.debezium.DebeziumException: Error processing row in m1, internal schema "
        "size 3, but row size 1 , restart connector with schema recovery mode."
    )
    for trace, words in (
        (history, "schema history"),
        (large, "9,000,416 bytes"),
        (unreadable, "ALTER DATABASE CHARACTER SET latin1"),
        (cut, "a row of m1 has 1 columns in the log, and the table 3"),
    ):
        assert needs_snapshot(trace)
        assert words in cause(trace, "source_x")
        assert "labctl connectors snapshot source_x" in cause(trace, "source_x")
    assert cause("a.B: stopped\n\tat X\nCaused by: c.D: no disk\n", "x") == "c.D: no disk"
    assert cause("a.B: stopped\n\tat X", "x") == "a.B: stopped"
    status = {"connector": {"state": "RUNNING"}, "tasks": [{"state": "FAILED", "trace": GONE}]}
    client = SimpleNamespace(status=lambda _name: status)
    with pytest.raises(LabError) as raised:
        wait_running(cast(Any, client), ["source_x"])
    assert raised.value.hint == "labctl connectors snapshot source_x"


def test_a_restarted_connectors_old_failure_is_not_believed() -> None:
    task = {"state": "FAILED", "trace": "a.B: the registry was away"}
    told = [task, task, {"state": "RUNNING"}]

    def status(_name: str) -> dict[str, Any]:
        return {"connector": {"state": "RUNNING"}, "tasks": [told.pop(0)]}

    wait_running(cast(Any, SimpleNamespace(status=status)), ["source_x"], restarted=True)
    assert told == []


def test_only_postgres_has_a_slot() -> None:
    found = {file.name: slot_of(file) for file in FILES}
    assert {name for name, slot in found.items() if slot} == {
        POSTGRES.name,
        "source_connector_moma_postgres_kafka",
    }
    assert found[POSTGRES.name] == "tickit_debezium"


MIB = 1024**2


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("tickit_debezium", True, 5 * MIB, 4000 * MIB, False), None),
        (("tickit_debezium", True, 5 * MIB, None, False), None),
        (("tickit_debezium", False, 3000 * MIB, 1000 * MIB, False), "given up after 1000 MiB more"),
        (("tickit_debezium", False, 0, None, True), "has missed changes"),
        (("old", False, 70 * MIB, 4000 * MIB, False), "keeps 70 MiB of the log, and no connector"),
    ],
)
def test_what_a_slot_keeps(
    monkeypatch: pytest.MonkeyPatch, row: tuple[object, ...], said: str | None
) -> None:
    monkeypatch.setattr(
        connector_slots,
        "connect_server",
        lambda *_: nullcontext(Database(pg_replication_slots=[row])),
    )
    monkeypatch.setattr(connector_slots, "source_files", lambda _lab: FILES)
    (slot,) = read_slots(lab_of(rows=None))
    danger = slot.danger()
    assert (danger is None) == (said is None)
    assert said is None or (danger is not None and said in danger[0])
    assert f"pg_drop_replication_slot('{slot.name}')" in slot.drop_command


def test_a_slot_in_use_is_not_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_slots, "LEAVE_SECONDS", 0.0)
    for rows, dropped in (([(False,)], True), ([], False)):
        database = Database(active=rows)
        monkeypatch.setattr(
            connector_slots, "connect_server", lambda *_, d=database: nullcontext(d)
        )
        assert drop_slot(lab_of(rows=None), "postgres", "s") is dropped
        assert any("pg_drop" in sql for sql in database.said) is dropped
    monkeypatch.setattr(
        connector_slots, "connect_server", lambda *_: nullcontext(Database(active=[(True,)]))
    )
    with pytest.raises(LabError, match="still read"):
        drop_slot(lab_of(rows=None), "postgres", "s")


def test_a_deleted_connector_leaves_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    client = SimpleNamespace(
        tells_offsets=True,
        forget_offsets=lambda name: done.append(f"forget {name}"),
        delete=lambda name: done.append(f"delete {name}"),
    )
    monkeypatch.setattr(connector_states, "connect_client", lambda _endpoint: client)
    monkeypatch.setattr(connector_states, "source_files", lambda _lab: FILES)

    def drop(_lab: Lab, source: str, slot: str) -> bool:
        done.append(f"drop {slot} of {source}")
        return True

    monkeypatch.setattr(connector_states, "drop_slot", drop)
    delete_connector(lab_of(rows=None), POSTGRES.name)
    expected = [
        f"forget {POSTGRES.name}",
        f"delete {POSTGRES.name}",
        "drop tickit_debezium of postgres",
    ]
    assert done == expected
    delete_connector(lab_of(rows=None), "source_connector_mysql_kafka_avro_tickit")
    assert done == [*expected, "delete source_connector_mysql_kafka_avro_tickit"]


@pytest.mark.parametrize(
    "reason",
    [
        "canceling statement due to lock timeout",
        "Lock wait timeout exceeded; try restarting transaction",
        "Lock request time out period exceeded.",
    ],
)
def test_a_statement_that_waits_for_a_lock_says_so(reason: str) -> None:
    error = statement_failed("MySQL", "INSERT INTO x", reason)
    assert "waiting for a lock" in error.what
    assert error.exit_code is ExitCode.NOT_READY
