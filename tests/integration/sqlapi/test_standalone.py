"""`python -m sqlapi` over a bucket of Parquet; killed, and begun again."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from botocore.exceptions import BotoCoreError, ClientError
from pyarrow import parquet

from tests.integration.sqlapi.conftest import BUCKET, KEY, OUTPUT, SECRET, Athena, Endpoint
from tests.integration.sqlserver.conftest import Postgres, eventually
from tests.ports import free_port

pytestmark = pytest.mark.long


class Process:
    """The endpoint as a process of its own."""

    def __init__(self, dsn: str, store_url: str, log: Path) -> None:
        self.port = free_port()
        self.endpoint = Endpoint(f"http://127.0.0.1:{self.port}", store_url, dsn)
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Athena:
        command = [
            sys.executable, "-m", "sqlapi", "--tables", f"s3://{BUCKET}/lake", "--output", OUTPUT,
            "--port", str(self.port), "--endpoint-url", self.endpoint.store_url,
        ]  # fmt: skip
        env = os.environ | {
            "SQLAPI_DSN": self.endpoint.dsn, "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }  # fmt: skip
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, env=env)
        athena = Athena(self.endpoint.client("athena"))

        def answers() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text()
            try:
                athena.client.list_work_groups()
            except (BotoCoreError, ClientError):
                return False
            return True

        eventually(answers, "the endpoint answers", 60)
        return athena

    def end(self, number: int = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(30)
            self.process = None


@pytest.fixture
def process(postgres: Postgres, minio: str, tmp_path: Path) -> Iterator[Process]:
    name = f"alone_{time.time_ns()}"
    postgres.sql(f"CREATE DATABASE {name}")
    data = io.BytesIO()
    parquet.write_table(pa.table({"N": pa.array(range(3000), pa.int64())}), data)
    process = Process(postgres.dsn(name), minio, tmp_path / "log")
    process.endpoint.client("s3").put_object(
        Bucket=BUCKET, Key="lake/shop/numbers/a.parquet", Body=data.getvalue()
    )
    yield process
    process.end()


def test_what_ran_when_it_was_killed_has_failed(process: Process) -> None:
    athena = process.start()
    assert athena.rows("SELECT count(*), max(n) FROM numbers", "shop") == [["3000", "2999"]]
    done = athena.start("SELECT n FROM numbers ORDER BY n LIMIT 1", "shop")
    athena.ended(done)
    long = athena.start(
        "SELECT count(*) FROM numbers a, numbers b, numbers c WHERE a.n + b.n + c.n = 1", "shop"
    )
    assert process.process is not None
    workers = psutil.Process(process.process.pid).children(recursive=True)
    process.end(signal.SIGKILL)
    assert workers
    assert not psutil.wait_procs(workers, 30)[1], "processes of queries end with the service"
    athena = process.start()
    execution = athena.ended(long)
    assert execution["Status"]["State"] == "FAILED"
    assert "stopped while the query ran" in execution["Status"]["StateChangeReason"]
    # what had ended is there, read from the bucket now
    answer = athena.client.get_query_results(QueryExecutionId=done)
    assert [r["Data"][0]["VarCharValue"] for r in answer["ResultSet"]["Rows"]] == ["n", "0"]


def test_postgres_that_is_away_is_an_error_until_it_is_back(
    process: Process, postgres: Postgres
) -> None:
    athena = process.start()
    id_ = athena.start("SELECT count(*) FROM numbers", "shop")
    athena.ended(id_)
    postgres.stop(signal.SIGQUIT)
    try:
        with pytest.raises(ClientError) as caught:
            athena.client.get_query_execution(QueryExecutionId=id_)
        assert caught.value.response["Error"]["Code"] == "InternalServerException"
    finally:
        postgres.start()
    eventually(lambda: _works(athena), "queries run again", 60)


def _works(athena: Athena) -> bool:
    try:
        return athena.rows("SELECT 1") == [["1"]]
    except ClientError:
        return False
