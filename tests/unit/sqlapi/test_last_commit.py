"""What a bucket tells about the last commit of its tables."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import fs, parquet

from sqlapi.sources.bucket import BucketSource
from sqlapi.storage import Storage


def source_of(folder: Path) -> BucketSource:
    storage = Storage(fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem()))
    return BucketSource(storage, "s3://lake/tables")


@pytest.mark.parametrize("timeline", [".hoodie", ".hoodie/timeline"])
def test_a_hudi_table_is_another_after_each_commit(timeline: str, tmp_path: Path) -> None:
    folder = tmp_path / "lake/tables/db/sale" / timeline
    folder.mkdir(parents=True)
    properties = "hoodie.table.type=COPY_ON_WRITE\n"
    (tmp_path / "lake/tables/db/sale/.hoodie/hoodie.properties").write_text(properties)
    source = source_of(tmp_path)
    (table,) = source.tables()
    seen = [source.last_commit(table)]
    for number in range(3):
        (folder / f"2025010100000{number}.commit").write_text("{}")
        seen.append(source.last_commit(table))
    assert len(set(seen)) == 4
    assert source.last_commit(table) == seen[-1]


def test_parquet_files_are_others_when_one_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "lake/tables/db/sale/day=1"
    folder.mkdir(parents=True)
    source = source_of(tmp_path)
    (table,) = source.tables()
    assert source.last_commit(table) is None
    seen = []
    for rows in ([1], [1, 2], [3, 4]):
        parquet.write_table(pa.table({"n": rows}), folder / "a.parquet")
        seen.append(source.last_commit(table))
    assert len(set(seen)) == 3
    assert source.last_commit(table) == seen[-1]
