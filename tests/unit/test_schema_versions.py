"""Fields of Avro schemas as text, and what a version of a schema changed."""

from __future__ import annotations

from labctl.kafka.schema_versions import changes, field_types
from labctl.kafka.topic_records import Place

DECIMAL = {
    "type": "bytes",
    "connect.parameters": {"scale": "2", "connect.decimal.precision": "10"},
    "connect.name": "org.apache.kafka.connect.data.Decimal",
}


def test_types_are_short_and_say_what_they_mean() -> None:
    fields = [
        {"name": "id", "type": "int"},
        {"name": "price", "type": ["null", DECIMAL]},
        {"name": "at", "type": {"type": "long", "connect.name": "io.debezium.time.Timestamp"}},
        {"name": "tags", "type": ["null", {"type": "array", "items": ["null", "string"]}]},
        {"name": "place", "type": {"type": "record", "name": "geo.Point", "fields": []}},
        {"name": "flag", "type": {"type": "boolean"}},
    ]
    assert field_types({"type": "record", "name": "r", "fields": fields}) == {
        "id": "int",
        "price": "null or Decimal(10,2)",
        "at": "Timestamp",
        "tags": "null or (null or string)[]",
        "place": "Point",
        "flag": "boolean",
    }
    assert field_types("string") == {}


def test_a_version_says_what_it_changed() -> None:
    before = {"id": "int", "old": "string", "n": "int"}
    after = {"id": "int", "new": "string", "n": "long"}
    assert changes(before, after) == ("+ new: string", "- old: string", "n: int → long")
    assert changes(after, after) == ()


def test_a_place_is_a_partition_and_an_offset() -> None:
    assert Place.parse(" 2:4711 ") == Place(2, 4711)
    assert [Place.parse(text) for text in ("", "2", "-1:0", "2:x", "2023-02-27", "1:2:3")] == [
        None
    ] * 6
