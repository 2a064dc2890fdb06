"""The record of the SQL API: its command line, its secrets, and the same of its container."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg.conninfo
import pytest

from labctl.config.lab_config import LabConfig
from labctl.lab.catalog.athena_client import Answer
from labctl.runtimes.compose.container_addresses import network_endpoints
from labctl.runtimes.compose.container_secrets import write_service_secrets
from labctl.services import sqlapi_service
from labctl.services.service import Context
from labctl.services.sqlapi_service import SECRETS_FILE, SERVICE, SqlApi
from labctl.state.sockets import LOOPBACK
from tests.unit.service_context import PROJECT, SECRET, context_of

LAB = LabConfig.load(PROJECT / "lab.toml")


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_of(SERVICE, LAB, tmp_path)


def test_no_secret_is_in_the_command_line_or_the_environment(context: Context) -> None:
    SERVICE.native_form.prepare(context)
    process = SERVICE.native_form.process(context)
    shown = [*process.argv, *process.env, *process.env.values()]
    assert not [word for word in shown if "secret-of" in word]
    file = Path(process.argv[process.argv.index("--secrets") + 1])
    assert file.stat().st_mode & 0o777 == 0o600
    assert "secret-of-sqlapi" in file.read_text(encoding="utf-8")


def test_it_logs_in_as_the_owner_of_its_own_database_and_nobody_else(context: Context) -> None:
    SERVICE.native_form.prepare(context)
    told = json.loads((context.conf / SECRETS_FILE).read_text(encoding="utf-8"))
    login = psycopg.conninfo.conninfo_to_dict(told["dsn"])
    assert login == {
        "host": LOOPBACK,
        "port": "5432",
        "dbname": "sqlapi",
        "user": "sqlapi",
        "password": "secret-of-sqlapi",
    }
    assert SECRET["postgres"] not in json.dumps(told)


def test_requests_are_signed_with_the_key_of_the_object_store(context: Context) -> None:
    """One key for S3, Athena and Glue: a client has one pair of them."""
    SERVICE.native_form.prepare(context)
    told = json.loads((context.conf / SECRETS_FILE).read_text(encoding="utf-8"))
    endpoint, store = context.endpoints.others["sqlapi"], context.endpoints.objectstore
    assert isinstance(endpoint, SqlApi)
    assert store.access_key
    assert store.secret_key
    keys = (store.access_key.get_secret_value(), store.secret_key.get_secret_value())
    assert (told["access_key"], told["secret_key"]) == keys
    assert (endpoint.access_key.get_secret_value(), endpoint.secret_key.get_secret_value()) == keys
    assert "secret-of" not in str(dict(endpoint.variables)) + str(
        SERVICE.urls(context.endpoints, {"http": 1})
    )


def test_it_is_told_where_bronze_is(context: Context) -> None:
    argv = SERVICE.native_form.process(context).argv
    assert argv[argv.index("--bronze") + 1] == "topics"
    assert SERVICE.container
    assert SERVICE.container.variables(PROJECT, LAB) == {"SQLAPI_BRONZE": "topics"}


def test_its_container_has_its_own_secrets_and_no_other_service_has_its_password(
    tmp_path: Path,
) -> None:
    write_service_secrets(tmp_path, LAB, SECRET)
    endpoints = network_endpoints(LAB, SECRET)
    written = (tmp_path / "sqlapi" / SECRETS_FILE).read_text(encoding="utf-8")
    assert written == sqlapi_service.secrets_text(endpoints, SECRET)
    assert "host=postgres port=5432" in written
    holding = {
        str(path.relative_to(tmp_path))
        for path in tmp_path.rglob("*")
        if path.is_file() and "secret-of-sqlapi" in path.read_text(encoding="utf-8")
    }
    assert holding == {f"sqlapi/{SECRETS_FILE}", "postgres/databases"}


def test_an_answer_has_numbers_where_athena_has_whole_ones_and_text_elsewhere() -> None:
    rows: list[list[str | None]] = [
        ["1", "true", "9007199254740993", "0.10"],
        [None, None, None, None],
    ]
    types = ("integer", "boolean", "bigint", "decimal")
    table = Answer("x", ("n", "b", "n", "d"), types, rows).table()
    assert table.to_pylist() == [
        {"n": 1, "b": True, "n (2)": 9007199254740993, "d": "0.10"},
        dict.fromkeys(("n", "b", "n (2)", "d")),
    ]
    assert Answer("x", ("n",), ("integer",), []).table().num_rows == 0
    assert Answer("x", (), (), []).table().num_columns == 0
