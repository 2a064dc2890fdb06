"""`labctl athena`: statements that are kept, what is refused, and the same of AWS."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from moto import mock_aws
from pydantic import SecretStr
from typer.testing import CliRunner, Result

from labctl.cli import athena, athena_saved
from labctl.cli.app import root
from labctl.errors import ExitCode, LabError
from labctl.lab.catalog.athena_client import Athena
from labctl.lab.catalog.athena_connection import Connection, connection_of
from labctl.lab.catalog.athena_saved import (
    NamedQueries,
    NamedQuery,
    PreparedStatements,
)
from labctl.lab.lab import Lab
from labctl.services.sqlapi_service import SqlApi, api_client
from tests.unit.athena_client import Client

PROJECT = Path(__file__).parents[2]
SQL = "SELECT 1"

Run = Callable[..., Result]


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def run(client: Client, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line, whose lab has the client's endpoint."""
    monkeypatch.setenv("LABCTL_PROJECT", str(PROJECT))
    for module in (athena, athena_saved):
        monkeypatch.setattr(module, "athena_of", lambda _: Athena(Connection(client)))
    monkeypatch.setattr(athena_saved, "connection_of", lambda _: Connection(client))
    return lambda *arguments: CliRunner().invoke(root, ["athena", *arguments])


def named(name: str, sql: str = SQL) -> NamedQuery:
    return NamedQuery("", name, "tickit", sql, "")


def test_a_named_query_is_kept_shown_run_and_deleted(client: Client, run: Run) -> None:
    assert "there is none yet" in run("named", "list").stdout
    kept = ("named", "create", "one", SQL, "--database", "moma", "--description", "what for")
    assert run(*kept).stdout == "one is kept\n"
    assert run(*kept).stdout == "one is there already\n"
    (query,) = json.loads(run("named", "list", "-o", "json").stdout)["queries"]
    assert (query["name"], query["sql"], query["id"]) == ("one", SQL, "id-0")
    assert "what for" in run("named", "show", "one").stdout
    assert run("named", "run", "id-0", "-o", "csv").stdout == "n\n8\n"
    assert client.asked[0]["QueryExecutionContext"] == {"Database": "moma"}
    assert run("named", "delete", "one").exit_code == 0
    assert client.named == {}


def test_a_prepared_statement_is_run_with_values(client: Client, run: Run) -> None:
    kept = ("prepared", "create", "of", "SELECT ?, ?")
    assert run(*kept).stdout == "of is kept\n"
    assert run(*kept).stdout == "of is there already\n"
    assert "SELECT ?, ?" in run("prepared", "list").stdout
    assert json.loads(run("prepared", "show", "of", "-o", "json").stdout)["name"] == "of"
    assert run("prepared", "run", "of", "--", "-2", "'x'").exit_code == 0
    assert client.asked[0]["QueryString"] == "EXECUTE of"
    assert client.asked[0]["ExecutionParameters"] == ["-2", "'x'"]
    assert run("prepared", "delete", "of").exit_code == 0
    assert client.prepared == {}


@pytest.mark.parametrize("kind", ["named", "prepared"])
def test_what_is_kept_is_not_replaced(client: Client, run: Run, kind: str) -> None:
    run(kind, "create", "one", SQL)
    done = run(kind, "create", "one", "SELECT 2")
    assert done.exit_code == ExitCode.USAGE
    assert "another" in done.stderr
    assert SQL in run(kind, "show", "one").stdout
    for command in ("show", "delete"):
        done = run(kind, command, "other")
        assert done.exit_code == ExitCode.USAGE
        assert "there are: one" in done.stderr
    assert len(client.named) + len(client.prepared) == 1


def test_a_name_that_two_queries_have(client: Client) -> None:
    """Athena lets a name be given twice."""
    queries = NamedQueries(Connection(client))
    for sql in (SQL, "SELECT 2"):
        client.create_named_query(Name="one", Database="tickit", QueryString=sql)
    with pytest.raises(LabError, match="more than one") as raised:
        queries.find("one")
    assert raised.value.hint == "give its id: id-0, id-1"
    assert queries.find("id-1").sql == "SELECT 2"


def test_more_than_one_request_may_ask_for(client: Client) -> None:
    queries, statements = NamedQueries(Connection(client)), PreparedStatements(Connection(client))
    for number in range(120):
        client.create_named_query(Name=f"q{number:03}", Database="tickit", QueryString=SQL)
        client.create_prepared_statement(StatementName=f"s{number:03}", QueryStatement=SQL)
    assert [one.name for one in queries.all()] == [f"q{number:03}" for number in range(120)]
    assert [one.name for one in statements.all()] == [f"s{number:03}" for number in range(120)]


def test_nobody_answers() -> None:
    keys = dict.fromkeys(("access_key", "secret_key"), SecretStr("of the test"))
    endpoint = SqlApi(url="http://127.0.0.1:9", region="us-east-1", **keys)
    connection = Connection(api_client(endpoint, "athena", attempts=1))
    with pytest.raises(LabError, match="does not answer") as raised:
        Athena(connection).run(SQL, database="tickit")
    assert (raised.value.exit_code, raised.value.hint) == (ExitCode.NOT_READY, "labctl status")
    with pytest.raises(LabError, match="QueryString") as raised:
        Athena(connection).run("", database="tickit")
    assert raised.value.exit_code is ExitCode.USAGE


@pytest.fixture
def promoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    return Lab.find(profile="aws", project=PROJECT)


def test_a_promoted_profile_asks_aws_in_its_own_workgroup(promoted: Lab) -> None:
    profile = promoted.config.profiles["aws"]
    with mock_aws():
        connection = connection_of(promoted)
        with pytest.raises(LabError, match="WorkGroup does not exist") as raised:
            Athena(connection).run(SQL, database="tickit")
        assert raised.value.exit_code is ExitCode.USAGE
        assert "labctl promote apply" in (raised.value.hint or "")
        connection.client.create_work_group(Name="tickit-athena")
        kept = NamedQueries(connection)
        kept.create(named("one"))
        for workgroup, count in (("primary", 0), ("tickit-athena", 1)):
            found = connection.client.list_named_queries(WorkGroup=workgroup)["NamedQueryIds"]
            assert len(found) == count
    assert connection.place == f"Athena in {profile.region}"  # type: ignore[union-attr]


def test_aws_without_credentials(
    promoted: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    with pytest.raises(LabError, match="no AWS credentials") as raised:
        Athena(connection_of(promoted)).run(SQL, database="tickit")
    assert raised.value.exit_code is ExitCode.ENVIRONMENT
