"""The lake as the SQL endpoint's table source."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from labctl.lake import Lake
from labctl.lake.table_source import LakeSource
from labctl.lake.view import View
from sqlapi.source import MergeView, SourceError, SourceTable
from tests.integration.lake.tables import MOR, HudiTable, compacted

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def test_both_views_of_a_table(spark: SparkSession, lake: Lake) -> None:
    table = HudiTable(spark, lake.storage.spark_uri, "for_sql", MOR)
    compacted(table)
    source = LakeSource(lake)
    (found,) = [t for t in source.tables() if t.name == "for_sql"]
    before = source.last_commit(found)
    assert before == source.last_commit(found)
    table.change([1], "d")
    assert (source.last_commit(found) or "") > (before or "")
    assert (found.database, found.kind) == ("tickit", MOR)
    for optimized in (False, True):
        view = MergeView(read_optimized=optimized)
        assert "salesid" in source.schema(found).names
        rows = source.read(found, ["salesid"], view)
        expected = lake.read("for_sql", ["salesid"], View(read_optimized=optimized))
        assert set(rows["salesid"].to_pylist()) == set(expected["salesid"].to_pylist())
    keys = [
        source.read(found, ["salesid"], MergeView(o))["salesid"].to_pylist() for o in (True, False)
    ]
    assert 1 in keys[0]
    assert 1 not in keys[1]
    assert source.last_commit(SourceTable("tickit", "none", "s3://x/none")) is None
    with pytest.raises(SourceError):
        source.read(SourceTable("tickit", "none", "s3://x/none"), ["salesid"], MergeView())
