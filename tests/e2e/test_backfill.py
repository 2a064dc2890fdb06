"""Values that no change brings: their table is loaded again while changes go on."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator

import pytest

from labctl.errors import ExitCode
from labctl.lab.lab import Lab
from labctl.lab.tables.verification import verify_lab
from labctl.sources import Source, TableRef
from labctl.testing.plugin import SilverReader
from tests.e2e.second_source import ORDERS, SILVER, SOURCE
from tests.e2e.wide_tables import SPARE

pytestmark = pytest.mark.long

MOR = next(name for name, kind in SILVER.items() if kind == "MERGE_ON_READ")
Labctl = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def drop_columns(source: Callable[[str], Source]) -> Iterator[Callable[[str, TableRef], None]]:
    """`drop_columns("mysql", SPARE)`: once the test is over, drop the columns that it adds."""
    before: dict[tuple[str, TableRef], list[str]] = {}

    def remember(name: str, ref: TableRef) -> None:
        before[name, ref] = [column.name for column in source(name).describe(ref).columns]

    yield remember
    for (name, ref), known in before.items():
        for column in source(name).describe(ref).columns:
            if column.name not in known:
                source(name).execute(f"ALTER TABLE {ref} DROP COLUMN {column.name}")


@pytest.mark.parametrize(
    ("name", "ref", "table"), [(SOURCE, ORDERS, MOR), ("mysql", SPARE, SPARE.name)]
)
def test_a_column_with_a_default_is_added_and_renamed(
    name: str,
    ref: TableRef,
    table: str,
    lab: Lab,
    labctl: Labctl,
    source: Callable[[str], Source],
    silver: SilverReader,
    new_key: Callable[[], int],
    verify_equal: Callable[..., None],
    drop_columns: Callable[[str, TableRef], None],
) -> None:
    """`verify` names the way back, and a row that was deleted does not come back by it."""
    drop_columns(name, ref)
    database, old, gone, new = source(name), new_key(), new_key(), new_key()
    database.execute(f"INSERT INTO {ref} (id) VALUES ({old}), ({gone})")
    verify_equal(table)
    state, status = f"state_{new}", f"status_{new}"
    database.execute(f"ALTER TABLE {ref} ADD COLUMN {state} varchar(20) NOT NULL DEFAULT 'new'")
    database.execute(f"DELETE FROM {ref} WHERE id = {gone}")
    database.execute(f"INSERT INTO {ref} (id) VALUES ({new})")
    (verdict,) = verify_lab(lab, [table]).tables
    assert verdict.diff is not None
    assert verdict.diff.different
    told = labctl("verify", table, "--lab", lab.name)
    assert f"connectors backfill {lab.table(table).name}" in told.stdout

    loaded = labctl("connectors", "backfill", table, "--lab", lab.name)
    assert loaded.returncode == ExitCode.OK, loaded.stderr
    verify_equal(table)
    assert silver(table, f"id = {old}")[0][state] == "new"
    assert silver(table, f"id = {gone}") == []

    database.execute(f"ALTER TABLE {ref} RENAME COLUMN {state} TO {status}")
    database.execute(f"INSERT INTO {ref} (id) VALUES ({new_key()})")
    arguments = ["--column", status, "--where", f"id = {old}", "--lab", lab.name]
    loaded = labctl("connectors", "backfill", table, *arguments)
    assert loaded.returncode == ExitCode.OK, loaded.stderr
    assert "1 row was loaded" in loaded.stdout
    assert silver(table, f"id = {old}")[0][status] == "new"
    loaded = labctl("connectors", "backfill", table, "--lab", lab.name)
    assert loaded.returncode == ExitCode.OK, loaded.stderr
    verify_equal(table)


def test_a_part_that_the_source_does_not_know_is_refused(lab: Lab, labctl: Labctl) -> None:
    for wrong in (["--column", "nothing"], ["--where", "nothing = 1"]):
        done = labctl("connectors", "backfill", MOR, *wrong, "--lab", lab.name)
        assert done.returncode == ExitCode.USAGE
        assert "nothing" in done.stderr
