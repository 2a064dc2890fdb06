"""A table in the other type for a run, in its place or beside it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from labctl.config.lab_config import LabConfig
from labctl.lab.lab import Lab
from labctl.latency.shadow_tables import Twin, config_meanwhile, type_of, write_twin
from labctl.state.lab_state import LabState
from labctl.tables import PROPERTIES, LabTable, lab_tables
from lakecontract.properties import TableConfig, load_tables

PROJECT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PROJECT / PROPERTIES, tmp_path / "properties"))


def sale() -> LabTable:
    tables = lab_tables(PROJECT, LabConfig.load(PROJECT / "lab.toml"))
    return next(table for table in tables if table.name == "tickit.sale")


def by_name(folder: Path) -> dict[str, TableConfig]:
    return {table.name: table for table in load_tables([folder])}


def test_a_twin_of_another_type_takes_the_tables_place(folder: Path) -> None:
    before = by_name(folder)
    assert type_of(sale()) == "mor"
    write_twin(
        folder / sale().properties.file.name, Twin(sale(), "sale_cow", "cow", in_its_place=True)
    )
    after = by_name(folder)
    assert set(after) == {*before, "tickit.sale_cow"} - {"tickit.sale"}
    twin = after["tickit.sale_cow"]
    assert twin.table_type == "COPY_ON_WRITE"
    assert (twin.topic, twin.key_fields) == (
        before["tickit.sale"].topic,
        before["tickit.sale"].key_fields,
    )
    differing = {k for k in twin.hoodie if twin.hoodie[k] != before["tickit.sale"].hoodie.get(k)}
    assert differing == {
        "hoodie.table.name",
        "hoodie.datasource.write.table.type",
        "hoodie.bucket.index.num.buckets",
    }


def test_twins_can_stand_beside_their_table(folder: Path) -> None:
    before = by_name(folder)
    for number in (1, 2):
        write_twin(
            folder / sale().properties.file.name,
            Twin(sale(), f"sale_{number}", "mor", in_its_place=False),
        )
    assert set(by_name(folder)) == {*before, "tickit.sale_1", "tickit.sale_2"}


def test_the_api_goes_on_with_the_tables_that_are_left_alone() -> None:
    """Also where a twin takes the place of one of them."""
    config = LabConfig.load(PROJECT / "lab.toml")
    state = LabState("twins")
    assert config_meanwhile(Lab(PROJECT, config, "native", state), None).api.database is None
    lab = Lab(PROJECT, config.switching_on(["api"]), "native", state)
    assert config_meanwhile(lab, None).api.database == "tickit"
