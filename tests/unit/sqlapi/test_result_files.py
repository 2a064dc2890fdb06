# ruff: noqa: S311 - chance, not secrets
"""Results of any size, written and read in pages."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import fs

from sqlapi.athena.layout import BLOCK_BYTES, Layout
from sqlapi.athena.result_writer import LONGEST_ROW, ResultWriter
from sqlapi.athena.results import Output, Results
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type
from sqlapi.storage import Storage

PLACE = "s3://bucket/results/a.csv"
TEXT = Type("varchar")


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    (tmp_path / "bucket").mkdir()
    return Storage(fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()))


def written(
    storage: Storage, folder: Path, batches: list[pa.RecordBatch], limit: int = 2**30
) -> Output:
    columns = [(f"name{i}", TEXT) for i in range(batches[0].num_columns)]
    with ResultWriter(columns, folder, limit) as result:
        for batch in batches:
            result.add(batch)
        result.put(storage, PLACE)
        return Output.of_query(columns, "hive", result.layout, result.beginning())


def batch(*columns: list[str | None]) -> pa.RecordBatch:
    arrays = [pa.array(column, pa.string()) for column in columns]
    return pa.record_batch(arrays, names=[f"c{i}" for i in range(len(columns))])


def pages(results: Results, output: Output, count: int) -> list[Any]:
    lines: list[Any] = []
    while len(lines) < output.rows:
        page = results.page(PLACE, output.columns, len(lines), count)
        assert 0 < len(page.lines) <= count
        lines += page.lines
    return lines


@pytest.mark.parametrize("columns", [1, 3])
def test_any_rows_come_back_in_pages_of_any_size(
    storage: Storage, tmp_path: Path, columns: int
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    texts = [None, "", "a", '"', ",", "\n", "ä\r\n", "long" * 300, "word" * 20_000]
    weights = [9] * 7 + [2, 0.1]
    batches = [
        batch(*(chance.choices(texts, weights, k=rows) for _ in range(columns)))
        for rows in chance.sample([0, 1, 2, 999, 1000, 1001, 3000], 4)
    ]
    output = written(storage, tmp_path, batches)
    expected = [line for one in batches for line in zip(*one.to_pydict().values(), strict=True)]
    before = Results(storage)
    before.write(PLACE, output)
    for results in (before, Results(storage)):  # the second knows the bucket alone
        assert pages(results, output, chance.randint(100, 1000)) == expected
        row = chance.randrange(len(expected))
        assert results.page(PLACE, output.columns, row, 1).lines == [expected[row]]
        assert results.page(PLACE, output.columns, len(expected), 10).lines == []


def test_a_page_is_bounded_by_bytes(storage: Storage, tmp_path: Path) -> None:
    output = written(storage, tmp_path, [batch(["x" * BLOCK_BYTES] * 100)])
    results = Results(storage)
    results.write(PLACE, output)
    assert len(results.page(PLACE, output.columns, 0, 1000).lines) < 30
    assert len(pages(results, output, 1000)) == 100


def test_a_result_with_too_many_bytes_is_refused(storage: Storage, tmp_path: Path) -> None:
    with pytest.raises(SqlError, match="The result has more than 1 MiB"):
        written(storage, tmp_path, [batch(["x" * 1000] * 1000)] * 2, limit=2**20)
    with pytest.raises(SqlError, match="A row of the result has more than 32 MiB"):
        written(storage, tmp_path, [batch(["x" * (LONGEST_ROW + 1)])])
    assert storage.list("s3://bucket") == []


def test_lines_of_a_utility_statement(storage: Storage) -> None:
    output = Output.of_lines(["name"], ["a\tb", "", "c\nd"])
    for results in (Results(storage), Results(storage)):
        results.write("s3://bucket/a.txt", output)
        page = results.page("s3://bucket/a.txt", output.columns, 1, 5)
        assert (page.lines, page.rows) == ([("",), ("c\\nd",)], 3)


def test_a_file_that_is_another_one_now_is_no_result(storage: Storage, tmp_path: Path) -> None:
    output = written(storage, tmp_path, [batch(["x" * 1000] * 2000)])
    Results(storage).write(PLACE, output)
    storage.write(PLACE, b'"name0"\n')
    with pytest.raises(OSError, match="other rows than were written"):
        Results(storage).page(PLACE, output.columns, 1500, 10)
    storage.write(f"{PLACE}.metadata", b"[]")
    with pytest.raises(OSError, match="was written by an earlier version"):
        Results(storage).page(PLACE, output.columns, 0, 10)


def test_a_row_is_found_by_its_block() -> None:
    layout = Layout(10, 100, ((0, 5), (4, 40), (9, 90)))
    assert [layout.block_of(row) for row in (0, 3, 4, 8, 9)] == [0, 0, 1, 1, 2]
    assert [layout.place(block) for block in range(3)] == [(5, 40), (40, 90), (90, 100)]
    assert Layout.of_json(layout.as_json()) == layout
