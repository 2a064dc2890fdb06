"""The command lines and environments of the engines' own clients."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from pydantic import SecretStr

from labctl.artifacts.fetch_progress import SilentProgress
from labctl.config.endpoints import (
    Connect,
    Database,
    Endpoints,
    Kafka,
    ObjectStore,
    Registry,
    SourceDatabase,
)
from labctl.config.kafka_clients import client_settings, java_settings
from labctl.errors import LabError
from labctl.lab.clients.client_environment import client_environment
from labctl.lab.clients.client_programs import Program, aws, mysql, psql, sqlcmd
from labctl.lab.clients.kafka_tools import KAFKA_TOOLS, kafka_tool
from labctl.lab.clients.tsql import batches
from labctl.lab.lab import Lab
from labctl.services.sqlapi_service import SqlApi

PASSWORD = 'a:b\\c#"d'  # noqa: S105 - nobody's
NO_PROGRESS = SilentProgress()


def database(user: str) -> Database:
    return Database(
        host="127.0.0.1", port=5555, user=user, password=SecretStr(PASSWORD), database="tickit"
    )


ENDPOINTS = Endpoints(
    servers={
        "postgres": database("postgres"),
        "mysql": database("labctl"),
        "sqlserver": database("sa"),
    },
    kafka=Kafka(bootstrap_servers="127.0.0.1:9999"),
    connect=Connect(url="http://127.0.0.1:1"),
    registry=Registry(url="http://127.0.0.1:2"),
    objectstore=ObjectStore(
        endpoint_url="http://127.0.0.1:3",
        access_key=SecretStr("key"),
        secret_key=SecretStr(PASSWORD),
        bucket="lake",
    ),
)


class Store:
    """Parts that are all there."""

    def __init__(self) -> None:
        self.fetched: list[str] = []

    def fetch(self, names: list[str], **_: object) -> None:
        self.fetched += names

    def postgres_bin(self) -> Path:
        return Path("/parts/postgres/bin")

    def mysql_command(self) -> list[str]:
        return ["/parts/mysql"]

    def java(self) -> Path:
        return Path("/parts/java")

    def path(self, name: str) -> Path:
        return Path("/parts") / name


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH, with `sqlcmd` and `aws`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sqlcmd", "aws"):
        (folder / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def lab(tmp_path: Path, endpoints: Endpoints = ENDPOINTS) -> Lab:
    state = SimpleNamespace(secrets=tmp_path / "secrets")
    return cast("Lab", SimpleNamespace(endpoints=endpoints, state=state, artifacts=Store()))


def test_no_password_is_in_an_argument(tmp_path: Path, bin_folder: Path) -> None:
    here = lab(tmp_path)
    programs = [
        psql(here, NO_PROGRESS),
        mysql(here, NO_PROGRESS),
        cast("Program", sqlcmd(here)),
        kafka_tool(here, "topics", ["--list"], NO_PROGRESS),
        aws(here),
    ]
    for program in programs:
        assert not [word for word in program.argv if PASSWORD in word]
    with_password = [PASSWORD in program.env.values() for program in programs]
    assert with_password == [False, False, True, False, False]  # sqlcmd reads no file
    files = [path for path in (tmp_path / "secrets").rglob("*") if path.is_file()]
    assert files
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_psql_has_a_passfile_and_nothing_of_another_server(tmp_path: Path) -> None:
    program = psql(lab(tmp_path), NO_PROGRESS)
    assert program.argv == ["/parts/postgres/bin/psql"]
    env = program.environment({"PGPASSWORD": "x", "PGSERVICE": "y", "PAGER": "less"})
    assert not {"PGPASSWORD", "PGSERVICE"} & set(env)
    assert (env["PAGER"], env["PGHOST"], env["PGPORT"]) == ("less", "127.0.0.1", "5555")
    assert Path(env["PGPASSFILE"]).read_text() == '127.0.0.1:5555:*:postgres:a\\:b\\\\c#"d\n'


def test_mysql_reads_one_option_file_first(tmp_path: Path) -> None:
    program = mysql(lab(tmp_path), NO_PROGRESS)
    assert program.argv[0] == "/parts/mysql"
    options = Path(program.argv[1].removeprefix("--defaults-file="))
    assert 'password="a:b\\\\c#"d"\n' in options.read_text()


def test_a_client_begins_in_the_database_of_a_source(tmp_path: Path, bin_folder: Path) -> None:
    sources = {
        f"{engine}_{name}": SourceDatabase(
            **database("u").model_dump() | {"database": name}, engine=engine, schemas=("s",)
        )
        for engine in ("postgres", "mysql", "sqlserver")
        for name in ("tickit", "shop")
    }
    here = lab(tmp_path, ENDPOINTS.model_copy(update={"sources": sources}))
    assert psql(here, NO_PROGRESS).env["PGDATABASE"] == "tickit"
    assert psql(here, NO_PROGRESS, "postgres_shop").env["PGDATABASE"] == "shop"
    assert mysql(here, NO_PROGRESS, "mysql_shop").argv[-1] == "--database=shop"
    program = sqlcmd(here, "sqlserver_shop")
    assert program
    assert program.env["SQLCMDDBNAME"] == "shop"
    with pytest.raises(LabError, match="'mysql_shop' is no PostgreSQL: its engine is mysql"):
        psql(here, NO_PROGRESS, "mysql_shop")
    with pytest.raises(LabError, match="no source 'x'"):
        psql(here, NO_PROGRESS, "x")


def test_a_client_logs_in_as_the_owner_unless_it_is_told_otherwise(tmp_path: Path) -> None:
    sources = {
        engine: SourceDatabase(**database("owner").model_dump(), engine=engine, schemas=("s",))
        for engine in ("postgres", "mysql")
    }
    here = lab(tmp_path, ENDPOINTS.model_copy(update={"sources": sources}))
    for admin, postgres_user, mysql_user in (
        (False, "owner", "owner"),
        (True, "postgres", "labctl"),
    ):
        env = psql(here, NO_PROGRESS, admin=admin).env
        assert env["PGUSER"] == postgres_user
        assert f":*:{postgres_user}:" in Path(env["PGPASSFILE"]).read_text()
        options = mysql(here, NO_PROGRESS, admin=admin).argv[1].removeprefix("--defaults-file=")
        assert f'user="{mysql_user}"\n' in Path(options).read_text()
    # What other programs are pointed at, a project's migration tool among them, is the owner's.
    env = client_environment(here)
    assert env["PGUSER"] == "owner"
    assert "postgres" not in Path(env["PGPASSFILE"]).read_text()


def test_librdkafkas_settings_are_in_a_file(tmp_path: Path) -> None:
    login = {"authentication": "plain", "user": "u", "password": SecretStr(PASSWORD)}
    kafka = ENDPOINTS.kafka.model_copy(update=login)
    env = client_environment(lab(tmp_path, ENDPOINTS.model_copy(update={"kafka": kafka})))
    read = [line.split("=", 1) for line in Path(env["KCAT_CONFIG"]).read_text().splitlines()]
    assert dict(read) == client_settings(kafka)


def test_sqlcmd_trusts_the_labs_own_certificate_only(tmp_path: Path, bin_folder: Path) -> None:
    program = sqlcmd(lab(tmp_path))
    assert program
    assert program.argv == [str(bin_folder / "sqlcmd"), "-C"]
    assert program.env["SQLCMDSERVER"] == "tcp:127.0.0.1,5555"
    elsewhere = database("sa").model_copy(update={"host": "db.example"})
    other = sqlcmd(
        lab(tmp_path, ENDPOINTS.model_copy(update={"servers": {"sqlserver": elsewhere}}))
    )
    assert other
    assert other.argv == [str(bin_folder / "sqlcmd")]


def test_aws_keeps_all_requests_on_this_machine(tmp_path: Path, bin_folder: Path) -> None:
    env = aws(lab(tmp_path)).environment({"AWS_PROFILE": "prod", "AWS_ACCESS_KEY_ID": "AKIA"})
    assert not {"AWS_PROFILE", "AWS_ACCESS_KEY_ID"} & set(env)
    assert env["AWS_ENDPOINT_URL"] == env["AWS_ENDPOINT_URL_S3"] == "http://127.0.0.1:3"
    assert env["AWS_DEFAULT_REGION"] == "us-east-1"


def test_clients_of_athena_and_glue_find_the_labs_own(tmp_path: Path, bin_folder: Path) -> None:
    key = SecretStr(PASSWORD)
    own = SqlApi(url="http://127.0.0.1:8", region="us-east-1", access_key=key, secret_key=key)
    here = lab(tmp_path, ENDPOINTS.model_copy(update={"others": {"sqlapi": own}}))
    for env in (client_environment(here), aws(here).env):
        for name in ("ATHENA", "GLUE", "STS"):
            assert env[f"AWS_ENDPOINT_URL_{name}"] == "http://127.0.0.1:8"
        assert env["AWS_ENDPOINT_URL_S3"] == "http://127.0.0.1:3"
        assert env["AWS_DEFAULT_REGION"] == env["AWS_REGION"] == "us-east-1"
        assert PASSWORD not in env.values()


def test_aws_of_a_promoted_lab_is_the_users_own_login(tmp_path: Path, bin_folder: Path) -> None:
    endpoints = ENDPOINTS.model_copy(update={"objectstore": ObjectStore(bucket="lake")})
    env = aws(lab(tmp_path, endpoints)).environment({"AWS_PROFILE": "prod"})
    assert env["AWS_PROFILE"] == "prod"
    assert "AWS_ENDPOINT_URL" not in env


def test_what_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert sqlcmd(lab(tmp_path)) is None
    with pytest.raises(LabError, match="no `aws` on the PATH"):
        aws(lab(tmp_path))
    with pytest.raises(LabError, match="no PostgreSQL"):
        psql(lab(tmp_path, ENDPOINTS.model_copy(update={"servers": {}})), NO_PROGRESS)
    with pytest.raises(LabError, match="no tool 'nope'"):
        kafka_tool(lab(tmp_path), "nope", [], NO_PROGRESS)


@pytest.mark.parametrize("name", ["topics", "kafka-topics", "kafka-topics.sh"])
def test_a_tool_of_kafka_is_told_where_it_is(tmp_path: Path, name: str) -> None:
    program = kafka_tool(lab(tmp_path), name, ["--list"], NO_PROGRESS)
    file = tmp_path / "secrets/clients/kafka-client.properties"
    assert [*program.argv][-6:] == [
        KAFKA_TOOLS["topics"].class_name,
        "--bootstrap-server",
        "127.0.0.1:9999",
        "--command-config",
        str(file),
        "--list",
    ]
    assert file.read_text() == "bootstrap.servers=127.0.0.1:9999\n"


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("cluster", ["cluster-id"], ["cluster-id", "--bootstrap-server", "S", "--config", "F"]),
        ("producer-perf-test", ["--topic", "t"], ["--producer.config", "F", "--topic", "t"]),
        ("dump-log", ["--files", "x"], ["--files", "x"]),
        ("topics", ["--bootstrap-server=o:1"], ["--bootstrap-server=o:1"]),
        ("topics", ["--command-config", "mine"], ["--command-config", "mine"]),
    ],
)
def test_each_tool_is_told_in_its_own_way(tool: str, given: list[str], expected: list[str]) -> None:
    assert KAFKA_TOOLS[tool].arguments(given, "S", Path("F")) == expected


def test_a_scram_login_is_quoted() -> None:
    kafka = ENDPOINTS.kafka.model_copy(
        update={"authentication": "scram", "user": "u", "password": SecretStr(PASSWORD)}
    )
    settings = java_settings(kafka)
    assert settings["sasl.jaas.config"].endswith('username="u" password="a:b\\\\c#\\"d";')
    with pytest.raises(LabError, match="want a user"):
        java_settings(kafka.model_copy(update={"user": None}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1\nGO\n\n go \nSELECT 2\nSELECT 3\nGo;", ["SELECT 1", "SELECT 2\nSELECT 3"]),
        ("SELECT 1\nGO 2", ["SELECT 1"] * 2),
        ("SELECT 1\nGO\nexit\nSELECT 2", ["SELECT 1"]),
        ("SELECT GO\nGOTO x", ["SELECT GO\nGOTO x"]),
        ("", []),
    ],
)
def test_batches_end_with_go(text: str, expected: list[str]) -> None:
    assert list(batches(text.splitlines())) == expected
