"""What a project says of its tables is applied once, and again only when it has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from labctl.config.lab_config import LabConfig
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle import own_schema
from labctl.lab.lifecycle.own_schema import apply_schema, check_schemas
from labctl.state.lab_state import LabState

# A socket's path is short, and pytest's own folders are deep.
pytestmark = pytest.mark.usefixtures("state_home")


class Database:
    engine = "postgres"

    def __init__(self) -> None:
        self.ran: list[str] = []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> list[object]:
        del parameters
        self.ran.append(sql)
        return []

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None: ...


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Database:
    made = Database()
    monkeypatch.setattr(own_schema, "connect", lambda *_: made)
    monkeypatch.setattr(own_schema, "client_environment", lambda _: {"PGPORT": "5433"})
    return made


def lab_of(project: Path, **keys: str) -> Lab:
    source: dict[str, Any] = {
        "engine": "postgres",
        "database": "shop",
        "schemas": ["public"],
        "connector": "source_connector_orders",
    }
    config = LabConfig.model_validate({"sources": {"orders": source | keys}})
    state = LabState("lab")
    state.create()
    state.save(name="lab")
    lab = Lab(project, config, "native", state)
    sources = {"orders": SimpleNamespace(database="shop")}
    lab.__dict__["endpoints"] = cast("Any", SimpleNamespace(sources=sources))
    return lab


def test_a_file_is_applied_when_it_has_changed_and_rows_once(
    tmp_path: Path, database: Database
) -> None:
    schema, rows = tmp_path / "schema.sql", tmp_path / "rows.sql"
    schema.write_text("CREATE TABLE a ()")
    rows.write_text("INSERT INTO a DEFAULT VALUES")
    lab = lab_of(tmp_path, schema_file="schema.sql", rows_file="rows.sql")
    assert [one.kind for one in apply_schema(lab, "orders")] == ["schema_file", "rows_file"]
    assert apply_schema(lab, "orders") == []
    schema.write_text("CREATE TABLE b ()")
    rows.write_text("INSERT INTO b DEFAULT VALUES")
    assert [one.what for one in apply_schema(lab, "orders")] == ["schema.sql"]
    assert database.ran == [
        "CREATE TABLE a ()",
        "INSERT INTO a DEFAULT VALUES",
        "CREATE TABLE b ()",
    ]


def test_what_is_wrong_with_a_file_is_said_before_anything_starts(
    tmp_path: Path,
) -> None:
    lab = lab_of(tmp_path, schema_file="db/schema.sql")
    with pytest.raises(LabError) as missing:
        check_schemas(lab)
    assert "sources.orders: there is no" in missing.value.what
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "schema.sql").write_text("SELECT 'open")
    with pytest.raises(LabError) as broken:
        check_schemas(lab)
    assert missing.value.exit_code is broken.value.exit_code is ExitCode.USAGE


def test_a_migration_is_run_in_the_project_with_the_labs_variables(
    tmp_path: Path, database: Database
) -> None:
    del database
    write = 'echo "$PGDATABASE $PGPORT $LABCTL_SOURCE" >> said'
    lab = lab_of(tmp_path, migrate=write)
    for _ in range(2):
        assert [one.kind for one in apply_schema(lab, "orders")] == ["migrate"]
    assert (tmp_path / "said").read_text() == "shop 5433 orders\n" * 2


def test_a_migration_that_fails_is_told_with_its_last_lines(
    tmp_path: Path, database: Database
) -> None:
    del database
    lab = lab_of(tmp_path, migrate="echo cannot find head; exit 3")
    with pytest.raises(LabError) as caught:
        apply_schema(lab, "orders")
    assert "exited with 3" in caught.value.what
    assert caught.value.details == ("cannot find head",)
