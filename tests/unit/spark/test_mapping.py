"""What becomes of a field: writer schemas annotated so that they decode into exact types."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lakehouse.mapping import MAPPINGS, WriterSchema


def parsed(field_type: Any) -> tuple[Any, str | None]:
    """The annotated type of a field of `field_type`, and its expression."""
    schema = WriterSchema.parse(
        json.dumps(
            {"type": "record", "name": "Value", "fields": [{"name": "c", "type": field_type}]}
        )
    )
    return json.loads(schema.text)["fields"][0]["type"], schema.fields[0].expression


def debezium(name: str, base: str) -> dict[str, Any]:
    return {"type": base, "connect.version": 1, "connect.name": f"io.debezium.time.{name}"}


@pytest.mark.parametrize(
    ("name", "base", "logical"),
    [
        ("Date", "int", "date"),
        ("Timestamp", "long", "timestamp-millis"),
        ("MicroTimestamp", "long", "timestamp-micros"),
        ("NanoTimestamp", "long", None),
        ("MicroTime", "long", None),
        ("Year", "int", None),
    ],
)
def test_temporal_types_get_avros_own_logical_type(
    name: str, base: str, logical: str | None
) -> None:
    plain, expression = parsed(debezium(name, base))
    nullable, _ = parsed(["null", debezium(name, base)])

    assert plain.get("logicalType") == logical
    assert nullable[1].get("logicalType") == logical
    assert plain["type"] == base, "the encoding stays"
    # Years 1 to 9999 alone, where a column has years.
    assert (expression is None) == (logical is None)


def test_an_instant_with_a_zone_is_converted_after_decoding() -> None:
    _, expression = parsed(["null", debezium("ZonedTimestamp", "string")])

    assert expression is not None
    assert "to_timestamp(x)" in expression.format("x")


def test_a_time_in_milliseconds_loses_its_logical_type_and_becomes_microseconds() -> None:
    annotated, expression = parsed(
        {
            "type": "int",
            "connect.name": "org.apache.kafka.connect.data.Time",
            "logicalType": "time-millis",
        }
    )

    assert "logicalType" not in annotated
    assert expression == "CAST({0} AS BIGINT) * 1000"


def test_a_decimal_of_any_scale_decodes_as_its_digits_and_its_scale() -> None:
    annotated, expression = parsed(
        [
            "null",
            {
                "type": "record",
                "name": "VariableScaleDecimal",
                "connect.name": "io.debezium.data.VariableScaleDecimal",
                "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
            },
        ]
    )

    assert annotated[1]["fields"][1]["type"] == "bytes"
    assert expression is not None
    assert "x.scale" in expression.format("x")


@pytest.mark.parametrize(("precision", "wide"), [(38, False), (39, True), (65, True)])
def test_a_decimal_of_more_digits_than_spark_has_decodes_as_its_bytes(
    precision: int, wide: bool
) -> None:
    kind = {"type": "bytes", "precision": precision, "scale": 2, "logicalType": "decimal"}
    annotated, expression = parsed(["null", kind])

    assert ("logicalType" not in annotated[1]) is wide
    assert (expression is not None) is wide


@pytest.mark.parametrize("namespace", [{}, {"namespace": "io.debezium.data"}])
def test_a_type_that_an_earlier_column_has_is_named_alone(namespace: dict[str, str]) -> None:
    record = {
        "type": "record",
        "name": "VariableScaleDecimal",
        "connect.name": "io.debezium.data.VariableScaleDecimal",
        "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
        **namespace,
    }
    again = ".".join([*namespace.values(), "VariableScaleDecimal"])
    types = [["null", record], again, ["null", {"type": "array", "items": ["null", again]}]]
    fields = [{"name": f"c{n}", "type": kind} for n, kind in enumerate(types)]
    schema = WriterSchema.parse(json.dumps({"type": "record", "name": "V", "fields": fields}))

    first, second, array = (field.expression for field in schema.fields)
    assert first is not None
    assert first == second
    assert array is not None
    assert "exists(x, " in array.format("x")
    assert json.loads(schema.text)["fields"][1]["type"] == again


@pytest.mark.parametrize(
    ("precision", "room"), [(1, 2), (8, 9), (37, 38), (38, None), (39, None), (1000, None)]
)
def test_a_decimal_in_which_nan_may_come_decodes_with_room_for_it(
    precision: int, room: int | None
) -> None:
    marked = {"connect.parameters": {"labctl.special": "true"}, "logicalType": "decimal"}
    kind = {"type": "bytes", "precision": precision, "scale": 1, **marked}
    annotated, expression = parsed(["null", kind])

    assert ("logicalType" in annotated[1]) is (room is not None)
    assert annotated[1]["precision"] == (room or precision)
    assert expression is not None
    of_array, expression = parsed({"type": "array", "items": ["null", kind]})
    assert of_array["items"] == annotated
    assert expression is not None
    assert "exists(x, " in expression.format("x")


def test_what_has_no_meaning_of_its_own_stays() -> None:
    assert parsed(["null", "string"]) == (["null", "string"], None)
    assert parsed({"type": "int", "connect.type": "int16"})[1] is None


def test_a_column_is_read_by_its_own_name() -> None:
    schema = WriterSchema.parse(
        '{"type": "record", "name": "V", "fields": [{"name": "order", "type": "int"}]}'
    )

    assert schema.fields[0].column("record") == "record.`order` AS `order`"
    assert schema.fields[0].column("") == "`order` AS `order`"


@pytest.mark.parametrize("text", ['"string"', "[]", '{"type": "enum"}'])
def test_a_value_that_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an Avro record schema"):
        WriterSchema.parse(text)


def test_every_mapping_can_be_documented() -> None:
    assert all(mapped.silver_type and mapped.note for mapped in MAPPINGS.values())


def test_arrays_of_texts_alone_are_searched_for_inner_arrays() -> None:
    texts = {"type": "array", "items": ["null", "string"]}
    numbers = {"type": "array", "items": ["null", "int"]}

    assert "exists(x, " in str(parsed(["null", texts])[1]).format("x")
    assert parsed(numbers)[1] is None
