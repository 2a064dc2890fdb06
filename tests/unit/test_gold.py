"""The views of gold/: over tables as silver has them, in AWS's Glue, which moto plays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pytest
from moto import mock_aws

from labctl.errors import ExitCode, LabError
from labctl.lake.glue_changes import Change, write
from labctl.lake.glue_sync import GlueSync
from labctl.lake.gold import GoldView, GoldViews, load_views, views_over
from labctl.shipped import shipped
from sqlapi.catalog.views import view_text
from sqlapi.sources.memory import MemorySource
from sqlapi.sql.scope import Table
from tests.unit.sqlapi.asking import Tables, ask

GOLD = shipped("gold")
SALES = "tickit_gold.sales_by_day_and_category"
NAMES = ("view_tickit_sales_by_day_and_category", "tickit_sales_by_day_and_category")
LIKES = ("sports", "theatre", "concerts", "jazz", "classical", "opera", "rock", "vegas",
         "broadway", "musicals")  # fmt: skip
TEXTS = {
    "category": ("catgroup", "catname", "catdesc"),
    "venue": ("venuename", "venuecity", "venuestate"),
    "event": ("eventname",),
    "date": ("day", "month", "qtr"),
    "user": ("username", "firstname", "lastname", "city", "state", "email", "phone"),
}
NUMBERS = {
    "category": ("catid",),
    "venue": ("venueid", "venueseats"),
    "event": ("eventid", "venueid", "catid", "dateid"),
    "date": ("dateid", "week", "year"),
    "listing": ("listid", "sellerid", "eventid", "dateid", "numtickets"),
    "sale": ("salesid", "listid", "sellerid", "buyerid", "eventid", "dateid", "qtysold"),
    "user": ("userid",),
}
OTHERS: dict[str, dict[str, pa.DataType]] = {
    "event": {"starttime": pa.timestamp("us")},
    "date": {"caldate": pa.date32(), "holiday": pa.bool_()},
    "listing": {
        "priceperticket": pa.decimal128(8, 2),
        "totalprice": pa.decimal128(8, 2),
        "listtime": pa.timestamp("us"),
    },
    "sale": {
        "pricepaid": pa.decimal128(8, 2),
        "commission": pa.decimal128(8, 2),
        "saletime": pa.timestamp("us"),
    },
    "user": {f"like{what}": pa.bool_() for what in LIKES},
}


def silver(table: str, *rows: dict[str, Any]) -> pa.Table:
    """A table with all columns that silver has; what a row does not say is null."""
    schema: dict[str, pa.DataType] = {
        "_hoodie_commit_time": pa.string(),
        **dict.fromkeys(NUMBERS[table], pa.int32()),
        **dict.fromkeys(TEXTS.get(table, ()), pa.string()),
        **OTHERS.get(table, {}),
        "__op": pa.string(),
        "__deleted": pa.string(),
        "__kafka_offset": pa.int64(),
    }
    return pa.Table.from_pylist(list(rows), pa.schema(list(schema.items())))


@pytest.fixture
def glue(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A catalog with TICKIT's seven tables."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        make: Any = boto3.client
        client = make("glue", region_name="eu-central-1")
        source = MemorySource({f"tickit.{table}": silver(table) for table in NUMBERS})
        write(client, GlueSync(client, source).changes(source.tables()))
        yield client


def applied(glue: Any, views: Sequence[GoldView]) -> list[Change]:
    """What was written; and that then nothing is left to write."""
    changes = GoldViews(glue, views).changes(view.name for view in views)
    write(glue, changes)
    assert GoldViews(glue, views).changes(view.name for view in views) == []
    return changes


def view(tmp_path: Path, sql: str, name: str = "shop/numbers") -> Path:
    """Writes the file of a view; its folder gold."""
    file = tmp_path / "gold" / f"{name}.sql"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(sql, encoding="utf-8")
    return tmp_path / "gold"


def test_the_views_are_made_once_each_behind_those_that_it_reads(glue: Any) -> None:
    views = load_views(GOLD)
    assert {view.file for view in views} == set(GOLD.rglob("*.sql"))
    made = [f"{change.action} {change.what}" for change in applied(glue, views)]
    assert made[:2] == ["create database tickit_demo", "create database tickit_gold"]
    assert sorted(made[2:]) == sorted(f"create view {view.name}" for view in views)
    assert made.index(f"create view {SALES}") < made.index(f"create view tickit_demo.{NAMES[0]}")


def test_the_second_catalog_has_the_posts_tables_without_columns_of_cdc(glue: Any) -> None:
    applied(glue, load_views(GOLD))
    called = {"sale": "sales", "user": "users"}
    for table in NUMBERS:
        name = f"refined_tickit_public_{called.get(table, table)}"
        found = glue.get_table(DatabaseName="tickit_demo", Name=name)["Table"]
        columns = {c["Name"]: c["Type"] for c in found["StorageDescriptor"]["Columns"]}
        there = glue.get_table(DatabaseName="tickit", Name=table)["Table"]["StorageDescriptor"]
        assert columns == {
            c["Name"]: c["Type"] for c in there["Columns"] if not c["Name"].startswith("_")
        }


def test_sales_are_summed_by_day_and_category_under_three_names(glue: Any) -> None:
    applied(glue, load_views(GOLD))
    for database, name in (SALES.split("."), *(("tickit_demo", name) for name in NAMES)):
        found = glue.get_table(DatabaseName=database, Name=name)["Table"]
        told = view_text(found["ViewOriginalText"])
        assert told is not None
        assert [(c["name"], c["type"]) for c in told["columns"]] == [
            ("caldate", "date"),
            ("catgroup", "varchar"),
            ("catname", "varchar"),
            ("saleamount", "decimal(38,2)"),
            ("commission", "decimal(38,2)"),
        ]
        assert found["TableType"] == "VIRTUAL_VIEW"
        assert found["Parameters"]["presto_view"] == "true"


class Silver(Tables):
    """Silver's tables, and the views over them."""

    def __init__(self, **tables: pa.Table) -> None:
        super().__init__(**tables)
        self._views = {view.name: view for view in load_views(GOLD)}

    def table(self, catalog: str | None, database: str, name: str, as_of: str | None) -> Table:
        if found := self._views.get(f"{database}.{name}"):
            return Table("", database, name, {}, found.sql, database)
        assert database == "tickit"
        return super().table(catalog, database, name, as_of)


