"""Scenarios find their tables in a real database, MoMA's, and can write to them."""

from __future__ import annotations

import pytest

from labctl.lab.lifecycle.seeding import seed_lab
from labctl.latency.scenario import find_scenario
from labctl.latency.target_selection import on_tables, silver_rows
from labctl.latency.targets import describe_target
from labctl.latency.writing import prepare_rows, remove_rows
from labctl.sources import connect
from tests.integration.conftest import NewLab, Up

pytestmark = pytest.mark.long

ROWS = 100


def test_scenarios_write_to_the_table_that_momas_data_set_has_for_them(
    new_lab: NewLab, start: Up
) -> None:
    lab = new_lab("moma")
    start(lab, "postgres")
    seeded = seed_lab(lab, scale=0.01, connect=False)
    rows = silver_rows(lab)
    assert len(rows) == 4
    assert sum(rows.values()) == 2 * seeded.rows

    wanted = {"idle": ("moma_mor.artworks",), "snapshot": ("moma_mor.artists", "moma_mor.artworks")}
    for name, tables in wanted.items():
        assert on_tables(lab, find_scenario(lab.project, name)[1]).tables == tables

    table = lab.table("moma_mor.artworks")
    with connect(lab.endpoints, table.source) as source:
        target = describe_target(table, source)
        assert (target.key, target.number) == ("artwork_id", "artist_id")
        first = target.first_key(source)
        prepare_rows(source, target, first, ROWS)
        assert source.count(target.ref) == rows[table.name] + ROWS
        assert source.affect(target.update_statement(source), (7, first)) == 1
        remove_rows(source, target, first)
        assert source.count(target.ref) == rows[table.name]
