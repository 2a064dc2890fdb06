"""Which views can be kept as tables, and what the Spark application knows of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from labctl.config.lab_config import GoldSettings, LabConfig
from labctl.errors import ExitCode, LabError
from labctl.lake.gold import load_views
from labctl.lake.materialised import definitions
from labctl.services import silver_service
from labctl.shipped import shipped
from lakecontract.errors import ConfigurationError
from lakecontract.gold_definition import read_definitions, written_definitions
from lakecontract.properties import load_tables
from tests.unit.service_context import PROJECT, NamedParts, context_of

SALES = "tickit_gold.sales_by_day_and_category"
TABLES = ("shop.sale", "shop.item")


def told(tmp_path: Path, sql: str, **others: str) -> list[str]:
    """The three texts of a view `shop.made`, beside other views."""
    for name, text in {"made": sql, **others}.items():
        file = tmp_path / "gold" / "shop" / f"{name}.sql"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (found,) = definitions(["shop.made"], load_views(tmp_path / "gold"), TABLES)
    return [found.rows, found.groups, found.rows_of_groups]


def test_the_shipped_view_is_told_by_its_tables_and_groups(tmp_path: Path) -> None:
    tables = {table.name: table for table in load_tables([shipped("spark/properties")])}
    (found,) = definitions([SALES], load_views(shipped("gold")), tables)
    assert found.inputs == ("tickit.sale", "tickit.event", "tickit.date", "tickit.category")
    assert found.keys == ("caldate", "catgroup", "catname")
    file = tmp_path / "gold.json"
    file.write_text(written_definitions([found]), encoding="utf-8")
    assert read_definitions(file) == [found]
    config = found.table_config(tables["tickit.sale"], {})
    assert (config.name, config.table_type, config.deletes) == (SALES, "COPY_ON_WRITE", "hard")
    assert config.key_fields == ("__key",)


def test_a_group_may_be_named_by_its_place_and_a_view_be_read_twice(tmp_path: Path) -> None:
    rows, groups, of_groups = told(
        tmp_path,
        "SELECT a.kind AS k, count(*) AS n FROM item a JOIN cheap b ON a.id = b.id GROUP BY 1",
        cheap="SELECT id FROM shop.item WHERE cents < 5 AND name <> 'it''s \\ ü'",
    )
    view = "(SELECT `id` FROM `lab_in_1` AS `item` WHERE `cents` < 5 AND `name` <> 'it\\'s \\\\ ü')"
    joined = f"FROM `lab_in_0` AS `a` JOIN {view} AS `b` ON `a`.`id` = `b`.`id`"
    assert rows == f"SELECT `a`.`kind` AS `k`, COUNT(*) AS `n` {joined} GROUP BY 1"
    assert groups == f"SELECT DISTINCT `a`.`kind` AS `lab_key_0` {joined}"
    assert of_groups == (
        f"SELECT `a`.`kind` AS `k`, COUNT(*) AS `n` {joined} LEFT SEMI JOIN `lab_groups` "
        "ON `a`.`kind` IS NOT DISTINCT FROM `lab_groups`.`lab_key_0` GROUP BY 1"
    )


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT id, kind FROM item", "no GROUP BY"),
        ("SELECT count(*) AS n FROM item GROUP BY kind", "groups by kind, and does not show"),
        ("SELECT kind, count(*) FROM item GROUP BY kind", "a column has no name"),
        ("SELECT kind, sum(id) AS kind FROM item GROUP BY kind", "two columns have one name"),
        ("SELECT kind AS __key, sum(id) AS n FROM item GROUP BY kind", "is called __key"),
        ("SELECT kind, avg(id) AS n FROM item GROUP BY kind", "Function 'avg'"),
        ("SELECT kind, sum(id / 2) AS n FROM item GROUP BY kind", "id / 2 is not known"),
        ("SELECT kind, sum(id) AS n FROM item GROUP BY ROLLUP (kind)", "not known"),
        ("SELECT kind, sum(id) AS n FROM item GROUP BY kind LIMIT 3", "not known"),
        ("SELECT kind, sum(id) AS n FROM item WHERE id IN (SELECT id FROM sale) GROUP BY kind",
         "not known"),
        ("SELECT kind, sum(id) OVER () AS n FROM item GROUP BY kind", "not known"),
        ("SELECT DISTINCT kind, sum(id) AS n FROM item GROUP BY kind", "SELECT DISTINCT"),
        ("WITH i AS (SELECT * FROM item) SELECT kind, count(*) AS n FROM i GROUP BY kind", "WITH"),
        ("SELECT a.kind, count(*) AS n FROM item a FULL JOIN sale b ON a.id = b.id GROUP BY a.kind",
         "FULL JOIN"),
        ("SELECT kind, count(*) AS n FROM (SELECT DISTINCT kind FROM item) a GROUP BY kind",
         "grouped already"),
        ("SELECT kind, count(*) AS n FROM elsewhere.item GROUP BY kind", "no table of silver"),
        ("SELECT 1 AS kind GROUP BY 1", "it reads no table"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_refused_by_its_file(tmp_path: Path, sql: str, why: str) -> None:
    with pytest.raises(LabError, match=r"made\.sql: it cannot be materialised: .*") as caught:
        told(tmp_path, sql)
    assert why in str(caught.value)
    assert caught.value.exit_code is ExitCode.USAGE


def test_a_name_that_is_no_view_or_is_a_table() -> None:
    views = load_views(shipped("gold"))
    with pytest.raises(LabError, match=r"gold\.materialised: there is no view a\.b"):
        definitions(["a.b"], views, [])
    with pytest.raises(LabError, match="is a table of silver already"):
        definitions([SALES], views, [SALES])


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "gold.json"
    for text in ("{", '[{"name": "a.b"}]', "7"):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigurationError, match=r"--gold .*gold\.json cannot be used"):
            read_definitions(file)


def test_the_application_is_started_with_them(tmp_path: Path) -> None:
    config = LabConfig.load(PROJECT / "lab.toml")
    assert (
        silver_service.options(
            context_of(silver_service.SERVICE, config, tmp_path, NamedParts())
        ).gold
        is None
    )
    kept = config.model_copy(update={"gold": GoldSettings(materialised=(SALES,))})
    context = context_of(silver_service.SERVICE, kept, tmp_path, NamedParts())
    assert silver_service.SERVICE.native
    silver_service.SERVICE.native_form.prepare(context)
    told_file = silver_service.options(context).gold
    assert told_file
    assert [one.name for one in read_definitions(Path(told_file))] == [SALES]
    wrong = config.model_copy(update={"gold": GoldSettings(materialised=("a.b",))})
    with pytest.raises(LabError, match="there is no view a"):
        silver_service.SERVICE.native_form.prepare(
            context_of(silver_service.SERVICE, wrong, tmp_path, NamedParts())
        )
