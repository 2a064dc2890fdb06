"""True if capture has passed a place in a source's log is read from the right facts."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from labctl.engines.mysql.mysql_change_log import MySqlLog
from labctl.engines.postgres.postgres_change_log import PostgresLog
from labctl.engines.sqlserver.sqlserver_change_log import SqlServerLog
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connect_client import ConnectClient
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.lab.connectors.capture_progress import Capture
from labctl.sources import Source, TableRef
from labctl.sources.base import Row
from labctl.sources.change_log import ChangeLog
from labctl.verify import CaptureState, UnavailableError

TABLE = TableRef("s", "t")
NAME = "source_connector"
RUNNING = {"connector": {"state": "RUNNING"}, "tasks": [{"state": "RUNNING"}]}
LSN = bytes.fromhex("0000002a00000a300003")
DUMP = "Binlog Dump GTID"
SENT = "Source has sent all binlog to replica; waiting for more updates"


class Answers:
    """A source that gives rows by the first word of a statement that fits."""

    def __init__(self, engine: str, **rows: Any) -> None:
        self.engine = engine
        self._rows = rows

    def execute(self, sql: str, _parameters: Sequence[object] = ()) -> list[Row]:
        return next(list(rows) for word, rows in self._rows.items() if word in sql)

    def qualified(self, ref: TableRef) -> str:
        return str(ref)


def processes(*found: tuple[str, str]) -> list[Row]:
    return [(1, "labctl", "localhost", None, kind, 5, state, None) for kind, state in found]


def capture(
    source: Answers,
    offset: dict[str, Any] | None,
    statuses: dict[str, Any] | None = None,
    *,
    others: int = 0,
) -> Capture:
    running = {NAME: RUNNING} | {f"other_{number}": RUNNING for number in range(others)}
    client = SimpleNamespace(
        tells_offsets=True,
        statuses=lambda: running if statuses is None else statuses,
        configs=lambda: {name: {"connector.class": "MySql"} for name in running},
        offsets=lambda _name: [{"offset": offset}] if offset else [],
    )
    file = ConnectorFile(NAME, cast(Any, None), {"slot.name": "mine", "connector.class": "MySql"})
    return Capture(cast(ConnectClient, client), file, lambda: cast(Source, source))


def state(source: Answers, offset: dict[str, Any] | None) -> CaptureState:
    found = capture(source, offset)
    return found.state(found.end(TABLE))


def mysql(*dumps: tuple[str, str]) -> Answers:
    return Answers(
        "mysql",
        STATUS=[("binlog.000012", 500, "", "", "")],
        PROCESSLIST=processes(("Query", "init"), *dumps),
    )


def postgres(*received: int) -> Answers:
    return Answers(
        "postgres", pg_current_wal_lsn=[(500,)], pg_stat_replication=[(n,) for n in received]
    )


def sqlserver() -> Answers:
    return Answers("sqlserver", capture_instance=[("s_t",)], TOP=[(LSN, LSN)])


def mysql_of(executed: int | None = None) -> Source:
    """Return a MySQL that has executed all transactions of a position, or not."""
    return cast(Source, Answers("mysql", STATUS=[("binlog.000012", 500)], GTID=[(executed,)]))


def newest(lsn: bytes | None) -> Source:
    return cast(Source, Answers("sqlserver", fn_cdc_get_max_lsn=[(lsn,)]))


AT_LSN = "0000002a:00000a30:0003"


@pytest.mark.parametrize(
    ("source", "offset"),
    [
        # MySQL was killed, and its connector has not noticed: it is RUNNING and reads nothing.
        (mysql(), {"file": "binlog.000012", "pos": 400}),
        (mysql((DUMP, "Sending binlog event to replica")), {"file": "binlog.000009", "pos": 900}),
        # A first load under way: what it stored is where it began.
        (mysql(), {"snapshot": "INITIAL", "file": "binlog.000012", "pos": 500}),
        (mysql(), None),
        (postgres(), {"lsn_commit": 499, "lsn": 600}),
        (postgres(499), {"lsn_commit": 400, "lsn": 450}),
        (postgres(), {"snapshot": "INITIAL", "snapshot_completed": False, "lsn": 500}),
        (sqlserver(), None),
        (sqlserver(), {"commit_lsn": AT_LSN, "change_lsn": "0000002a:00000a30:0002"}),
        (
            sqlserver(),
            {"commit_lsn": AT_LSN, "snapshot": "INITIAL", "snapshot_completed": False},
        ),
    ],
)
def test_what_the_connector_may_not_have_read_is_waited_for(
    source: Answers, offset: dict[str, Any] | None
) -> None:
    found = state(source, offset)
    assert found.waiting_for is not None
    assert NAME in found.waiting_for
    assert not found.stuck


def test_the_newest_capture_instance_that_has_changes_says_where_the_log_ends() -> None:
    """Each has a place of its own for a change."""
    earlier, later = (bytes.fromhex(f"0000002a00000a30000{n}") for n in (2, 3))
    ends: dict[str, list[Row]] = {
        "[cdc].[new_CT]": [(LSN, earlier)],
        "[cdc].[old_CT]": [(LSN, later)],
    }

    def answer(sql: str, _parameters: object = ()) -> list[Row]:
        if "change_tables" in sql:
            assert sql.endswith("ORDER BY create_date DESC")
            return [("empty",), ("new",), ("old",)]
        return next((rows for name, rows in ends.items() if name in sql), [])

    source = SimpleNamespace(execute=answer, qualified=lambda ref: f"[{ref.schema}].[{ref.name}]")
    found = SqlServerLog(cast(Source, source)).end(TABLE)
    assert found == (AT_LSN, "0000002a:00000a30:0002")


def test_a_reader_of_the_same_server_is_not_taken_for_one_that_still_loads() -> None:
    """Nothing tells whose thread it is: of two connectors, one alone has got to the end."""
    for offset in (None, {"snapshot": "INITIAL", "file": "binlog.000012", "pos": 500}):
        one, two = mysql((DUMP, SENT)), mysql((DUMP, SENT), (DUMP, SENT))
        loading = capture(one, offset, others=1)
        assert loading.state(loading.end(TABLE)).waiting_for is not None
        both = capture(two, offset, others=1)
        assert both.state(both.end(TABLE)).waiting_for is None


@pytest.mark.parametrize(
    ("source", "offset"),
    [
        (mysql(), {"file": "binlog.000012", "pos": 500}),
        (mysql(), {"file": "binlog.000100", "pos": 4}),
        (postgres(), {"lsn_commit": 500, "lsn": 500}),
        (sqlserver(), {"commit_lsn": AT_LSN, "change_lsn": AT_LSN}),
        (sqlserver(), {"commit_lsn": AT_LSN, "change_lsn": "NULL"}),
        (sqlserver(), {"commit_lsn": AT_LSN, "snapshot": "INITIAL", "snapshot_completed": True}),
    ],
)
def test_a_stored_position_behind_the_end_proves_it(
    source: Answers, offset: dict[str, Any]
) -> None:
    assert state(source, offset) == CaptureState()


@pytest.mark.parametrize(
    ("source", "offset"),
    [
        # The stored position stops before the last commit until something follows it,
        (mysql((DUMP, SENT)), {"file": "binlog.000012", "pos": 300}),
        # and does not move while others alone write to the server.
        (postgres(500), {"lsn_commit": 300, "lsn": 300}),
    ],
)
def test_a_log_that_others_fill_is_not_waited_for(source: Answers, offset: dict[str, Any]) -> None:
    found = state(source, offset)
    assert found.waiting_for is None
    assert found.moving is not None, "until the position stands still, records may follow"


@pytest.mark.parametrize(
    ("log", "offset", "is_ahead"),
    [
        (MySqlLog(mysql_of(executed=1)), {"gtids": "u:1-60", "file": "binlog.000099"}, False),
        (MySqlLog(mysql_of(executed=0)), {"gtids": "u:1-60", "file": "binlog.000012"}, True),
        (MySqlLog(mysql_of()), {"file": "binlog.000012", "pos": 501}, True),
        (MySqlLog(mysql_of()), {"file": "binlog.000012", "pos": 500}, False),
        (PostgresLog(cast(Source, postgres()), "mine"), {"lsn_commit": 501, "lsn": 501}, True),
        (PostgresLog(cast(Source, postgres()), "mine"), {"lsn_commit": 500, "lsn": 500}, False),
        (PostgresLog(cast(Source, postgres()), "mine"), {}, False),
        (SqlServerLog(newest(LSN)), {"commit_lsn": "0000002a:00000a30:0004"}, True),
        (SqlServerLog(newest(LSN)), {"commit_lsn": AT_LSN, "change_lsn": AT_LSN}, False),
        (SqlServerLog(newest(None)), {"commit_lsn": AT_LSN}, False),
    ],
)
def test_a_log_that_ends_before_the_stored_position_is_noticed(
    log: ChangeLog, offset: dict[str, Any], *, is_ahead: bool
) -> None:
    """Its database was put back to an earlier state."""
    assert log.is_ahead(offset) == is_ahead


@pytest.mark.parametrize("odd", ["PAUSED", "FAILED"])
def test_a_connector_that_will_not_go_on_by_itself_is_named(odd: str) -> None:
    status = {"connector": {"state": "RUNNING"}, "tasks": [{"state": odd}]}
    found = capture(mysql(), None, {NAME: status}).state((12, 500))
    waits = f"connector {NAME} is {odd}"
    assert found == CaptureState(waiting_for=waits, stuck=True, failed=odd == "FAILED")
    absent = capture(mysql(), None, {}).state((12, 500))
    assert absent.waiting_for == f"connector {NAME} is not applied"


def test_a_connector_that_has_failed_is_named_with_why() -> None:
    failed = {"state": "FAILED", "trace": "org.apache.Error: no more disk\n\tat org.apache.Thread"}
    status = {"connector": {"state": "RUNNING"}, "tasks": [failed]}
    found = capture(mysql(), None, {NAME: status}).state((12, 500))
    assert found.failed
    assert found.waiting_for is not None
    assert found.waiting_for.startswith(f"connector {NAME} is FAILED: ")
    assert "no more disk" in found.waiting_for


def test_connect_that_does_not_answer_is_not_a_verdict() -> None:
    def refuse() -> dict[str, Any]:
        raise LabError("Kafka Connect does not answer", exit_code=ExitCode.NOT_READY)

    client = SimpleNamespace(tells_offsets=True, statuses=refuse)
    file = ConnectorFile(NAME, cast(Any, None), {})
    with pytest.raises(UnavailableError, match="does not answer") as raised:
        Capture(cast(ConnectClient, client), file, lambda: cast(Source, mysql())).state((1, 2))
    assert raised.value.part == "connect"


def test_before_mysql_8_2_the_statement_has_another_name() -> None:
    class Old(Answers):
        def execute(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
            if "BINARY LOG STATUS" in sql:
                raise LabError("syntax error")
            return super().execute(sql, parameters)

    old = Old("mysql", MASTER=[("binlog.000012", 500, "", "", "")])
    assert MySqlLog(cast(Source, old)).end(TABLE) == (12, 500)
