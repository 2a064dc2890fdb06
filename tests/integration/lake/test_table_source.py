"""The lake as the SQL endpoint's table source."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from labctl.lake import Lake
from labctl.lake.table_cache import TableCache
from labctl.lake.table_source import LakeSource
from labctl.lake.view import View
from sqlapi.source import PATH, MergeView, SourceError, SourceTable
from tests.integration.lake.tables import BUCKETS, COW, EVOLVED, MOR, HudiTable, compacted, plain

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

FILE = "_hoodie_file_name"


@pytest.mark.parametrize("cached", [False, True], ids=["plain", "cached"])
def test_both_views_of_a_table(
    spark: SparkSession, lake: Lake, cached: bool, tmp_path: Path
) -> None:
    cache = TableCache(tmp_path / "tables", 1024**2) if cached else None
    name = "for_sql_cached" if cache else "for_sql"
    table = HudiTable(spark, lake.storage.spark_uri, name, MOR)
    compacted(table)
    source = LakeSource(lake, cache=cache)
    (found,) = [t for t in source.tables() if t.name == name]
    # What is kept is no answer to what is asked after the next commit.
    assert 1 in source.read(found, ["salesid"], MergeView())["salesid"].to_pylist()
    before = source.last_commit(found)
    assert before == source.last_commit(found)
    table.change([1], "d")
    assert (source.last_commit(found) or "") > (before or "")
    assert (found.database, found.kind) == ("tickit", MOR)
    for optimized in (False, True):
        view = MergeView(read_optimized=optimized)
        assert "salesid" in source.schema(found).names
        rows = source.read(found, ["salesid"], view)
        expected = lake.read(name, ["salesid"], View(read_optimized=optimized))
        assert set(rows["salesid"].to_pylist()) == set(expected["salesid"].to_pylist())
    keys = [
        source.read(found, ["salesid"], MergeView(o))["salesid"].to_pylist() for o in (True, False)
    ]
    assert 1 in keys[0]
    assert 1 not in keys[1]
    columns = ["qtysold", "salesid"]
    for _ in range(3):
        only = source.read(found, columns, MergeView(), [("salesid", "<=", "3")])
        assert only.column_names == columns
        assert {2, 3} == {key for key in only["salesid"].to_pylist() if key in range(4)}
    evolved = source.schema(found)
    table.change([2], schema=EVOLVED)
    assert set(source.schema(found).names) - set(evolved.names) == {"promo", "bonus"}
    evolved_rows = source.read(found, ["salesid", "promo"], MergeView()).to_pylist()
    assert {"salesid": 2, "promo": "promo2"} in evolved_rows
    assert source.last_commit(SourceTable("tickit", "none", "s3://x/none")) is None
    with pytest.raises(SourceError):
        source.read(SourceTable("tickit", "none", "s3://x/none"), ["salesid"], MergeView())


@pytest.mark.parametrize("kind", [COW, MOR])
def test_each_row_is_in_the_file_that_its_path_names(
    kind: str, spark: SparkSession, lake: Lake
) -> None:
    name = f"paths_{kind.lower()}"
    table = HudiTable(spark, lake.storage.spark_uri, name, kind, dict(BUCKETS))
    (compacted if kind == MOR else plain)(table)
    source = LakeSource(lake)
    (found,) = [t for t in source.tables() if t.name == name]
    rows = source.read(found, ["salesid", FILE, PATH], MergeView()).to_pylist()
    assert len({row[PATH] for row in rows}) == 4
    # Rows that were changed since the compaction are in log files, and name no file.
    in_logs = [row for row in rows if not row[FILE].endswith(".parquet")]
    assert bool(in_logs) == (kind == MOR)
    for row in rows:
        if row not in in_logs:
            assert row[PATH] == f"{found.location}/{row[FILE]}"
    for path in {row[PATH] for row in rows}:
        place = f"{lake.storage.root}/{path.removeprefix(lake.storage.uri).lstrip('/')}"
        stored = parquet.read_table(place, columns=["salesid"])["salesid"].to_pylist()
        shown = {row["salesid"] for row in rows if row[PATH] == path}
        assert shown - {400} <= set(stored)
    compacted_only = MergeView(read_optimized=True)
    for row in source.read(found, [FILE, PATH], compacted_only).to_pylist():
        assert row[PATH] == f"{found.location}/{row[FILE]}"
