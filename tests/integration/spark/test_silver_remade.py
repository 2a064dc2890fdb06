"""A topic that was deleted and recreated: nothing is skipped, nothing older wins."""

from __future__ import annotations

import pytest

from labctl.lab.tables.table_requests import refill_table
from tests.integration.spark.change_records import Topics, column, nullable
from tests.integration.spark.conftest import Silver, topic_of

pytestmark = pytest.mark.long

COLUMNS = [column("id", "int"), column("name", nullable("string"))]


def test_a_topic_that_was_made_again_stops_its_table_until_it_is_written_again(
    silver: Silver, topics: Topics
) -> None:
    topic = topic_of("remade")
    topics.write(topic, COLUMNS, [{"id": n, "name": "old"} for n in range(4)])
    silver.has_taken("remade", 4)
    silver.is_in_bronze("remade", 4)
    before = silver.objects(f"topics/{topic}/")

    topics.remake(topic)
    # More than the old one had, so that its offsets alone do not give it away.
    topics.write(topic, COLUMNS, [{"id": n, "name": "new"} for n in range(3, 9)])

    stopped = silver.is_in_state("remade", "failed")
    assert "recreated" in stopped["error"]
    assert "labctl table rebuild tickit.remade --from-topic" in stopped["error"]
    silver.until(
        lambda: "recreated" in silver.status("bronze")["stopped_topics"].get(topic, ""),
        "bronze stops the topic",
    )
    assert silver.objects(f"topics/{topic}/") == before

    refill_table(silver.lab, "remade")

    silver.has_taken("remade", 6)
    rows = silver.rows("remade")
    assert {key: row["name"] for key, row in rows.items()} == dict.fromkeys(range(3, 9), "new")
    silver.is_in_bronze("remade", 6)
    assert set(silver.objects(f"topics/{topic}/").values()).isdisjoint(before.values())
    # Besides the files there are S3A's marks of folders, which are empty.
    aside = [content for content in silver.objects(f"retired/{topic}/").values() if content]
    assert sorted(aside) == sorted(before.values())

    silver.ask("remade", "restart")
    topics.write(topic, COLUMNS, [{"id": 9, "name": "new"}])
    silver.has_taken("remade", 7)