def test_what_the_sums_are() -> None:
    price, sale = Decimal("10.05"), {"eventid": 1, "dateid": 1, "qtysold": 3}
    paid = {"pricepaid": price, "commission": Decimal("1.51")}
    first = date(2008, 1, 1)
    tables = Silver(
        sale=silver(
            "sale",
            {"salesid": 1, **sale, **paid, "__deleted": "false"},
            {"salesid": 2, **sale, **paid, "qtysold": 1},
            {"salesid": 3, **sale, **paid, "__deleted": "true"},
            {"salesid": 4, **sale, **paid, "eventid": 9, "dateid": 9},
        ),
        event=silver("event", {"eventid": 1, "catid": 1}, {"eventid": 9, "__deleted": "true"}),
        date=silver("date", {"dateid": 1, "caldate": first}),
        category=silver("category", {"catid": 1, "catgroup": "Shows", "catname": "Plays"}),
    )
    assert ask(f"SELECT * FROM {SALES} ORDER BY caldate", tables) == [
        ["2008-01-01", "Shows", "Plays", "40.20", "3.02"],
        # Neither its event nor its date are there (any more): the sale counts, of no category.
        [None, None, None, "30.15", "1.51"],
    ]
    for name in NAMES:
        sql = f"SELECT saleamount FROM tickit_demo.{name} WHERE caldate = date '2008-01-01'"
        assert ask(sql, tables) == [["40.20"]]


def test_a_changed_file_changes_its_view_alone(glue: Any, tmp_path: Path) -> None:
    folder = view(tmp_path, "-- Of all.\nSELECT catid AS id FROM tickit.category;\n")
    view(tmp_path, "SELECT n.id, catname FROM numbers n JOIN tickit.category ON catid = id",
         "shop/names")  # fmt: skip
    (numbers, names) = load_views(folder)
    assert numbers.sql == "SELECT catid AS id FROM tickit.category"
    assert names.reads == {"shop.numbers", "tickit.category"}
    applied(glue, [numbers, names])
    view(tmp_path, "SELECT catid AS id, catgroup FROM tickit.category")
    (change,) = applied(glue, load_views(folder))
    assert (change.action, change.what) == ("update", "view shop.numbers")
    assert change.details == ("its SQL", "column catgroup: none → varchar")


