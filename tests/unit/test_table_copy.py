"""Copies of a table's files: what is asked of the store, what stays here, and for how long."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from sqlapi.hudi.table_copies import TableCopies
from sqlapi.hudi.table_copy import TableCopy
from sqlapi.hudi.timeline import Timeline
from sqlapi.table_folder import TableFolder
from sqlapi.table_format import TableError

FIRST = "20240101000000000_20240101000001000.deltacommit"
SECOND = "20240101000002000_20240101000003000.deltacommit"
VERSION_9 = "hoodie.table.version=9\nhoodie.timeline.path=elsewhere\n"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The objects that were asked for, by name."""
    names: list[str] = []
    read = TableFolder.read

    def noted(self: TableFolder, relative: str) -> bytes:
        names.append(relative.rpartition("/")[2])
        return read(self, relative)

    monkeypatch.setattr(TableFolder, "read", noted)
    return names


def made(root: Path, name: str = "sale", properties: str = VERSION_9) -> TableFolder:
    folder = root / "silver" / name
    (folder / ".hoodie/elsewhere").mkdir(parents=True)
    (folder / ".hoodie/hoodie.properties").write_text(properties)
    (folder / ".hoodie/elsewhere" / FIRST).write_text('{"number": 1}')
    (folder / "a.parquet").write_text("first")
    return TableFolder.local(folder)


def held(copy: TableCopy) -> dict[str, str]:
    """What is in the copy's folder, by path."""
    folder = Path(copy.folder.path)
    return {
        str(file.relative_to(folder)): file.read_text()
        for file in folder.rglob("*")
        if file.is_file() and file.name != "hoodie.properties"
    }


def current(copies: TableCopies, table: TableFolder) -> TableFolder | None:
    return copies.current(table, Timeline.load(table), table.list(recursive=True))


def test_only_what_is_new_is_asked_for(tmp_path: Path, asked: list[str]) -> None:
    table = made(tmp_path)
    timeline = Timeline.load(table)
    copy = TableCopy(table)
    asked.clear()
    copy.show(timeline, timeline.instants)
    copy.hold({"a.parquet": 5})
    assert held(copy) == {f".hoodie/timeline/{FIRST}": "", "a.parquet": "first"}
    copy.tell(timeline, timeline.instants)
    assert copy.tell(timeline, timeline.instants) == [b'{"number": 1}']

    folder = Path(table.path)
    (folder / ".hoodie/elsewhere" / SECOND).write_text('{"number": 2}')
    (folder / "place=here").mkdir()
    (folder / "place=here/b.parquet").write_text("second")
    timeline = timeline.refreshed()
    copy.show(timeline, timeline.instants)
    copy.tell(timeline, timeline.instants)
    copy.hold({"a.parquet": 5, "place=here/b.parquet": 6})
    assert asked == ["a.parquet", FIRST, SECOND, "b.parquet"]

    copy.show(timeline, timeline.instants[1:])
    copy.hold({"place=here/b.parquet": 6})
    assert held(copy) == {
        f".hoodie/timeline/{SECOND}": '{"number": 2}',
        "place=here/b.parquet": "second",
    }


@pytest.mark.parametrize("path", ["../../../out", "/out", "a/../../out", ".."])
def test_a_file_stays_in_the_copys_folder(tmp_path: Path, path: str) -> None:
    table = made(tmp_path)
    copy = TableCopy(table)
    with pytest.raises(TableError, match="names a file elsewhere"):
        copy.hold({path: 5})
    assert not list(Path(copy.folder.path).iterdir())


def test_a_copys_folder_goes_with_it(tmp_path: Path) -> None:
    copy = TableCopy(made(tmp_path))
    folder = Path(copy.folder.path)
    assert folder.stat().st_mode & 0o777 == 0o700
    del copy
    gc.collect()
    assert not folder.exists()


def test_the_copies_read_last_are_kept(tmp_path: Path, asked: list[str]) -> None:
    one, two = made(tmp_path, "one"), made(tmp_path, "two")
    copies = TableCopies(most_bytes=9)
    for table in (one, one, two, two, one):
        assert (copy := current(copies, table)) and Timeline.load(copy).writes
        assert copies.held_bytes == 5
    assert asked.count("a.parquet") == 3

    (Path(one.path) / "b.parquet").write_text("large")
    assert current(copies, one) is None


def test_a_timeline_that_goes_by_the_times_of_files_is_not_copied(tmp_path: Path) -> None:
    table = made(tmp_path, properties="hoodie.table.version=6\n")
    assert current(TableCopies(), table) is None
