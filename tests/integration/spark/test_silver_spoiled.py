"""Records that cannot be decoded go nowhere silently."""

from __future__ import annotations

import base64
import json
import struct

import pytest

from labctl.lab.tables.table_requests import replay_table
from lakecontract.wire import VALUE_HEADER
from tests.integration.spark.change_records import Topics, column, nullable
from tests.integration.spark.conftest import Silver, properties_of, topic_of

pytestmark = pytest.mark.long

COLUMNS = [column("id", "int"), column("name", nullable("string"))]
GARBAGE = b"\x02\x02\xff"
NO_SCHEMA = 987_654_321


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

    # It does what the error says: a table reads its properties when it restarts.
    with properties_of(silver.lab.project, "spoiled_stop").open("a") as properties:
        properties.write("lab.on.bad.record=deadletter\n")
    silver.ask("spoiled_stop", "restart")
    silver.has_taken("spoiled_stop", 3)
    assert set(silver.rows("spoiled_stop")) == {1, 2}


def test_spoiled_records_are_put_aside_with_place_and_reason(
    silver: Silver, topics: Topics
) -> None:
    topic = topic_of("spoiled_aside")
    topics.write(topic, COLUMNS, [{"id": 1, "name": "good"}])
    schema_id = topics.schema_id(topic)
    topics.write_raw(topic, GARBAGE, schema_id=schema_id, key="7")
    topics.write_raw(topic, GARBAGE, schema_id=None)
    topics.write_raw(topic, GARBAGE, schema_id=NO_SCHEMA)
    topics.write_raw(topic, GARBAGE, schema_id=-1)
    # A delete and the tombstone behind it, in batches of their own; then a delete without a row.
    topics.write(topic, COLUMNS, [{"id": 3, "name": "gone", "__op": "d"}])
    silver.has_taken("spoiled_aside", 6)
    topics.write_raw(topic, None, schema_id=None, key="3")
    topics.write_raw(topic, None, schema_id=None, key="1")
    topics.write(topic, COLUMNS, [{"id": 2, "name": "behind them"}])
    silver.has_taken("spoiled_aside", 9)

    rows = silver.rows("spoiled_aside")
    assert {key: row["__deleted"] for key, row in rows.items()} == {
        1: "false",
        2: "false",
        3: "true",
    }

    letters = {
        name.rsplit("/", 1)[1]: json.loads(content)
        for name, content in silver.objects(f"deadletter/{topic}/").items()
    }
    assert set(letters) == {f"{topic}+0+{offset:010d}.json" for offset in (1, 2, 3, 4, 7)}
    first, second, third, fourth, lost = (letters[name] for name in sorted(letters))
    assert (first["topic"], first["partition"], first["offset"]) == (topic, 0, 1)
    assert f"does not decode with schema {schema_id}" in first["reason"]
    assert base64.b64decode(first["value_base64"]) == GARBAGE
    assert base64.b64decode(first["key_base64"]) == b"7"
    assert "no apicurio.value.globalId header" in second["reason"]
    assert f"no schema with global id {NO_SCHEMA}" in third["reason"]
    assert "-1 is no global id" in fourth["reason"]
    assert "a delete that nothing can follow" in lost["reason"]
    assert (lost["value_base64"], base64.b64decode(lost["key_base64"])) == (None, b"1")
    assert silver.status("spoiled_aside")["dead_letters"] == 5
    assert "offset 7" in silver.status("spoiled_aside")["newest_dead_letter"]

    # Two that could be read by now: what came behind them in the topic stays.
    for letter, row in (second, {"id": 1, "name": "newer"}), (third, {"id": 2, "name": "older"}):
        number, value = topics.encoded(topic, COLUMNS, row)
        header = {"key": VALUE_HEADER, "value_base64": _base64(struct.pack(">q", number))}
        mended = letter | {"value_base64": _base64(value), "headers": [header]}
        name = f"{topic}+0+{letter['offset']:010d}.json"
        silver.put(f"deadletter/{topic}/{name}", json.dumps(mended).encode())

    result = replay_table(silver.lab, "spoiled_aside")

    assert (result["ingested"], result["overtaken"], result["still_bad"]) == (2, 0, 3)
    assert {key: row["name"] for key, row in silver.rows("spoiled_aside").items()} == {
        1: "newer",
        2: "behind them",
        3: "gone",
    }
    assert silver.status("spoiled_aside")["dead_letters"] == 3
    topics.write(topic, COLUMNS, [{"id": 4, "name": "goes on"}])
    silver.has_taken("spoiled_aside", 10)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def test_an_unknown_schema_stops_its_topic_alone(silver: Silver, topics: Topics) -> None:
    topic = topic_of("unknown_schema")
    topics.write_raw(topic, GARBAGE, schema_id=NO_SCHEMA)
    topics.flush()

    stopped = silver.is_in_state("unknown_schema", "failed")

    assert f"no schema with global id {NO_SCHEMA}" in stopped["error"]
    silver.until(
        lambda: topic in silver.status("bronze")["stopped_topics"], "bronze stops the topic"
    )
    end = int(silver.status("daily")["offsets"].get("0", 0))
    topics.write(topic_of("daily"), COLUMNS, [{"id": 9_000, "name": "on its way"}])
    silver.has_taken("daily", end + 1)
    silver.is_in_bronze("daily", end + 1)
