"""SQL over the lab by Athena's own API: boto3, to which only another address is given."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import psutil
import pyathena
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from labctl.cli.app import Invocation
from labctl.cli.format import Format
from labctl.cli.sqlshell.session import Session
from labctl.cli.sqlshell.shell import converse
from labctl.errors import ExitCode
from labctl.lab.catalog.athena_client import athena_of
from labctl.lab.clients.client_environment import client_environment
from labctl.lab.lab import Lab
from labctl.services.sqlapi_service import SqlApi
from labctl.sources import Source, connect
from labctl.testing.eventually import Eventually
from labctl.testing.lab_faults import Faults
from tests.e2e.conftest import COMMAND_SECONDS, Labctl

DATABASE = "tickit"
VIEW = "sql_api_events"
PREPARED = "sql_api_of_category"
NAMED = "sql-api-categories"
GUESSED = "guessed"
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")
NEVER_ENDS = """
    SELECT count(*) FROM event
    CROSS JOIN UNNEST(sequence(1, 10000)) AS t(x)
    CROSS JOIN UNNEST(sequence(1, 10000)) AS u(y)
    CROSS JOIN UNNEST(sequence(1, 10)) AS v(z)
    WHERE (eventid * x + y) % 7 = 3
"""
"""More pairs than a day is long."""
SECONDS_LONG = """
    SELECT count(*) FROM event
    CROSS JOIN UNNEST(sequence(1, 10000)) AS t(x)
    CROSS JOIN UNNEST(sequence(1, 1000)) AS u(y)
"""
TIMES = 10_000 * 1_000

Sources = Callable[[str], Source]


@pytest.fixture
def environment(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What `labctl client env` sets, and no login of the machine's own."""
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    values = {k: v for k, v in client_environment(lab).items() if k.startswith("AWS_")}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return values


