"""TRUNCATE at the source: silver loses the rows that came before it, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from labctl.lab.rebuild import rebuild_table
from labctl.lake import Lake
from tests.integration.spark.change_records import Topics, column, nullable
from tests.integration.spark.conftest import Silver, full_name, topic_of

pytestmark = pytest.mark.long

COLUMNS = [column("id", "int"), column("name", nullable("string"))]


def row(key: int, name: str = "", **values: Any) -> dict[str, Any]:
    return {"id": key, "name": name or f"n {key}", **values}


@pytest.mark.parametrize(
    "table", ["cut_mor_hard", "cut_cow_hard", "cut_mor_soft", "cut_moves", "cut_moves_hard"]
)
def test_a_truncate_removes_the_rows_before_it(silver: Silver, topics: Topics, table: str) -> None:
    """Within a batch too, however often, and where nothing has told the table's columns yet."""
    topic = topic_of(table)
    topics.truncate(topic, COLUMNS)
    silver.has_taken(table, 1)
    topics.write(topic, COLUMNS, [row(key) for key in range(4)])
    silver.has_taken(table, 5)
    assert live(silver, table) == {key: f"n {key}" for key in range(4)}

    topics.write(topic, COLUMNS, [row(4), row(0, "changed")])
    topics.truncate(topic, COLUMNS)
    topics.write(topic, COLUMNS, [row(5)])
    topics.truncate(topic, COLUMNS)
    topics.write(topic, COLUMNS, [row(1, "again"), row(6)])
    silver.has_taken(table, 12)
    assert live(silver, table) == {1: "again", 6: "n 6"}

    topics.truncate(topic, COLUMNS)
    silver.has_taken(table, 13)
    assert live(silver, table) == {}
    silver.is_in_bronze(table, 13)
    rebuild_table(silver.lab, table)
    assert live(silver, table) == {}

    topics.write(topic, COLUMNS, [row(2, "at last")])
    silver.is_in_bronze(table, 14)
    rebuild_table(silver.lab, table)
    assert live(silver, table) == {2: "at last"}


def test_a_soft_delete_keeps_what_a_truncate_removed(silver: Silver, topics: Topics) -> None:
    topic = topic_of("cut_cow_soft")
    topics.write(topic, COLUMNS, [row(1), row(2), row(1, __op="d")])
    topics.truncate(topic, COLUMNS)
    silver.has_taken("cut_cow_soft", 4)
    found = silver.rows("cut_cow_soft")
    assert {key: (one["name"], one["__op"]) for key, one in found.items()} == {
        1: ("n 1", "d"),
        2: ("n 2", "t"),
    }
    assert "__truncated" not in found[2]


def live(silver: Silver, table: str) -> dict[int, str]:
    lake = Lake(silver.lab.endpoints.objectstore)
    rows = lake.query(f"SELECT id, name FROM {full_name(table)}").to_pylist()
    assert len({one["id"] for one in rows}) == len(rows)
    return {one["id"]: one["name"] for one in rows}
