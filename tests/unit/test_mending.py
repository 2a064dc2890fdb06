"""Tasks of Kafka Connect that failed of something that passes are started again, no others."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from labctl.runtimes.native.task_restarter import Mender, is_passing
from labctl.services.connect_service import PASSING_ERRORS
from labctl.sources import ENGINES

OF_SOURCES = [e for engine in ENGINES.values() for e in engine.connector.passing_errors]

AWAY = (
    "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler\n"
    "\tat org.apache.kafka.connect.X.y(X.java:1)\n"
    "Caused by: io.apicurio.registry.rest.client.exception.RestClientException\n\tat Z\n"
)
PURGED = "java.lang.RuntimeException: binlog purged\n\tat Y\n"


class Connect:
    """What Kafka Connect's REST interface would say of one task, and what it was asked to do."""

    def __init__(self) -> None:
        self.trace: str | None = None
        self.restarts: list[str] = []
        connect = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                task: dict[str, Any] = {"id": 0, "state": "RUNNING"}
                if connect.trace:
                    task |= {"state": "FAILED", "trace": connect.trace}
                status = {"connector": {"state": "RUNNING"}, "tasks": [task]}
                self._answer({"mysql": {"status": status}})

            def do_POST(self) -> None:
                connect.restarts.append(self.path)
                self._answer({})

            def _answer(self, body: object) -> None:
                allowed = self.headers["Authorization"] == "Basic bGFiY3RsOmE9Yg=="
                self.send_response(200 if allowed else 401)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *_: Any) -> None:
                """Nobody reads it."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)


@pytest.fixture
def connect() -> Iterator[Connect]:
    connect = Connect()
    thread = threading.Thread(target=connect.server.serve_forever)
    thread.start()
    yield connect
    connect.server.shutdown()
    thread.join()
    connect.server.server_close()


@pytest.fixture
def mender(connect: Connect, tmp_path: Path) -> Mender:
    port = connect.server.server_address[1]
    (tmp_path / "worker.properties").write_text(f"a.b=c=d\nlisteners=http://127.0.0.1:{port}\n")
    (tmp_path / "rest-users").write_text("labctl=a=b\n")
    (tmp_path / PASSING_ERRORS).write_text("\n".join(OF_SOURCES))
    return Mender(tmp_path, PASSING_ERRORS)


def test_only_what_passes_is_started_again(connect: Connect, mender: Mender) -> None:
    assert mender.look() == []
    connect.trace = PURGED
    assert mender.look() == []
    connect.trace = AWAY
    assert mender.look() == ["mysql"]
    assert connect.restarts == ["/connectors/mysql/restart?includeTasks=true&onlyFailed=true"]


def test_what_fails_again_waits_longer_each_time(
    connect: Connect, mender: Mender, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    connect.trace = AWAY
    times = []
    for second in range(130):
        now = 1000.0 + second
        times += [second] * len(mender.look())
    assert times == [0, 5, 15, 35, 75]


def test_a_connect_that_was_never_started_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="worker"):
        Mender(tmp_path, PASSING_ERRORS).look()


def test_a_cause_counts_wherever_it_is_in_the_trace() -> None:
    assert is_passing(AWAY, [])
    assert not is_passing(PURGED, [])
    assert not is_passing("", [])


POSTGRES = "org.postgresql.util.PSQLException: FATAL: "
HISTORY = "Task io.debezium.storage.kafka.history.KafkaSchemaHistory$$Lambda rejected from …"
SQL_SERVER = "com.microsoft.sqlserver.jdbc.SQLServerException: "


@pytest.mark.parametrize(
    ("cause", "passing"),
    [
        (f"{POSTGRES}the database system is starting up", True),
        (f"{POSTGRES}the database system is in recovery mode", True),
        (f"{POSTGRES}the database system is shutting down", True),
        (f'{POSTGRES}password authentication failed for user "cdc"', False),
        (f"java.util.concurrent.RejectedExecutionException: {HISTORY}", True),
        ("java.util.concurrent.RejectedExecutionException: Task org.example.Mine", False),
        (f"{SQL_SERVER}SQL Server is not ready to accept new client connections: …", True),
        (f"{SQL_SERVER}The TCP/IP connection to the host 127.0.0.1, port 1433 has failed.", True),
        (f"{SQL_SERVER}SQL Server did not return a response. The connection has been …", True),
        (f"{SQL_SERVER}The connection is closed.", True),
        (f"{SQL_SERVER}Login failed for user 'cdc'.", False),
    ],
)
def test_what_passes_by_itself_is_told_by_its_cause(cause: str, passing: bool) -> None:
    assert is_passing(f"Caused by: {cause}\n\tat Y\n", OF_SOURCES) is passing