def test_a_type_that_changed_beneath_a_view_is_written(glue: Any, tmp_path: Path) -> None:
    views = load_views(view(tmp_path, "SELECT catid AS id FROM tickit.category"))
    applied(glue, views)
    table = silver("category")
    place = table.schema.get_field_index("catid")
    source = MemorySource(
        {"tickit.category": table.set_column(place, "catid", table["catid"].cast(pa.int64()))}
    )
    write(glue, GlueSync(glue, source).changes(source.tables()))
    (change,) = applied(glue, views)
    assert change.details == ("column id: integer → bigint",)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("", "mismatched input|Only one|line 1"),
        ("SELECT 1 AS a; SELECT 2 AS b", "Only one sql statement"),
        ("DROP TABLE tickit.sale", "mismatched input|line 1|SELECT"),
        ("SELECT nothing FROM tickit.sale", "COLUMN_NOT_FOUND"),
        ("SELECT numeric_histogram(9, salesid) AS n FROM tickit.sale", "numeric_histogram"),
        ("SELECT 1", "a column has no name"),
        ("SELECT salesid, listid AS salesid FROM tickit.sale", "two columns are called salesid"),
        ("SELECT a FROM shop.numbers", "reads itself"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_before_anything_is_written(
    glue: Any, tmp_path: Path, sql: str, message: str
) -> None:
    folder = view(tmp_path, "SELECT salesid FROM tickit.sale", "shop/fine")
    view(tmp_path, sql)
    with pytest.raises(LabError, match=message) as caught:
        applied(glue, load_views(folder))
    assert caught.value.exit_code is ExitCode.USAGE
    assert "numbers.sql" in caught.value.what
    assert [d["Name"] for d in glue.get_databases()["DatabaseList"]] == ["tickit"]


def test_a_file_in_the_wrong_place_is_said(tmp_path: Path) -> None:
    for name in ("numbers", "shop/part/numbers", "Shop/numbers", "shop/my numbers"):
        folder = view(tmp_path / name.replace("/", "_"), "SELECT 1 AS a", name)
        with pytest.raises(LabError, match=r"gold/<database>/<view>\.sql"):
            load_views(folder)


def test_a_table_that_is_not_there_yet_is_named(glue: Any, tmp_path: Path) -> None:
    views = load_views(view(tmp_path, "SELECT a FROM tickit.later"))
    with pytest.raises(LabError, match=r"numbers.sql reads tickit.later, which is not") as caught:
        applied(glue, views)
    assert caught.value.exit_code is ExitCode.NOT_READY


def test_a_table_by_the_name_of_a_view_is_not_overwritten(glue: Any, tmp_path: Path) -> None:
    views = load_views(view(tmp_path, "SELECT catid FROM tickit.category", "tickit/sale"))
    with pytest.raises(LabError, match=r"tickit\.sale of the catalog is a table"):
        applied(glue, views)


def test_a_view_that_is_kept_as_a_table_is_checked_and_not_made(glue: Any, tmp_path: Path) -> None:
    views = load_views(view(tmp_path, "SELECT catid FROM tickit.category"))
    assert GoldViews(glue, views, ["shop.numbers"]).changes(["shop.numbers"]) == []
    wrong = load_views(view(tmp_path, "SELECT nothing FROM tickit.category"))
    with pytest.raises(LabError, match=r"numbers\.sql"):
        GoldViews(glue, wrong, ["shop.numbers"]).changes(["shop.numbers"])


def test_views_belong_to_the_tables_that_they_need() -> None:
    views = load_views(GOLD)
    every = [f"tickit.{table}" for table in NUMBERS]
    assert views_over(views, every) == views
    (one,) = views_over(views, ["tickit.venue"])
    assert one.name == "tickit_demo.refined_tickit_public_venue"
    assert views_over(views, []) == []


def test_the_text_of_a_view_is_what_athena_reads(glue: Any, tmp_path: Path) -> None:
    applied(glue, load_views(view(tmp_path, "SELECT catid FROM tickit.category -- c\n")))
    found = glue.get_table(DatabaseName="shop", Name="numbers")["Table"]
    told = view_text(found["ViewOriginalText"])
    assert json.loads(json.dumps(told)) == {
        "originalSql": "SELECT catid FROM tickit.category -- c",
        "catalog": "awsdatacatalog",
        "schema": "shop",
        "columns": [{"name": "catid", "type": "integer"}],
    }
