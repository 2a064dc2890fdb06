"""Queries that take too much: each ends alone, and the service answers meanwhile."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests
from botocore.exceptions import ClientError

from sqlapi.settings import Settings
from sqlapi.sources.memory import MemorySource
from sqlapi.storage import Storage
from tests.integration.sqlapi.conftest import (
    BUCKET,
    KEY,
    OUTPUT,
    SECRET,
    Athena,
    Endpoint,
    Serving,
)  # fmt: skip
from tests.integration.sqlserver.conftest import Postgres, eventually
from tests.ports import free_port

ENDLESS = "SELECT count(*) FROM many a, many b, many c WHERE a.n + b.n + c.n = -1"
IN_PYTHON = (
    "SELECT max(levenshtein_distance(rpad(CAST(n AS varchar), 999, 'x'), rpad('', 999, 'y')))"
    " FROM many"
)
"""A function that holds the interpreter of its process."""
ALL_PAIRS = "SELECT a.n, b.n FROM many a, many b"
TOO_LARGE = "SELECT array_agg(a.n) FROM many a, many b"
MEMORY = 64
"""MiB."""
SECONDS = 6.0


class Service:
    """An endpoint with small limits."""

    def __init__(self, endpoint: Endpoint, scratch: Path) -> None:
        self.endpoint = endpoint
        self.athena = Athena(endpoint.client("athena"))
        self.folder = scratch / "queries"

    def workers(self) -> list[psutil.Process]:
        """Its worker processes: each works in a folder of its own."""
        found = []
        for process in psutil.Process().children(recursive=True):
            try:
                if Path(process.cwd()).parent == self.folder:
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def busy(self, count: int = 1) -> list[psutil.Process]:
        """Workers that compute; wait for so many."""
        before = {p.pid: sum(p.cpu_times()[:2]) for p in self.workers()}
        found: list[psutil.Process] = []

        def are() -> bool:
            found[:] = [
                p for p in self.workers() if sum(p.cpu_times()[:2]) > before.get(p.pid, 0) + 0.3
            ]
            return len(found) >= count

        eventually(are, f"{count} queries run", 30)
        return found

    def files(self, id_: str) -> list[str]:
        found = self.endpoint.client("s3").list_objects_v2(Bucket=BUCKET, Prefix=f"results/{id_}")
        # Arrow leaves an object for a folder of which it has removed a file.
        return [one["Key"] for one in found.get("Contents", []) if not one["Key"].endswith("/")]

    def healthy(self) -> bool:
        return requests.get(f"{self.endpoint.url}/health", timeout=5).text == '{"status":"ok"}'


@contextmanager
def serving(
    name: str, postgres: Postgres, storage: Storage, source: MemorySource, minio: str,
    scratch: Path, **limits: Any,
) -> Iterator[Service]:  # fmt: skip
    postgres.sql(f"CREATE DATABASE {name}")
    port = free_port()
    settings = Settings(
        dsn=postgres.dsn(name), keys={KEY: SECRET}, output=OUTPUT, concurrency=2, queue=1,
        scratch=scratch, **limits,
    )  # fmt: skip
    server = Serving(settings, storage, source, port)
    made = Service(Endpoint(f"http://127.0.0.1:{port}", minio, settings.dsn), scratch)
    yield made
    workers = made.workers()
    server.stop()
    assert not [one for one in workers if one.is_running()]
    assert not made.folder.exists()


@pytest.fixture(scope="module")
def service(
    postgres: Postgres, minio: str, storage: Storage, source: MemorySource,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:  # fmt: skip
    scratch = Path(tmp_path_factory.mktemp("scratch"))
    limits = {"memory": f"{MEMORY}MB", "result_bytes": 2**20}
    with serving("bounded", postgres, storage, source, minio, scratch, **limits) as made:
        yield made


@pytest.fixture
def impatient(
    postgres: Postgres, minio: str, storage: Storage, source: MemorySource, tmp_path: Path
) -> Iterator[Service]:
    with serving("impatient", postgres, storage, source, minio, tmp_path, seconds=SECONDS) as made:
        yield made


def test_a_query_that_is_stopped_takes_its_process_with_it(service: Service) -> None:
    athena = service.athena
    id_ = athena.start(ENDLESS)
    (worker,) = service.busy()
    athena.client.stop_query_execution(QueryExecutionId=id_)
    # It has ended by then; its parent may still have to ask how.
    with suppress(psutil.NoSuchProcess):
        assert worker.status() == psutil.STATUS_ZOMBIE
    assert athena.ended(id_)["Status"]["State"] == "CANCELLED"
    assert service.files(id_) == []
    assert athena.rows("SELECT count(*) FROM sale") == [["3"]]
    assert worker.pid not in [other.pid for other in service.workers()]


def test_a_query_that_is_killed_fails_alone(service: Service) -> None:
    athena = service.athena
    killed = athena.start(ENDLESS)
    (worker,) = service.busy()
    other = athena.start(IN_PYTHON)
    service.busy(2)
    os.kill(worker.pid, signal.SIGKILL)
    status = athena.ended(killed)["Status"]
    assert status["State"] == "FAILED"
    assert "The process of the query was ended by SIGKILL" in status["StateChangeReason"]
    assert athena.client.get_query_execution(QueryExecutionId=other)["QueryExecution"]["Status"][
        "State"
    ] == "RUNNING"  # fmt: skip
    athena.client.stop_query_execution(QueryExecutionId=other)


def test_a_worker_that_is_killed_while_it_waits_is_replaced(service: Service) -> None:
    assert service.athena.rows("SELECT 1") == [["1"]]
    for worker in service.workers():
        worker.kill()
    assert service.athena.rows("SELECT 1") == [["1"]]


def test_the_service_answers_while_functions_burn_until_their_time_is_over(
    impatient: Service,
) -> None:
    athena = impatient.athena
    burning = athena.start(IN_PYTHON)
    answers: list[Any] = []
    state = ""
    while state in ("", "QUEUED", "RUNNING"):
        assert impatient.healthy()
        answers.append(athena.rows("SELECT count(*) FROM sale"))
        found = athena.client.get_query_execution(QueryExecutionId=burning)["QueryExecution"]
        state = found["Status"]["State"]
    assert (state, found["Status"]["StateChangeReason"]) == (
        "FAILED", "EXCEEDED_TIME_LIMIT: Query exceeded the maximum run time of 6 s",
    )  # fmt: skip
    assert answers == [[["3"]]] * len(answers)


def test_memory_is_limited_for_each_query(service: Service) -> None:
    athena = service.athena
    large = athena.start(TOO_LARGE)
    assert athena.rows("SELECT count(*) FROM sale") == [["3"]]
    status = athena.ended(large)["Status"]
    assert (status["State"], status["AthenaError"]["ErrorCategory"]) == ("FAILED", 1)
    assert "EXCEEDED_LOCAL_MEMORY_LIMIT" in status["StateChangeReason"]
    for worker in service.workers():
        limit = worker.rlimit(psutil.RLIMIT_DATA)[0]
        assert limit != psutil.RLIM_INFINITY
        assert worker.memory_info().rss < limit
        assert (Path("/proc") / str(worker.pid) / "oom_score_adj").read_text().strip() == "1000"


def test_what_does_not_fit_into_memory_goes_to_files(service: Service) -> None:
    pairs = "SELECT DISTINCT a.n * 5000 + b.n AS n FROM many a, many b WHERE b.n < 500"
    assert service.athena.rows(f"SELECT count(*), max(n) FROM ({pairs})") == [
        ["2500000", "24995499"]
    ]
    assert not list(service.folder.glob("*/*")), "they go with the query"


def test_a_result_is_limited_in_bytes_not_in_memory(service: Service) -> None:
    id_ = service.athena.start(ALL_PAIRS)
    status = service.athena.ended(id_)["Status"]
    assert status["StateChangeReason"] == (
        "EXCEEDED_RESULT_SIZE_LIMIT: The result has more than 1 MiB. Select fewer rows or columns."
    )
    assert service.files(id_) == []
    some = f"{ALL_PAIRS} LIMIT 50000"
    id_ = service.athena.start(some)
    assert service.athena.ended(id_)["Status"]["State"] == "SUCCEEDED"
    pages = service.athena.client.get_paginator("get_query_results").paginate(QueryExecutionId=id_)
    assert sum(len(page["ResultSet"]["Rows"]) for page in pages) == 50_001


def test_a_table_that_was_being_written_leaves_no_files(service: Service) -> None:
    athena = service.athena
    id_ = athena.start(
        "CREATE TABLE parts WITH (partitioned_by = ARRAY['k']) AS"
        " SELECT n, n AS k FROM many WHERE n < 100"
    )
    eventually(lambda: bool(service.files(f"tables/{id_}")), "it is written", 30)
    athena.client.stop_query_execution(QueryExecutionId=id_)
    assert athena.ended(id_)["Status"]["State"] == "CANCELLED"
    eventually(lambda: not service.files(f"tables/{id_}"), "its files are removed", 30)
    assert "TABLE_NOT_FOUND" in athena.error("SELECT * FROM parts")


def test_more_queries_than_may_wait_are_refused(service: Service) -> None:
    athena = service.athena
    ids = [athena.start(ENDLESS) for _ in range(3)]
    with pytest.raises(ClientError) as caught:
        athena.start(ENDLESS)
    told: dict[str, Any] = dict(caught.value.response)
    assert told["Error"]["Code"] == "TooManyRequestsException"
    assert told["Reason"] == "CONCURRENT_QUERY_LIMIT_EXCEEDED"
    assert athena.client.list_query_executions(MaxResults=1)["QueryExecutionIds"] == ids[-1:]
    for id_ in ids:
        athena.client.stop_query_execution(QueryExecutionId=id_)
        athena.ended(id_)
    eventually(lambda: athena.rows("SELECT 1") == [["1"]], "there is room again")
