"""A topic that was recreated, or has more partitions: nothing is skipped, nothing older wins."""

from __future__ import annotations

import pytest

from labctl.errors import LabError
from labctl.kafka.offsets import delete_records
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


def test_a_topic_with_more_partitions_stops_its_table_until_it_was_emptied(
    silver: Silver, topics: Topics
) -> None:
    topic = topic_of("grown")
    topics.write(topic, COLUMNS, [{"id": n, "name": "old"} for n in (0, 1, 2, 0, 1, 2)])
    silver.has_taken("grown", 6)
    before = silver.rows("grown")

    topics.grow(topic, 2)
    topics.write(topic, COLUMNS, [{"id": 2, "name": "new"}], partition=1)
    stopped = silver.is_in_state("grown", "failed")
    assert "2 partitions, and had 1" in stopped["error"]
    assert "labctl connectors snapshot CONNECTOR --start-over" in stopped["error"]
    silver.is_in_bronze("grown", 1, partition=1)
    silver.ask("grown", "restart")
    silver.is_in_state("grown", "failed")
    assert silver.rows("grown") == before
    with pytest.raises(LabError, match="2 partitions, and had 1"):
        refill_table(silver.lab, "grown")
    assert silver.rows("grown") == before

    delete_records(silver.lab.endpoints.kafka, [topic])
    topics.write(topic, COLUMNS, [{"id": 0, "name": "new"}, {"id": 1, "name": "new"}])
    topics.write(topic, COLUMNS, [{"id": 2, "name": "new"}], partition=1)
    refill_table(silver.lab, "grown")
    silver.has_taken("grown", 8)
    silver.has_taken("grown", 2, partition=1)
    assert {row["name"] for row in silver.rows("grown").values()} == {"new"}
    silver.ask("grown", "restart")
    topics.write(topic, COLUMNS, [{"id": 0, "name": "newer"}])
    silver.has_taken("grown", 9)
