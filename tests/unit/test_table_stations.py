"""`labctl table check` says what is missing on a table's way, the first part of it first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from labctl.cli import table as commands
from labctl.cli.app import root
from labctl.config.lab_config import LabConfig
from labctl.errors import LabError
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import ConnectorStatus, PipelineStatus, SilverTableStatus
from labctl.lab.tables import table_stations as module
from labctl.lab.tables.table_stations import TableCheck, check_tables
from labctl.scaffolding.examples import example_source
from labctl.scaffolding.project import new_project, write_project
from labctl.sources import ENGINES, TableKeys, TableRef
from labctl.state.lab_state import LabState
from labctl.tables import LabTable

REF = TableRef("public", "customer")
TOPIC = "orders.public.customer"
CONNECTOR = ConnectorStatus("source_connector_orders", "RUNNING", ["RUNNING"])
SILVER = SilverTableStatus("shop.customer", "running", "MERGE_ON_READ", "1", 0, 0, None)


class World:
    """What the parts of a lab say; all is well."""

    engine = "postgres"

    def __init__(self) -> None:
        self.there = [REF]
        self.keys: tuple[str, ...] = ("customer_id",)
        self.is_recorded = True
        self.connectors = [CONNECTOR]
        self.silver = [SILVER]
        self.records = {0: 2}
        self.rows = 2

    def tables(self, schema: str) -> list[TableRef]:
        del schema
        return self.there

    def keys_of_tables(self, schema: str) -> dict[TableRef, TableKeys]:
        assert schema == REF.schema
        return {REF: TableKeys(self.keys, (self.keys,))} if self.keys else {}

    def count(self, ref: TableRef) -> int:
        del ref
        return 2

    def unrecorded(
        self, _: object, refs: Collection[TableRef], file: ConnectorFile
    ) -> dict[TableRef, str]:
        assert file.publication
        return {ref: "labctl connectors apply" for ref in refs if not self.is_recorded}

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None: ...


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(module, "connect", lambda *_: made)
    monkeypatch.setattr(
        module, "read_pipeline", lambda _: PipelineStatus(made.connectors, made.silver, None)
    )
    engine = replace(ENGINES["postgres"], unrecorded=made.unrecorded)
    monkeypatch.setattr(module, "ENGINES", {"postgres": engine})
    monkeypatch.setattr(module, "end_offsets", lambda *_: {TOPIC: made.records})
    monkeypatch.setattr(module, "silver_rows", lambda *_: made.rows)
    monkeypatch.setattr(Lab, "endpoints", SimpleNamespace(kafka=None))
    return made


def missing(folder: Path) -> list[str]:
    write_project(folder / "shop", new_project("shop", [example_source("orders", "postgres")]))
    config = LabConfig.load(folder / "shop" / "lab.toml")
    lab = Lab(folder / "shop", config, "native", LabState("shop"))
    (check,) = check_tables(lab, lab.tables)
    assert (check.table, check.source, check.topic) == ("shop.customer", f"orders {REF}", TOPIC)
    return list(check.missing)


def test_nothing_is_missing_where_all_is_well(world: World, tmp_path: Path) -> None:
    del world
    assert missing(tmp_path) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"there": []}, "its source has no table public.customer"),
        ({"keys": ()}, "has lost its primary key"),
        ({"keys": ("name",)}, "has the primary key name, and no unique index of customer_id"),
        ({"is_recorded": False}, "does not record its changes: labctl connectors apply"),
        ({"connectors": []}, "is not applied: labctl connectors apply"),
        ({"connectors": [ConnectorStatus(CONNECTOR.name, "FAILED", [], "lost")]}, "FAILED: lost"),
        ({"records": {}}, "has nothing: the connector has not read it yet"),
        ({"silver": []}, "does not know it: labctl up"),
        ({"rows": 1}, "2 rows in the source, 1 in silver now: labctl verify shop.customer"),
    ],
)
def test_the_first_thing_that_is_missing_is_said_first(
    world: World, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    vars(world).update(change)
    assert said in missing(tmp_path)[0]


def test_the_command_checks_all_silver_tables_unless_it_is_told_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_project(tmp_path / "shop", new_project("shop", [example_source("orders", "postgres")]))
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.setattr(Lab, "require_running", lambda self: self)
    checked = list[list[str]]()

    def check(_lab: Lab, tables: Sequence[LabTable]) -> list[TableCheck]:
        checked.append([table.name for table in tables])
        return []

    monkeypatch.setattr(commands, "check_tables", check)
    for arguments, code in (([], 0), (["shop.customer"], 0), (["customer"], 0), (["custmer"], 2)):
        done = CliRunner().invoke(root, ["table", "check", *arguments])
        error = done.exception
        found = int(error.exit_code) if isinstance(error, LabError) else done.exit_code
        assert found == code, done.output
    assert checked == [["shop.customer"]] * 3
