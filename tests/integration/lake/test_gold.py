"""A view that the Spark application keeps as a table: at every moment what the view answers."""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws
from pyspark.sql import SparkSession

from labctl.lake import Lake, View
from labctl.lake.catalog_views import CatalogViews
from labctl.lake.glue_changes import write
from labctl.lake.glue_sync import GlueSync
from labctl.lake.gold import GoldViews, load_views
from labctl.lake.materialised import definitions
from labctl.lake.spark_job import answer
from labctl.lake.spark_queries import SparkEngine, read_answer
from labctl.lake.table_source import LakeSource
from labctl.shipped import shipped
from lakecontract.gold_definition import GoldDefinition
from lakecontract.properties import load_tables
from lakehouse.gold_table import GoldTable
from lakehouse.hudi import HudiTable

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

NAME = "tickit_gold.sales_by_day_and_category"
CDC = "__op string, __deleted string, __kafka_partition int, __kafka_offset bigint"
COLUMNS = {
    "sale": "salesid int, listid int, sellerid int, buyerid int, eventid int, dateid int, "
    "qtysold smallint, pricepaid decimal(8,2), commission decimal(8,2), saletime timestamp",
    "event": "eventid int, venueid int, catid int, dateid int, eventname string, "
    "starttime timestamp",
    "date": "dateid int, caldate date, day string, week int, month string, qtr string, year int, "
    "holiday boolean",
    "category": "catid int, catgroup string, catname string, catdesc string",
}
HARD = ("event",)
"""The tables that forget a deleted row; the others mark it."""
MORNING = datetime(2008, 1, 1, 8, 0, 0, 1500, tzinfo=UTC)
"""Athena shows it in milliseconds, rounded."""


@dataclass
class Silver:
    """The four tables that the view reads, as the application writes them."""

    spark: SparkSession
    tables: dict[str, HudiTable]
    offset: int = 0
    keys: dict[str, set[int]] = field(default_factory=dict)

    def change(self, table: str, *rows: Mapping[str, Any]) -> None:
        """One commit: of each row what is said, `__op` is `u` unless it says otherwise."""
        columns = [part.split()[0] for part in COLUMNS[table].split(", ")]
        values = []
        for row in rows:
            operation = row.get("__op", "u")
            own = [row.get(column) for column in columns]
            cdc = [operation, str(operation == "d").lower(), 0, self.offset]
            values.append((*own, *cdc))
            self.offset += 1
        made = self.spark.createDataFrame(values, f"{COLUMNS[table]}, {CDC}")
        hudi = self.tables[f"tickit.{table}"]
        hudi.commit(made, len(values), {0: self.offset}, topic_id="")


@dataclass
class World:
    """Silver, the view over it, and the table that is made of the view."""

    silver: Silver
    lake: Lake
    glue: Any
    definition: GoldDefinition
    table: HudiTable

    def gold(self) -> GoldTable:
        """The table as a start of the application finds it."""
        found = GoldTable(self.silver.spark, self.definition, self.table, self.silver.tables)
        found.open()
        return found

    def kept(self) -> dict[Any, tuple[Any, ...]]:
        """By group, what the table has."""
        return _by_group(self.lake, f"SELECT * FROM {NAME}")

    def answered(self) -> dict[Any, tuple[Any, ...]]:
        """By group, what the view answers: by DuckDB, of the tables as they are."""
        return _by_group(self.lake, "SELECT * FROM truth.whole", CatalogViews(self.glue, self.lake))

    def written(self) -> dict[Any, str]:
        """By group, the commit that its row is of."""
        rows = self.lake.query(f"SELECT * FROM {NAME}").to_pylist()
        return {_group(row): row["_hoodie_commit_time"] for row in rows}


