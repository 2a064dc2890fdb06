"""The AWS CLI, unmodified, with nothing but what `labctl client env` sets."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.sqlapi.clients import installed, run
from tests.integration.sqlapi.conftest import BUCKET, OUTPUT
from tests.integration.sqlserver.conftest import eventually

pytestmark = pytest.mark.long

Aws = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def aws(aws_variables: dict[str, str], tmp_path: Path) -> Aws:
    program = installed("awscli") / "aws"
    return lambda *words: run(program, *words, environment=aws_variables, folder=tmp_path)


@pytest.fixture
def told(aws: Aws) -> Callable[..., Any]:
    """What a command answers."""

    def tell(*words: str) -> Any:
        done = aws(*words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return tell


def _ended(told: Callable[..., Any], id_: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def done() -> bool:
        answer = told("athena", "get-query-execution", "--query-execution-id", id_)
        found.update(answer["QueryExecution"])
        return found["Status"]["State"] in ("SUCCEEDED", "FAILED", "CANCELLED")

    eventually(done, f"execution {id_} ends", 60)
    return found


def test_a_query_from_its_start_to_its_rows(told: Callable[..., Any], aws: Aws) -> None:
    id_ = told(
        *("athena", "start-query-execution", "--query-string", "SELECT id, note FROM sale"),
        *("--query-execution-context", "Database=tickit"),
    )["QueryExecutionId"]
    execution = _ended(told, id_)
    assert execution["Status"]["State"] == "SUCCEEDED", execution["Status"]
    results = told("athena", "get-query-results", "--query-execution-id", id_, "--page-size", "2")
    rows = [
        [datum.get("VarCharValue") for datum in row["Data"]] for row in results["ResultSet"]["Rows"]
    ]
    assert rows == [["id", "note"], ["1", 'a,"b"'], ["2", ""], ["3", None]]
    file = execution["ResultConfiguration"]["OutputLocation"]
    assert file.startswith(OUTPUT)
    assert aws("s3", "cp", file, "-").stdout == '"id","note"\n"1","a,""b"""\n"2",""\n"3",\n'


def test_what_is_wrong_is_said(told: Callable[..., Any], aws: Aws) -> None:
    id_ = told("athena", "start-query-execution", "--query-string", "SELECT 1 / 0")
    status = _ended(told, id_["QueryExecutionId"])["Status"]
    assert status["StateChangeReason"] == "DIVISION_BY_ZERO: Division by zero"
    done = aws("athena", "start-query-execution", "--query-string", "SELEC 1")
    assert done.returncode != 0
    assert "InvalidRequestException" in done.stderr
    assert "mismatched input 'selec'" in done.stderr


def test_the_catalog(told: Callable[..., Any]) -> None:
    tables = told("glue", "get-tables", "--database-name", "moma", "--page-size", "2")["TableList"]
    assert [table["Name"] for table in tables] == ["artists", "artists_ro", "artists_rt"]
    metadata = told(
        *("athena", "get-table-metadata", "--catalog-name", "AwsDataCatalog"),
        *("--database-name", "tickit", "--table-name", "category"),
    )["TableMetadata"]
    assert metadata["Columns"] == [
        {"Name": "id", "Type": "int"}, {"Name": "name", "Type": "string"},
    ]  # fmt: skip


def test_who_asks(told: Callable[..., Any]) -> None:
    assert told("sts", "get-caller-identity")["Arn"] == "arn:aws:iam::000000000000:user/lab"
    assert BUCKET in [one["Name"] for one in told("s3api", "list-buckets")["Buckets"]]