class Athena:
    """Statements by boto3."""

    def __init__(self, url: str, eventually: Eventually) -> None:
        make: Any = boto3.client
        # While the service is killed it is asked on.
        again = Config(retries={"total_max_attempts": 10, "mode": "standard"})
        self.client = make("athena", endpoint_url=url, config=again)
        self._eventually = eventually

    def start(self, sql: str, **options: Any) -> str:
        context = {"Database": DATABASE}
        started = self.client.start_query_execution(
            QueryString=sql, QueryExecutionContext=context, **options
        )
        return str(started["QueryExecutionId"])

    def execution(self, id_: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get_query_execution(QueryExecutionId=id_)
        return dict(found["QueryExecution"])

    def state(self, id_: str) -> str:
        return str(self.execution(id_)["Status"]["State"])

    def ended(self, id_: str) -> dict[str, Any]:
        self._eventually(lambda: self.state(id_) in ENDED)
        return self.execution(id_)

    def rows(self, sql: str, **options: Any) -> list[list[str | None]]:
        """The rows of a query, without its names."""
        return self.rows_of(self.start(sql, **options))

    def rows_of(self, id_: str) -> list[list[str | None]]:
        status = self.ended(id_)["Status"]
        assert status["State"] == "SUCCEEDED", status
        found = self.client.get_query_results(QueryExecutionId=id_)["ResultSet"]["Rows"]
        return [[data.get("VarCharValue") for data in row["Data"]] for row in found[1:]]


@pytest.fixture
def athena(lab: Lab, environment: dict[str, str], eventually: Eventually) -> Iterator[Athena]:
    own = Athena(environment["AWS_ENDPOINT_URL_ATHENA"], eventually)
    yield own
    own.client.close()


def of_source(source: Sources, sql: str) -> list[list[str]]:
    return [[str(value) for value in row] for row in source("postgres").execute(sql)]


def test_a_table_has_the_rows_of_its_source(
    athena: Athena, source: Sources, eventually: Eventually
) -> None:
    expected = of_source(source, "SELECT count(*), sum(eventid) FROM ems.event")
    assert int(expected[0][0]) > 0
    for name in ("event", "event_rt", f"{DATABASE}.event"):
        eventually(partial(equal, athena, f"SELECT count(*), sum(eventid) FROM {name}", expected))


def test_a_change_is_seen_and_a_deleted_row_is_not(
    athena: Athena, source: Sources, eventually: Eventually, new_key: Callable[[], int]
) -> None:
    key = new_key()
    database, sql = source("postgres"), f"SELECT eventname FROM event WHERE eventid = {key}"
    insert = f"INSERT INTO ems.event VALUES ({key}, 1, 1, 1, 'née', NULL)"
    database.execute(insert)
    row = ("event", {"eventid": key})
    eventually(lambda: athena.rows(sql) == [["née"]], row=row)
    database.execute(f"UPDATE ems.event SET eventname = 'Ödipus ☃' WHERE eventid = {key}")
    eventually(lambda: athena.rows(sql) == [["Ödipus ☃"]], row=row)
    database.execute(f"DELETE FROM ems.event WHERE eventid = {key}")
    eventually(lambda: athena.rows(sql) == [], row=row)
    # What is compacted may be behind what is written, but is a table of the same columns.
    assert athena.ended(athena.start("SELECT eventid, eventname FROM event_ro LIMIT 1"))["Status"][
        "State"
    ] == ("SUCCEEDED")


def test_a_view_is_made_listed_and_asked(
    athena: Athena, source: Sources, eventually: Eventually
) -> None:
    joined = "SELECT c.catname AS name, count(*) AS n FROM {0}event e JOIN {0}category c"
    joined += " ON e.catid = c.catid GROUP BY c.catname"
    status = athena.ended(athena.start(f"CREATE OR REPLACE VIEW {VIEW} AS {joined.format('')}"))[
        "Status"
    ]
    assert status["State"] == "SUCCEEDED", status
    ordered = "SELECT name, n FROM {} ORDER BY name"
    expected = of_source(source, ordered.format(f"({joined.format('ems.')}) v"))
    eventually(lambda: athena.rows(ordered.format(VIEW)) == expected)
    make: Any = boto3.client
    table = make("glue").get_table(DatabaseName=DATABASE, Name=VIEW)["Table"]
    assert table["TableType"] == "VIRTUAL_VIEW"
    assert athena.ended(athena.start(f"DROP VIEW {VIEW}"))["Status"]["State"] == "SUCCEEDED"
    names = {t["Name"] for t in make("glue").get_tables(DatabaseName=DATABASE)["TableList"]}
    assert {"event", "event_ro", "event_rt", "category"} <= names
    assert VIEW not in names


def test_statements_are_prepared_and_named(
    athena: Athena, source: Sources, eventually: Eventually
) -> None:
    sql = "SELECT catname FROM category WHERE catid = ?"
    athena.client.create_prepared_statement(
        StatementName=PREPARED, WorkGroup="primary", QueryStatement=sql
    )
    try:
        expected = of_source(source, "SELECT catname FROM ems.category WHERE catid = 2")
        eventually(lambda: athena.rows(f"EXECUTE {PREPARED} USING 2") == expected)
        assert athena.rows(f"EXECUTE {PREPARED}", ExecutionParameters=["2"]) == expected
    finally:
        athena.client.delete_prepared_statement(StatementName=PREPARED, WorkGroup="primary")

    named = "SELECT catid FROM category ORDER BY catid"
    id_ = athena.client.create_named_query(Name=NAMED, Database=DATABASE, QueryString=named)[
        "NamedQueryId"
    ]
    try:
        kept = athena.client.get_named_query(NamedQueryId=id_)["NamedQuery"]
        expected = of_source(source, "SELECT catid FROM ems.category ORDER BY catid")
        eventually(lambda: athena.rows(kept["QueryString"]) == expected)
    finally:
        athena.client.delete_named_query(NamedQueryId=id_)


@pytest.mark.usefixtures("environment")
def test_the_shell_of_labctl_env_is_enough_for_a_client(source: Sources) -> None:
    """PyAthena, with no option of the lab's at all."""
    expected = of_source(source, "SELECT count(*) FROM ems.category")
    with pyathena.connect(work_group="primary", schema_name=DATABASE) as connection:
        found = connection.cursor().execute("SELECT count(*) FROM category").fetchone()
    assert found is not None
    assert [[str(value) for value in found]] == expected


def test_the_command_prints_rows_errors_and_history(
    labctl: Labctl, lab: Lab, source: Sources
) -> None:
    sql = "SELECT catid, catname FROM category WHERE catid = 2"
    ((catid, catname),) = of_source(source, "SELECT catid, catname FROM ems.category WHERE catid=2")
    options = ("--lab", lab.name, "--database", DATABASE)
    done = labctl("athena", "run", sql, *options, "-o", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == [{"catid": int(catid), "catname": catname}]
    done = labctl("athena", "run", sql, *options, "-o", "csv")
    assert done.stdout == f"catid,catname\n{catid},{catname}\n"
    wrong = labctl("athena", "run", "SELECT nothing FROM category", *options)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "COLUMN_NOT_FOUND" in wrong.stderr
    done = labctl("athena", "history", "--count", "3", "--lab", lab.name, "-o", "json")
    states = [execution["state"] for execution in json.loads(done.stdout)["executions"]]
    assert states == ["FAILED", "SUCCEEDED", "SUCCEEDED"]


@pytest.mark.long
def test_the_shell_runs_files_commands_and_what_is_typed(
    labctl: Labctl, lab: Lab, source: Sources, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ((count,),) = of_source(source, "SELECT count(*) FROM ems.category")
    counted = f"SELECT count(*) AS n FROM {DATABASE}.category;"
    of_lab = ("--lab", lab.name, "--database", DATABASE)
    file = tmp_path / "some.sql"
    file.write_text(f"-- how many; there are\n{counted}\n\\o json\n{counted} \\q")
    done = labctl("athena", "shell", "-f", str(file), *of_lab, "-o", "csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"n\n{count}\n{{")
    described = labctl("athena", "shell", "-c", "\\d category", *of_lab, "-o", "csv")
    assert "catid,int,," in described.stdout.splitlines()
    wrong = labctl("athena", "shell", "-c", "SELECT nothing FROM category; SELECT 1", *of_lab)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "COLUMN_NOT_FOUND" in wrong.stderr

    session = Session(athena_of(lab), database=DATABASE, format_=Format.CSV)
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("SELECT count(*) AS n\rFROM category;\r\x04")
        converse(Invocation(lab.name, None, Format.CSV), session, tmp_path / "history")
    assert capsys.readouterr().out == f"n\n{count}\n"


@pytest.mark.long
def test_ctrl_c_stops_the_statement_at_the_endpoint(
    lab: Lab, athena: Athena, eventually: Eventually
) -> None:
    command = subprocess.Popen(
        [
            *(sys.executable, "-m", "labctl", "--lab", lab.name),
            *("athena", "shell", "--database", DATABASE, "-c", NEVER_ENDS),
        ],
        cwd=lab.project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    before = athena_of(lab).history(1)

    def running() -> bool:
        newest = athena_of(lab).history(1)
        return newest != before and newest[0].state == "RUNNING"

    try:
        eventually(running)
    finally:
        command.send_signal(signal.SIGINT)
        output, errors = command.communicate(timeout=COMMAND_SECONDS)
    assert (command.returncode, output) == (ExitCode.INTERRUPTED, ""), errors
    eventually(lambda: athena_of(lab).history(1)[0].state == "CANCELLED")


@pytest.mark.long
def test_named_and_prepared_statements_by_the_command_line(
    labctl: Labctl, lab: Lab, source: Sources
) -> None:
    def run(*arguments: str) -> str:
        done = labctl("athena", *arguments, "--lab", lab.name, "-o", "csv")
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tell(*arguments: str) -> str:
        return labctl("athena", *arguments, "--lab", lab.name).stdout

    ((count,),) = of_source(source, "SELECT count(*) FROM ems.category")
    ((name,),) = of_source(source, "SELECT catname FROM ems.category WHERE catid = 2")
    in_it = ("--database", DATABASE)
    assert "kept" in tell("named", "create", NAMED, "SELECT count(*) AS n FROM category", *in_it)
    of_category = "SELECT catname FROM category WHERE catid = ?"
    assert "kept" in tell("prepared", "create", PREPARED, of_category)
    try:
        assert NAMED in tell("named", "list")
        assert PREPARED in tell("prepared", "list")
        assert run("named", "run", NAMED) == f"n\n{count}\n"
        assert run("prepared", "run", PREPARED, "2", *in_it) == f"catname\n{name}\n"
    finally:
        assert "deleted" in tell("named", "delete", NAMED)
        assert "deleted" in tell("prepared", "delete", PREPARED)


@pytest.mark.long
def test_the_catalog_is_as_the_lake_is(labctl: Labctl, lab: Lab, eventually: Eventually) -> None:
    def asked(*words: str) -> Any:
        done = labctl("catalog", *words, "--lab", lab.name, "-o", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def listed() -> dict[str, str]:
        return {table["name"]: table["kind"] for table in asked("list", DATABASE)["tables"]}

    eventually(lambda: "tickit.event" in listed())
    kinds = listed()
    assert kinds["tickit.event"] == kinds["tickit.event_rt"] == "real time"
    assert kinds["tickit.event_ro"] == "read optimized"
    shown = asked("show", "event_ro")
    assert shown["Parameters"]["spark.sql.sources.provider"] == "hudi"
    types = {column["Name"]: column["Type"] for column in shown["StorageDescriptor"]["Columns"]}
    assert (types["eventid"], types["starttime"]) == ("int", "timestamp")
    assert asked("diff")["changes"] == asked("sync")["changes"] == []

    with connect(lab.endpoints, "postgres") as source:
        source.execute("COMMENT ON COLUMN ems.event.eventname IS 'as on the ticket'")
        try:
            (change,) = asked("diff")["changes"]
            assert change["details"] == ["comment of eventname: none → as on the ticket"]
            assert asked("sync")["changes"] == [change]

            def comment() -> str:
                columns = asked("show", "event_ro")["StorageDescriptor"]["Columns"]
                return next(str(c["Comment"]) for c in columns if c["Name"] == "eventname")

            # The endpoint looks again after a second.
            eventually(lambda: comment() == "as on the ticket")
            assert asked("diff")["changes"] == []
        finally:
            source.execute("COMMENT ON COLUMN ems.event.eventname IS NULL")
            asked("sync")
    assert asked("diff")["changes"] == []

    wrong = labctl("catalog", "show", "tickit.nothing", "--lab", lab.name)
    assert wrong.returncode == 2
    assert "There is no table 'tickit.nothing'" in wrong.stderr


@pytest.mark.long
def test_views_of_files_are_made_once_and_show_what_the_sources_have(
    labctl: Labctl, lab: Lab, athena: Athena, source: Sources, eventually: Eventually
) -> None:
    def applied() -> list[str]:
        done = labctl("catalog", "apply", "--lab", lab.name, "-o", "json")
        assert done.returncode == 0, done.stderr
        return [change["what"] for change in json.loads(done.stdout)["changes"]]

    made = applied()
    assert "view tickit_gold.sales_by_day_and_category" in made
    assert applied() == []

    def summed() -> bool:
        name_of: dict[int, str] = dict(
            source("postgres").execute(
                "SELECT eventid, catname FROM ems.event JOIN ems.category USING (catid)"
            )
        )
        amounts = source("mysql").execute("SELECT eventid, pricepaid * qtysold FROM ecomm.sale")
        expected: dict[str, Decimal] = {}
        for event, amount in amounts:
            if amount is not None and (name := name_of.get(event)):
                expected[name] = expected.get(name, Decimal(0)) + amount
        sql = """
            SELECT catname, sum(saleamount) FROM tickit_demo.tickit_sales_by_day_and_category
            WHERE catname IS NOT NULL GROUP BY catname HAVING sum(saleamount) IS NOT NULL
        """
        return {str(n): Decimal(str(amount)) for n, amount in athena.rows(sql)} == expected

    eventually(summed)


def test_a_stranger_is_refused(lab: Lab, athena: Athena) -> None:
    make: Any = boto3.client
    endpoint = lab.endpoints.others["sqlapi"]
    assert isinstance(endpoint, SqlApi)
    for key in (endpoint.access_key.get_secret_value(), GUESSED):
        stranger = make(
            "athena",
            endpoint_url=endpoint.url,
            aws_access_key_id=key,
            aws_secret_access_key=GUESSED,
        )
        with pytest.raises(ClientError, match=r"InvalidSignature|UnrecognizedClient"):
            stranger.list_work_groups()
    secrets = {endpoint.secret_key.get_secret_value(), lab.passwords["sqlapi"]}
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
        except psutil.Error:
            continue
        assert not [word for word in words if any(secret in word for secret in secrets)]
    logged = lab.runtime.logs.tail("sqlapi", 100_000)
    assert not [line for line in logged if any(secret in line for secret in secrets)]


@pytest.mark.long
def test_a_killed_service_leaves_failed_executions_and_goes_on(
    athena: Athena, source: Sources, faults: Faults, eventually: Eventually
) -> None:
    id_ = athena.start(NEVER_ENDS)
    eventually(lambda: athena.state(id_) == "RUNNING")
    faults.kill("sqlapi")
    execution = athena.ended(id_)
    assert execution["Status"]["State"] == "FAILED"
    assert execution["Status"]["AthenaError"]["Retryable"]
    with pytest.raises(ClientError, match="did not finish successfully"):
        athena.client.get_query_results(QueryExecutionId=id_)
    assert not written(execution)
    expected = of_source(source, "SELECT count(*) FROM ems.event")
    eventually(lambda: athena.rows("SELECT count(*) FROM event") == expected)


@pytest.mark.long
def test_a_killed_postgres_leaves_no_wrong_result(
    athena: Athena, source: Sources, faults: Faults, eventually: Eventually
) -> None:
    ((count,),) = of_source(source, "SELECT count(*) FROM ems.event")
    eventually(lambda: athena.rows("SELECT count(*) FROM event") == [[count]])
    id_ = athena.start(SECONDS_LONG)
    eventually(lambda: athena.state(id_) in ("RUNNING", *ENDED))
    faults.kill("postgres")
    eventually(lambda: told(athena, id_) in ENDED)
    if told(athena, id_) == "SUCCEEDED":
        # It was there again before the result had to be noted.
        assert athena.rows_of(id_) == [[str(int(count) * TIMES)]]
    else:
        assert not written(athena.execution(id_))
    eventually(lambda: athena.rows("SELECT count(*) FROM event") == [[count]])


def equal(athena: Athena, sql: str, expected: list[list[str]]) -> bool:
    return athena.rows(sql) == expected


def told(athena: Athena, id_: str) -> str | None:
    """The state; None while it cannot be told."""
    try:
        return athena.state(id_)
    except ClientError:
        return None


def written(execution: dict[str, Any]) -> list[str]:
    """What is in the bucket of an execution's result."""
    bucket, _, key = execution["ResultConfiguration"]["OutputLocation"][5:].partition("/")
    make: Any = boto3.client
    found = make("s3").list_objects_v2(Bucket=bucket, Prefix=key)
    return [entry["Key"] for entry in found.get("Contents", [])]
