"""A silver table by the names of `sqlapi.table_format`: now, then, changes, lost files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from labctl.errors import ExitCode, LabError
from labctl.lake import LakeStorage, View
from labctl.lake.silver_table import SilverTable
from tests.unit.hudi_by_hand import write_table

FIRST, SECOND = "20240101000000000", "20240102000000000"


@pytest.fixture
def table(tmp_path: Path) -> SilverTable:
    write_table(
        tmp_path,
        "shop.item",
        {FIRST: pa.table({"id": [1]}), SECOND: pa.table({"id": [1, 2], "name": ["a", "b"]})},
    )
    return SilverTable("shop.item", "silver/shop/item", LakeStorage.local(tmp_path))


def test_rows_and_columns_are_those_of_the_moment(table: SilverTable) -> None:
    assert table.read(columns=["id", "name"]).to_pylist() == [
        {"id": 1, "name": "a"},
        {"id": 2, "name": "b"},
    ]
    then = View(as_of=FIRST)
    assert table.read(columns=["id"], view=then).to_pylist() == [{"id": 1}]
    assert "name" in table.schema().names
    assert "name" not in table.schema(then).names
    with pytest.raises(LabError, match="has no column name") as caught:
        table.read(columns=["name"], view=then)
    assert caught.value.exit_code is ExitCode.USAGE


def test_changes_are_the_rows_that_a_commit_wrote(table: SilverTable) -> None:
    history = table.timeline()
    assert (history.first, history.latest) == (FIRST, SECOND)
    rows = table.stored.changes().between(history, FIRST, SECOND)
    assert set(rows["id"].to_pylist()) == {1, 2}


def test_a_lost_file_is_named_with_the_next_step(table: SilverTable) -> None:
    newest, *_ = table.last_files()
    path = table.last_files()[newest]
    assert path == f"{table.path}/{newest}"
    Path(table.storage.path(path)).unlink()
    assert table.last_files()[newest] is None
    for look in (table.read, lambda: table.check(table.timeline())):
        with pytest.raises(LabError, match=f"item is damaged: its file {newest} is miss") as caught:
            look()
        assert caught.value.hint
        assert "labctl table rebuild shop.item" in caught.value.hint


@pytest.mark.parametrize(
    ("path", "is_write"),
    [
        (f".hoodie/timeline/{FIRST}_{SECOND}.deltacommit", True),
        (f".hoodie/timeline/{FIRST}.deltacommit.inflight", False),
        (f".hoodie/timeline/{FIRST}_{SECOND}.clean", False),
        (f"{FIRST}_{SECOND}.deltacommit", False),
        ("", False),
    ],
)
def test_a_completed_write_is_known_by_the_file_that_announces_it(
    table: SilverTable, path: str, is_write: bool
) -> None:
    write = table.stored.write_of(path)
    assert (write is not None) is is_write
    if write:
        assert (write.requested, write.completed) == (FIRST, SECOND)
