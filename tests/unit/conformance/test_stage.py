"""The copy of a project that a run uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from labctl.config.lab_config import find_project
from labctl.conformance.conformance_run import Plan, planned_cases
from labctl.conformance.stage import SILVER, Stage, copied
from labctl.engine_names import EngineName
from labctl.kafkaconnect.connector_files import read_connector
from labctl.lab.connectors.connector_states import check_files, check_sink_files
from labctl.lab.connectors.source_files import source_file
from labctl.lab.lab import Lab
from labctl.tables import CONNECTORS

ENGINES: tuple[EngineName, ...] = ("postgres", "mysql", "sqlserver")
PROJECT = find_project(Path(__file__))


@pytest.fixture
def lab(state_home: Path) -> Lab:
    return Lab.find(project=PROJECT)


def test_the_copy_is_a_project_with_the_tables_of_the_user_and_its_own_sources(
    lab: Lab, tmp_path: Path
) -> None:
    before = sorted((PROJECT / CONNECTORS).iterdir())
    copy = copied(lab, tmp_path / "copy", ENGINES)
    check_files(copy)
    check_sink_files(copy)
    names = {table.name for table in copy.tables}
    assert names > {table.name for table in lab.tables}
    assert {name for name in names if name.startswith(f"{SILVER}.")} == {f"{SILVER}.waiting"}
    for engine in ENGINES:
        assert source_file(copy, Stage.source(engine)).config["topic.prefix"] == (
            f"conformance-{engine}"
        )
    assert sorted((PROJECT / CONNECTORS).iterdir()) == before


def test_no_connector_of_the_copy_reads_by_a_slot_or_server_of_the_users(
    lab: Lab, tmp_path: Path
) -> None:
    copy = copied(lab, tmp_path / "copy", ENGINES)
    for key in ("slot.name", "publication.name", "database.server.id"):
        own = {source_file(copy, Stage.source(engine)).config.get(key) for engine in ENGINES}
        theirs = {
            read_connector(file).config.get(key) for file in (PROJECT / CONNECTORS).glob("*.json")
        }
        assert not (own & theirs) - {None}


def test_a_run_takes_the_engines_in_turn_and_one_seed_gives_one_table() -> None:
    planned = [*planned_cases(Plan(first_seed=7, tables=5), ["postgres", "mysql"])]
    assert [(case.engine, case.seed) for case in planned] == [
        ("postgres", 7),
        ("mysql", 7),
        ("postgres", 8),
        ("mysql", 8),
        ("postgres", 9),
    ]
    (again,) = planned_cases(Plan(first_seed=8, tables=1), ["mysql"])
    assert again == planned[3]
