"""TRUNCATE at the source: silver loses the rows that came before it, and no others."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from labctl.kafka.offsets import delete_records
from labctl.lab.tables.table_rebuild import rebuild_table
from labctl.lab.tables.table_requests import replay_table
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


def test_a_truncate_that_cannot_be_ordered_is_put_aside(silver: Silver, topics: Topics) -> None:
    """From the topic, from bronze's files, and when the table is rebuilt."""
    table, topic = "cut_parted", topic_of("cut_parted")
    topics.write(topic, COLUMNS, [row(1)])
    topics.write(topic, COLUMNS, [row(2)], partition=1)
    topics.truncate(topic, COLUMNS)
    topics.write(topic, COLUMNS, [row(3)])
    for partition, end in enumerate((3, 1)):
        silver.has_taken(table, end, partition)
        silver.is_in_bronze(table, end, partition)
    assert set(live(silver, table)) == {1, 2, 3}
    (letter,) = letters(silver, table)
    assert "cannot tell which rows" in letter["reason"]
    rebuild_table(silver.lab, table)
    assert set(live(silver, table)) == {1, 2, 3}

    silver.run_once(table, source="bronze", target="cut-parted")
    assert set(silver.rows(table, lake="cut-parted")) == {1, 2, 3}
    (letter,) = letters(silver, table)
    assert (letter["partition"], letter["offset"]) == (0, 1)


def test_a_letter_from_before_a_truncate_stays_away(silver: Silver, topics: Topics) -> None:
    """The topic has lost the record of the TRUNCATE; the table remembers it."""
    table, topic = "cut_letter", topic_of("cut_letter")
    topics.write(topic, COLUMNS, [row(1)])
    topics.write_raw(topic, b"\x02\x02\xff", key="2", schema_id=topics.schema_id(topic))
    topics.truncate(topic, COLUMNS)
    topics.write(topic, COLUMNS, [row(3)])
    silver.has_taken(table, 4)
    (letter,) = letters(silver, table)
    _schema_id, value = topics.encoded(topic, COLUMNS, row(2))
    repaired = letter | {"value_base64": base64.b64encode(value).decode()}
    silver.put(f"deadletter/{topic}/{topic}+0+{1:010d}.json", json.dumps(repaired).encode())
    delete_records(silver.lab.endpoints.kafka, [topic])
    result = replay_table(silver.lab, table)
    assert (result["ingested"], result["overtaken"], result["still_bad"]) == (0, 1, 0)
    assert live(silver, table) == {3: "n 3"}


def letters(silver: Silver, table: str) -> list[dict[str, Any]]:
    found = silver.objects(f"deadletter/{topic_of(table)}/").items()
    return [json.loads(text) for name, text in found if name.endswith(".json")]


def live(silver: Silver, table: str) -> dict[int, str]:
    lake = Lake(silver.lab.endpoints.objectstore)
    rows = lake.query(f"SELECT id, name FROM {full_name(table)}").to_pylist()
    assert len({one["id"] for one in rows}) == len(rows)
    return {one["id"]: one["name"] for one in rows}
