"""A topic may have its schemas' ids in headers, in front of values, or both in turn."""

from __future__ import annotations

import pytest

from labctl.kafka.topic_records import Topics as ReadTopics
from labctl.lake import LakeStorage
from labctl.lake.bronze_check import check_bronze
from labctl.lake.bronze_records import Bronze
from tests.integration.spark.change_records import Topics, column, nullable
from tests.integration.spark.conftest import Silver, topic_of

pytestmark = pytest.mark.long

COLUMNS = [column("id", "int"), column("name", nullable("string"))]
WIDER = [*COLUMNS, column("more", nullable("long"))]


def test_one_topic_in_both_forms(silver: Silver, topics: Topics) -> None:
    topic = topic_of("both_forms")
    topics.write(topic, COLUMNS, [{"id": 1, "name": "header"}])
    topics.write(topic, COLUMNS, [{"id": 2, "name": "prefix"}], confluent=True)
    silver.has_taken("both_forms", 2)
    # From one batch to the next, within one, and with another schema.
    topics.write(topic, COLUMNS, [{"id": 3, "name": "prefix"}], confluent=True)
    topics.write(topic, COLUMNS, [{"id": 1, "name": "header again"}])
    topics.write(topic, WIDER, [{"id": 4, "name": "wider", "more": 7}], confluent=True)
    topics.write_raw(topic, b"\x00\x3b\x9a\xca\x00rest")
    topics.write_raw(topic, b"\x00\x00")
    silver.has_taken("both_forms", 7)

    rows = silver.rows("both_forms")
    assert {key: row["name"] for key, row in rows.items()} == {
        1: "header again",
        2: "prefix",
        3: "prefix",
        4: "wider",
    }
    assert rows[4]["more"] == 7
    assert silver.status("both_forms")["dead_letters"] == 2

    silver.is_in_bronze("both_forms", 5)
    bronze = Bronze(LakeStorage.of(silver.lab.endpoints.objectstore))
    values = {
        record.offset: record.value
        for file in bronze.objects(topic)
        for record in bronze.read(file)
    }
    assert [values[offset]["name"] for offset in sorted(values)] == [
        *("header", "prefix", "prefix", "header again", "wider")
    ]
    assert check_bronze(bronze, topic) == []

    endpoints = silver.lab.endpoints
    shown = ReadTopics(endpoints.kafka, endpoints.registry)
    found = shown.find(topic, {"name": "prefix"}, limit=2)
    assert [record.value["id"] for record in found] == [3, 2]
