"""Records that cannot be decoded go nowhere silently."""

from __future__ import annotations

import base64
import json

from tests.integration.spark.change_records import Topics, column, nullable
from tests.integration.spark.conftest import Silver, topic_of

COLUMNS = [column("id", "int"), column("name", nullable("string"))]
GARBAGE = b"\x02\x02\xff"


def test_a_spoiled_record_stops_its_table_and_says_where_it_is(
    silver: Silver, topics: Topics
) -> None:
    topic = topic_of("spoiled_stop")
    topics.write(topic, COLUMNS, [{"id": 1, "name": "good"}])
    silver.has_taken("spoiled_stop", 1)
    topics.write_raw(topic, GARBAGE, schema_id=topics.schema_id(topic))
    topics.write(topic, COLUMNS, [{"id": 2, "name": "behind it"}])

    stopped = silver.is_in_state("spoiled_stop", "failed")

    assert f"{topic} partition 0 offset 1" in stopped["error"]
    assert "lab.on.bad.record=deadletter" in stopped["error"]
    assert set(silver.rows("spoiled_stop")) == {1}
    # No other table is in its way, and in bronze no other topic.
    assert silver.status("mor_soft")["state"] == "running"
    silver.until(
        lambda: set(silver.status("bronze")["stopped_topics"]) >= {topic}, "bronze stops the topic"
    )
    assert silver.status("bronze")["state"] == "running"

    silver.ask("spoiled_stop", "restart")
    silver.is_in_state("spoiled_stop", "failed")


def test_spoiled_records_are_put_aside_with_place_and_reason(
    silver: Silver, topics: Topics
) -> None:
    topic = topic_of("spoiled_aside")
    topics.write(topic, COLUMNS, [{"id": 1, "name": "good"}])
    schema_id = topics.schema_id(topic)
    topics.write_raw(topic, GARBAGE, schema_id=schema_id, key="7")
    topics.write_raw(topic, GARBAGE, schema_id=None)
    topics.write_raw(topic, None, schema_id=None, key="1")
    topics.write(topic, COLUMNS, [{"id": 2, "name": "behind them"}])
    silver.has_taken("spoiled_aside", 5)

    assert set(silver.rows("spoiled_aside")) == {1, 2}

    letters = {
        name.rsplit("/", 1)[1]: json.loads(content)
        for name, content in silver.objects(f"deadletter/{topic}/").items()
    }
    assert set(letters) == {f"{topic}+0+0000000001.json", f"{topic}+0+0000000002.json"}
    first, second = (letters[name] for name in sorted(letters))
    assert (first["topic"], first["partition"], first["offset"]) == (topic, 0, 1)
    assert f"does not decode with schema {schema_id}" in first["reason"]
    assert base64.b64decode(first["value_base64"]) == GARBAGE
    assert base64.b64decode(first["key_base64"]) == b"7"
    assert "no apicurio.value.globalId header" in second["reason"]
