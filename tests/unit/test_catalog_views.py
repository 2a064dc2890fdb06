"""Views of the catalog in `labctl query`: Athena's SQL inside of DuckDB's, now and then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pytest
from moto import mock_aws

from labctl.errors import ExitCode, LabError
from labctl.lake import Lake, View
from labctl.lake.catalog_views import CatalogViews
from labctl.lake.glue_changes import new_database, write
from labctl.lake.glue_sync import GlueSync
from labctl.lake.gold import GoldViews, load_views
from labctl.lake.lake import SparkView
from labctl.lake.objectstore import LakeStorage
from labctl.lake.spark_queries import SparkEngine, others
from labctl.lake.table_source import LakeSource
from tests.unit.hudi_by_hand import write_table

FIRST, SECOND = "20240101000000000", "20240102000000000"


def sales(*rows: tuple[int, int, str]) -> pa.Table:
    ids, cents, deleted = (list(column) for column in zip(*rows, strict=True))
    return pa.table({"id": pa.array(ids, pa.int32()), "cents": pa.array(cents, pa.int32()),
                     "__deleted": deleted})  # fmt: skip


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    commits = {
        FIRST: sales((1, 7, "false"), (2, 5, "false")),
        SECOND: sales((1, 8, "false"), (2, 5, "true"), (3, 4, "false")),
    }
    write_table(tmp_path, "shop.sale", commits)
    return Lake(LakeStorage.local(tmp_path))


@pytest.fixture
def glue(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A catalog with the lake's table, a view over it, and a view over that."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    for name, sql in (
        # in DuckDB's SQL, 8 / 3 is no whole number
        ("gold/thirds.sql", "SELECT id, cents / 3 AS third FROM shop.sale"),
        ("gold/totals.sql", "SELECT sum(third) AS total, count(*) AS sales FROM thirds"),
    ):
        file = tmp_path / "gold" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(sql)
    with mock_aws():
        make: Any = boto3.client
        client = make("glue", region_name="eu-central-1")
        source = LakeSource(lake)
        write(client, GlueSync(client, source).changes(source.tables()))
        views = load_views(tmp_path / "gold")
        write(client, GoldViews(client, views).changes(view.name for view in views))
        yield client


def test_a_view_is_read_beside_tables(lake: Lake, glue: Any) -> None:
    views = CatalogViews(glue, lake)
    sql = (
        "SELECT sale.id, cents, third FROM sale JOIN gold.thirds USING (id)"
        " WHERE cents > 4 ORDER BY ALL"
    )
    assert lake.query(sql, views=views).to_pylist() == [{"id": 1, "cents": 8, "third": 2}]
    (row,) = lake.query("FROM GOLD.Totals", views=views).to_pylist()
    assert row == {"total": 3, "sales": 2}


def test_a_view_shows_the_tables_as_the_query_does(lake: Lake, glue: Any) -> None:
    views = CatalogViews(glue, lake)
    sql = "SELECT id, third FROM gold.thirds ORDER BY id"
    then = lake.query(sql, View.parse(as_of="2024-01-01 12:00:00"), views=views)
    assert then.to_pylist() == [{"id": 1, "third": 2}, {"id": 2, "third": 1}]
    everything = lake.query(sql, View.parse(deleted=True), views=views)
    assert everything["id"].to_pylist() == [1, 2, 3]
    with pytest.raises(LabError, match=r"gold\.thirds is a view, and has no changes"):
        lake.query(sql, View.parse(begin="2024-01-01 12:00:00"), views=views)


def test_what_is_neither_table_nor_view(lake: Lake, glue: Any) -> None:
    views = CatalogViews(glue, lake)
    for name in ("gold.nothing", "nowhere.thirds"):
        with pytest.raises(LabError, match="There is no silver table") as caught:
            lake.query(f"SELECT * FROM {name}", views=views)
        assert caught.value.exit_code is ExitCode.USAGE
    write(glue, [new_database("other")])
    parquet = {"Location": "s3://elsewhere/x", "InputFormat": "parquet",
               "Columns": [{"Name": "a", "Type": "int"}]}  # fmt: skip
    table = {"Name": "t", "TableType": "EXTERNAL_TABLE", "StorageDescriptor": parquet}
    glue.create_table(DatabaseName="other", TableInput=table)
    with pytest.raises(LabError, match="There is no silver table"):
        lake.query("SELECT * FROM other.t", views=views)


def test_what_is_wrong_in_a_view_is_said(lake: Lake, glue: Any, tmp_path: Path) -> None:
    glue.delete_table(DatabaseName="gold", Name="thirds")
    with pytest.raises(LabError, match=r"View gold\.totals: TABLE_NOT_FOUND"):
        lake.query("SELECT * FROM gold.totals", views=CatalogViews(glue, lake))


def test_a_view_is_told_for_spark(lake: Lake, glue: Any, tmp_path: Path) -> None:
    file = tmp_path / "gold" / "gold" / "cheap.sql"
    file.write_text("SELECT sum(cents) AS cents, count(*) AS n FROM shop.sale WHERE cents < 8")
    made = load_views(tmp_path / "gold")
    write(glue, GoldViews(glue, made).changes(["gold.cheap"]))
    views = CatalogViews(glue, lake)
    (found,) = views.for_spark(["gold.cheap", "gold.nothing", "shop.sale"], View())
    assert found.inputs == ("shop.sale",)
    assert found.columns == (("cents", "bigint"), ("n", "bigint"))
    assert "FROM `lab_in_0` AS `sale` WHERE `cents` < 8" in found.sql
    with pytest.raises(LabError, match=r"View gold\.thirds: .*cents / 3 is not known") as caught:
        views.for_spark(["gold.thirds"], View())
    assert caught.value.exit_code is ExitCode.USAGE
    with pytest.raises(LabError, match=r"gold\.cheap is a view, and has no changes"):
        views.for_spark(["gold.cheap"], View.parse(begin="2024-01-01 12:00:00"))


def test_spark_is_asked_for_the_views_that_a_query_reads(lake: Lake, glue: Any) -> None:
    engine = SparkEngine(jars=[])
    tables = [lake.table("shop.sale")]
    for sql, names in (
        ("SELECT * FROM Gold.Totals t JOIN sale ON sale.id = t.sales", ["gold.totals"]),
        ("SELECT sale.id FROM shop.sale", []),
        ("SELECT 'gold.totals' FROM sale WHERE", []),
    ):
        assert others(sql, [table.name for table in tables]) == names
    shown = [SparkView("gold.totals", "SELECT 1 AS a", ("shop.sale",), (("a", "integer"),))]
    asked = engine.request("SELECT * FROM gold.totals", tables, View(), Path("/f"), shown)
    assert asked["sql"] == "SELECT * FROM `gold.totals`"
    assert [table["name"] for table in asked["inputs"]] == ["shop.sale"]
    assert asked["views"][0]["columns"] == (("a", "integer"),)
