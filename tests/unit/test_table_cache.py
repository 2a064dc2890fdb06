"""Tables kept in files, by commit."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pyarrow as pa

from labctl.lake.table_cache import TableCache

LIMIT = 10_000


class Table:
    """Counts how often it is read. A commit adds a row."""

    def __init__(self, rows: int = 10) -> None:
        self.commits = 1
        self.reads: list[list[str]] = []
        self.some = 0
        self._rows = rows

    def last_commit(self) -> str:
        return str(self.commits)

    def read(self, columns: Sequence[str]) -> pa.Table:
        self.reads.append(list(columns))
        values = pa.array([self.commits] * (self._rows + self.commits), pa.int64())
        return pa.table(dict.fromkeys(columns, values))

    def read_some(self) -> pa.Table:
        self.some += 1
        return pa.table({"a": pa.array([self.commits])})

    def ask(self, cache: TableCache, *columns: str, some: bool = False) -> list[object]:
        found = cache.rows(
            id(self), self.last_commit(), columns, self.read, last_commit=self.last_commit,
            read_some=self.read_some if some else None,
        )  # fmt: skip
        if not some:
            assert found.column_names == list(columns)
        values: list[object] = found[columns[0]].to_pylist()
        return values


def test_a_commit_is_read_once_and_the_next_one_again(tmp_path: Path) -> None:
    cache, table = TableCache(tmp_path, LIMIT), Table()
    assert table.ask(cache, "a") == table.ask(cache, "a") == [1] * 11
    table.commits += 1
    assert table.ask(cache, "a") == table.ask(cache, "a") == [2] * 12
    assert table.reads == [["a"], ["a"]]


def test_columns_come_to_be_kept_together(tmp_path: Path) -> None:
    cache, table = TableCache(tmp_path, LIMIT), Table()
    for columns in (["a"], ["b"], ["b", "a"], ["a"]):
        assert len(table.ask(cache, *columns)) == 11
    assert table.reads == [["a"], ["b", "a"]]
    table.commits += 1
    table.ask(cache, "c")
    assert table.reads[-1] == ["c"], "a column of before may be there no more"


def test_some_rows_are_enough_until_a_table_is_asked_for_again(tmp_path: Path) -> None:
    cache, table = TableCache(tmp_path, LIMIT), Table()
    assert table.ask(cache, "a", some=True) == [1]
    assert (table.some, table.reads) == (1, [])
    for _ in range(2):
        assert table.ask(cache, "a", some=True) == [1] * 11
    assert (table.some, len(table.reads)) == (1, 1)
    table.commits += 1
    assert table.ask(cache, "a", some=True) == [2]
    assert (table.some, len(table.reads)) == (2, 1)


def test_what_was_asked_for_least_lately_goes_first(tmp_path: Path) -> None:
    cache = TableCache(tmp_path, LIMIT)
    tables = [Table(500) for _ in range(3)]  # of 4,000 bytes
    first, second, third = tables
    first.ask(cache, "a")
    second.ask(cache, "a")
    first.ask(cache, "a")
    third.ask(cache, "a")
    first.ask(cache, "a")
    assert [len(table.reads) for table in tables] == [1, 1, 1]
    second.ask(cache, "a")
    assert [len(table.reads) for table in tables] == [1, 2, 1]


def test_a_table_that_is_too_large_is_read_each_time(tmp_path: Path) -> None:
    cache, table = TableCache(tmp_path, LIMIT), Table(LIMIT)
    for _ in range(2):
        assert len(table.ask(cache, "a")) == LIMIT + 1
    assert table.ask(cache, "a", some=True) == table.ask(cache, "a", some=True) == [1]
    assert (table.reads, table.some) == ([["a"], ["a"]], 2)


def test_who_asks_at_the_same_time_waits_for_one_read(tmp_path: Path) -> None:
    cache, table, go = TableCache(tmp_path, LIMIT), Table(), Event()

    def read(columns: Sequence[str]) -> pa.Table:
        assert go.wait(30)
        return table.read(columns)

    with ThreadPoolExecutor(8) as pool:
        asked = [
            pool.submit(cache.rows, "t", "1", ["a"], read, last_commit=table.last_commit)
            for _ in range(8)
        ]
        go.set()
        assert {future.result().num_rows for future in asked} == {11}
    assert len(table.reads) == 1
