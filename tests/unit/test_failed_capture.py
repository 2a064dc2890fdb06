"""A connector that failed for a table says for which; a table like it is not brought along."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from labctl.config.lab_config import LabConfig
from labctl.engines.postgres.postgres_types import POSTGRES
from labctl.errors import LabError
from labctl.lab.connectors.failed_capture import why_failed
from labctl.lab.lab import Lab
from labctl.lab.tables import table_fitness
from labctl.scaffolding import existing
from labctl.scaffolding.examples import example_source
from labctl.scaffolding.new_connectors import source_text
from labctl.scaffolding.project import new_project, write_project
from labctl.sources import SourceTable, TableRef
from labctl.sources.base import Declared, Row
from labctl.sources.capture_limits import Limits
from labctl.state.lab_state import LabState

TRACE = (
    "org.apache.kafka.connect.errors.ConnectException: An exception\n"
    "Caused by: org.apache.kafka.connect.errors.SchemaBuilderException: Cannot create field "
    "because of field name duplication unit_price\n"
)
CONNECTOR = "source_connector_orders"


def described(ref: TableRef, *, keys: tuple[str, ...] = ("id",)) -> SourceTable:
    names = ("id", "unit price", "unit_price") if ref.name == "twins" else ("id", "name")
    columns = [(name, Declared("text", "text"), True) for name in names]
    return SourceTable.of(ref, POSTGRES, columns, keys)


class Database:
    engine = "postgres"

    def __init__(self, *names: str) -> None:
        self.names = names

    def tables(self, schema: str) -> list[TableRef]:
        return [TableRef(schema, name) for name in self.names]

    def describe(self, ref: TableRef) -> SourceTable:
        return described(ref)

    def execute(self, *_: object) -> list[Row]:
        return []

    def qualified(self, ref: TableRef) -> str:
        return str(ref)


@pytest.fixture
def lab(state_home: Path) -> Lab:
    folder = state_home / "project"
    write_project(folder, new_project("shop", [example_source("orders", "postgres")]))
    lab = Lab(folder, LabConfig.load(folder / "lab.toml"), "native", LabState("shop"))
    vars(lab)["endpoints"] = None
    return lab


def test_the_table_and_the_setting_are_named(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database("customer", "twins")
    monkeypatch.setattr(table_fitness, "connect", lambda *_: nullcontext(database))
    said = why_failed(lab, TRACE, CONNECTOR)
    assert said.startswith("public.twins: its columns 'unit price' and 'unit_price'")
    assert "column.exclude.list" in said
    assert said.endswith(f"labctl connectors apply {CONNECTOR}")
    # Another cause, and one that no table is to blame for, are told as they are.
    assert why_failed(lab, "java.lang.Oops: no", CONNECTOR) == "java.lang.Oops: no"
    database.names = ("customer",)
    assert why_failed(lab, TRACE, CONNECTOR).endswith("field name duplication unit_price")


def test_a_column_that_differs_in_case_only_is_to_be_renamed(lab: Lab) -> None:
    trace = (
        "io.debezium.DebeziumException: Table 'public.t' has columns that differ only by case. "
        "Column name: 'V'. Please rename it."
    )
    said = why_failed(lab, trace, CONNECTOR)
    assert said.startswith("public.t: its column 'V' ")
    assert "ALTER TABLE public.t RENAME COLUMN" in said
    assert f"labctl connectors snapshot {CONNECTOR} (with --start-over" in said


def test_a_database_that_does_not_answer_leaves_the_trace(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise LabError("not reached")

    monkeypatch.setattr(table_fitness, "connect", refuse)
    assert why_failed(lab, TRACE, CONNECTOR).endswith("field name duplication unit_price")


def test_a_new_project_leaves_such_a_table_out_also_without_a_key() -> None:
    refs = [TableRef("public", name) for name in ("customer", "twins")]
    config = json.loads(source_text("shop", "postgres", ["public"]))
    for keys in (("id",), ()):
        tables = [described(ref, keys=keys) for ref in refs]
        left_out = existing._left_out(config, "postgres", tables, dict.fromkeys(refs, Limits()))
        assert list(left_out) == [refs[1]]
        assert "both become unit_price" in left_out[refs[1]]