def _group(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["caldate"], row["catgroup"], row["catname"]


def _by_group(lake: Lake, sql: str, views: CatalogViews | None = None) -> dict[Any, Any]:
    rows = lake.query(sql, views=views).to_pylist()
    found = {_group(row): (row["saleamount"], row["commission"]) for row in rows}
    assert len(found) == len(rows)
    return found


def sale(key: int, event: int | None = 1, day: int | None = 1, **values: Any) -> dict[str, Any]:
    price, commission = Decimal(key * 101 % 9999).scaleb(-2), Decimal(key).scaleb(-2)
    base = {"salesid": key, "eventid": event, "dateid": day, "qtysold": 1 + key % 4,
            "pricepaid": price, "commission": commission, "saletime": MORNING}  # fmt: skip
    return base | values


def event(key: int, category: int | None, **values: Any) -> dict[str, Any]:
    return {
        "eventid": key,
        "catid": category,
        "eventname": f"e{key}",
        "starttime": MORNING,
    } | values


def day(key: int, **values: Any) -> dict[str, Any]:
    return {"dateid": key, "caldate": date(2008, 1, 1) + timedelta(days=key // 2)} | values


def category(key: int, **values: Any) -> dict[str, Any]:
    return {
        "catid": key,
        "catgroup": ("Shows", "Ünïts 🎫")[key % 2],
        "catname": f'n"{key}',
    } | values


@pytest.fixture
def world(
    spark: SparkSession, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """All tables have rows; some sales have no event, some events no category."""
    storage = lake.storage
    lake = Lake(storage, folder=tmp_path.name)
    base = f"{storage.spark_uri}/{tmp_path.name}"
    files = {
        path.stem.rpartition(".")[2]: path for path in shipped("spark/properties").glob("tickit*")
    }
    tables = {}
    for table in COLUMNS:
        own = {"lab.deletes": "hard"} if table in HARD else {}
        (config,) = load_tables([files[table]], overrides=own)
        tables[config.name] = HudiTable(spark, config, base)
    silver = Silver(spark, tables)
    silver.change("category", *map(category, range(1, 5)))
    silver.change("date", *map(day, range(1, 9)))
    silver.change("event", *(event(key, key % 6) for key in range(1, 13)))
    silver.change("sale", *(sale(key, key % 15, key % 10) for key in range(1, 61)))
    truth = tmp_path / "gold" / "truth" / "whole.sql"
    truth.parent.mkdir(parents=True)
    (definition,) = definitions([NAME], load_views(shipped("gold")), tables)
    gold_views = load_views(shipped("gold"))
    (view,) = (one for one in gold_views if one.name == NAME)
    truth.write_text(view.sql)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        make: Any = boto3.client
        glue = make("glue", region_name="eu-central-1")
        source = LakeSource(lake)
        write(glue, GlueSync(glue, source).changes(source.tables()))
        views = [*gold_views, *load_views(tmp_path / "gold")]
        read = {"truth.whole"} | view.reads
        write(glue, GoldViews(glue, views).changes(v.name for v in views if v.name in read))
        config = definition.table_config(tables[definition.inputs[0]].config, {})
        yield World(silver, lake, glue, definition, HudiTable(spark, config, base))


@pytest.mark.soak
def test_the_table_is_what_the_view_answers_after_any_changes(world: World) -> None:
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    silver, gold = world.silver, world.gold()
    first = gold.refresh()
    assert first
    assert first.whole
    assert world.kept() == world.answered()
    assert gold.refresh() is None
    for round_ in range(4):
        if round_ % 2:
            gold = world.gold()  # restarted
            assert gold.refresh() is None
        for table in chance.sample(list(COLUMNS), chance.randint(1, 3)):
            silver.change(table, *_changes(chance, table))
        refreshed = gold.refresh()
        assert refreshed is None or not refreshed.whole
        assert world.kept() == world.answered(), f"round {round_}"


def _changes(chance: random.Random, table: str) -> list[dict[str, Any]]:
    """New rows, changed ones, deleted ones, and keys that change: a row goes, another comes."""
    keys = {"sale": 70, "event": 15, "date": 10, "category": 6}[table]
    made = []
    for key in chance.sample(range(1, keys), chance.randint(1, 4)):
        match table:
            case "sale":
                row = sale(
                    key, chance.randrange(15), chance.randrange(10), qtysold=chance.randint(1, 8)
                )
            case "event":
                row = event(key, chance.choice([None, *range(6)]))
            case "date":
                row = day(chance.randrange(20)) | {"dateid": key}
            case _:
                row = category(key, catname=chance.choice([None, "one name", f"n{key}"]))
        operation = chance.choice(["u", "u", "d", "moved"])
        if operation == "moved":
            key_column = next(iter(row))
            made += [row | {"__op": "d"}, row | {key_column: key + 100, "__op": "c"}]
        else:
            made.append(row | {"__op": operation})
    return made


def test_only_groups_that_changed_are_computed_again(world: World) -> None:
    silver, gold = world.silver, world.gold()
    gold.refresh()
    before = world.written()
    silver.change("sale", sale(1, 1, 1, qtysold=8))
    refreshed = gold.refresh()
    assert refreshed
    assert not refreshed.whole
    after = world.written()
    assert {group for group in after if after[group] != before.get(group)} == {
        (date(2008, 1, 1), "Ünïts 🎫", 'n"1')
    }
    # What the view does not show changes nothing, and is not looked at again.
    silver.change("category", category(1, catdesc="other"), category(50))
    gold.refresh()
    assert world.kept() == world.answered()
    assert gold.refresh() is None
    # A group whose last row goes is gone.
    lonely = [group for group in after if group[0] is None]
    silver.change(
        "sale",
        *(sale(key, key % 15, key % 10, __op="d") for key in range(1, 61) if key % 10 in (0, 9)),
    )
    gold.refresh()
    assert lonely
    assert not [group for group in world.kept() if group[0] is None]
    assert world.kept() == world.answered()


def test_where_the_past_is_gone_all_is_computed_again(world: World) -> None:
    silver = world.silver
    world.gold().refresh()
    silver.tables["tickit.event"].remove()
    gold = world.gold()
    assert gold.refresh() is None  # nothing to read: the table stays as it is
    silver.change("event", event(1, 2), event(2, 2))
    refreshed = gold.refresh()
    assert refreshed
    assert refreshed.whole
    assert world.kept() == world.answered()
    assert world.gold().refresh() is None


def test_another_definition_makes_another_table(world: World) -> None:
    world.gold().refresh()
    text = "SELECT `catid`, COUNT(*) AS `events` FROM `lab_in_0` AS `e`"
    other = replace(
        world.definition,
        inputs=("tickit.event",),
        keys=("catid",),
        rows=f"{text} GROUP BY `catid`",
        groups="SELECT DISTINCT `catid` AS `lab_key_0` FROM `lab_in_0`",
        rows_of_groups=f"{text} LEFT SEMI JOIN `lab_groups` ON `e`.`catid` <=> `lab_key_0`"
        " GROUP BY `catid`",
    )
    world.definition = other
    gold = world.gold()
    assert gold.read == {}
    gold.refresh()
    world.silver.change("event", event(1, None, __op="d"), event(30, None))
    gold.refresh()
    rows = world.lake.query(f"SELECT catid, events FROM {NAME} ORDER BY ALL").to_pylist()
    assert {row["catid"]: row["events"] for row in rows} == {
        0: 2,
        1: 1,
        2: 2,
        3: 2,
        4: 2,
        5: 2,
        None: 1,
    }


def test_spark_answers_a_view_as_the_embedded_engine_does(
    world: World, engine: SparkEngine, tmp_path: Path
) -> None:
    views = CatalogViews(world.glue, world.lake)
    tables = [world.lake.table(name) for name in world.lake.table_names()]
    world.silver.change("sale", sale(1, 3, 3, __op="d"), sale(200, None, None))
    sales = "tickit_demo.refined_tickit_public_sales"
    for number, sql in enumerate(
        (
            "SELECT * FROM truth.whole",
            f"SELECT s.*, e.eventname FROM {sales} s JOIN event e ON e.eventid = s.eventid",
        )
    ):
        for view in (View(), View(deleted=True)):
            names = ["truth.whole"] if number == 0 else [sales]
            folder = tmp_path / f"{number}-{view.deleted}"
            folder.mkdir()
            shown = views.for_spark(names, view)
            answer(world.silver.spark, engine.request(sql, tables, view, folder, shown))
            found = read_answer(folder, "", [])
            expected = world.lake.query(sql, view, views=views)
            assert found.schema.names == expected.schema.names
            assert found.num_rows > 0
            assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, expected.to_pylist()))
