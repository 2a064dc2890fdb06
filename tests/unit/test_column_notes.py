"""What `labctl init --from-database` says beforehand of columns that do not arrive as they are."""

from __future__ import annotations

import json

from labctl.engines.mysql.mysql_types import MYSQL
from labctl.engines.postgres.postgres_types import POSTGRES
from labctl.scaffolding.column_notes import column_notes
from labctl.scaffolding.new_connectors import source_text
from labctl.sources import SourceTable, TableRef
from labctl.sources.base import Declared
from labctl.sources.capture_limits import UNLOGGED, Lack, Limits

REF = TableRef("shop", "item")


def notes(engine: str, *columns: tuple[str, str], limits: Limits | None = None) -> list[str]:
    rules = {"mysql": MYSQL, "postgres": POSTGRES}[engine]
    declared = [(name, Declared(kind, kind), True) for name, kind in columns]
    table = SourceTable.of(REF, rules, declared, ["id"])
    config = json.loads(source_text("shop", engine, ["shop"]))
    return list(column_notes(table, engine, config, [REF], limits or Limits()))


def test_columns_that_arrive_as_they_are_are_not_named() -> None:
    assert notes("postgres", ("id", "integer"), ("name", "text"), ("at", "date")) == []


def test_each_other_column_is_named_with_how_it_arrives() -> None:
    said = notes(
        "postgres",
        ("id", "integer"),
        ("price", "money"),
        ("tags", "tsvector"),
        ("area", "polygon"),
        ("unit price", "integer"),
    )
    assert [sentence.partition(": ")[0] for sentence in said] == ["shop.item"] * len(said)
    text = "\n".join(said)
    assert "price (with a loss: text with two digits behind the point" in text
    assert "tags (as text: " in text
    assert "area (not captured: Debezium leaves this type out" in text
    assert "unit price (under another name: called unit_price in silver" in text


def test_columns_of_one_reason_share_a_sentence() -> None:
    (said,) = notes("mysql", ("id", "int"), ("a", "float"), ("b", "float"))
    assert said.startswith("shop.item: a, b (with a loss: Debezium's first load sees six digits")


def test_columns_that_no_change_has_are_named_elsewhere() -> None:
    limits = Limits(lacks=(Lack(("price",), UNLOGGED),))
    assert notes("postgres", ("id", "integer"), ("price", "money"), limits=limits) == []


def test_rows_that_change_without_a_record_are_named() -> None:
    said = notes(
        "mysql", ("id", "int"), limits=Limits(unlogged_rows="its foreign keys change rows")
    )
    assert said == ["shop.item: its foreign keys change rows"]
