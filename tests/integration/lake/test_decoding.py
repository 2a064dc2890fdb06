"""Records whose values no column can hold, in a Spark session of the test."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from random import Random
from typing import Any, cast

import fastavro
import pytest
from pyspark.sql import DataFrame, SparkSession

from lakecontract.wire import VALUE_HEADER
from lakehouse.bronze.reader import BronzeReader
from lakehouse.decode import FLAG_BAD, Decoder
from lakehouse.mapping import WriterSchema
from lakehouse.record_keys import RecordKeys
from lakehouse.registry import SchemaRegistry
from lakehouse.schema_changes import POSITION_COLUMNS, merge_schemas
from lakehouse.storage import LakeFiles
from lakehouse.truncates import Truncate, last_of
from tests.integration.spark.change_records import column, debezium, decimal, nullable

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

TAG = struct.pack(">q", 1)
KAFKA = (
    "key binary, value binary, headers array<struct<key: string, value: binary>>, "
    "topic string, partition int, offset bigint, timestamp timestamp"
)
DATE, MILLIS, MICROS, ZONED = (
    debezium("time.Date", "int"),
    debezium("time.Timestamp", "long"),
    debezium("time.MicroTimestamp", "long"),
    debezium("time.ZonedTimestamp", "string"),
)
INFINITY_MICROS = 2**63 - 1 - 807  # what Debezium sends for a timestamp of PostgreSQL's infinity


class OneSchema:
    """A registry that has a single schema."""

    def __init__(self, fields: list[Any]) -> None:
        self.avro = {"type": "record", "name": "Value", "fields": fields}

    def schema(self, number: int) -> WriterSchema:
        assert number == 1
        return WriterSchema.parse(json.dumps(self.avro))


def records(spark: SparkSession, schema: Any, rows: list[dict[str, Any]]) -> DataFrame:
    """Rows as the Kafka source gives them, written with `schema`; offsets count from 0."""
    sent, now = [], datetime(2026, 1, 1, tzinfo=UTC)
    for offset, row in enumerate(rows):
        content = io.BytesIO()
        fastavro.schemaless_writer(content, schema, row)
        sent.append((None, content.getvalue(), [(VALUE_HEADER, TAG)], "t", 0, offset, now))
    return spark.createDataFrame(sent, KAFKA)


def offsets_of(rows: DataFrame) -> set[int]:
    return {row[0] for row in rows.select("__kafka_offset").collect()}


@pytest.mark.parametrize(
    ("kind", "held", "too_far"),
    [
        (DATE, [-719162, 0, 2932896, None], [-719163, 2932897, 2**31 - 1, -(2**31)]),
        (MILLIS, [-62135596800000, 253402300799999, None], [-62135596800001, 253402300800000]),
        (
            MICROS,
            [-62135596800000000, 253402300799999999, None],
            [-62135596800000001, 253402300800000000, INFINITY_MICROS, -(2**63)],
        ),
        (
            ZONED,
            [
                "0001-01-01T00:00:00Z",
                "9999-12-31T23:59:59.999999Z",
                "2020-02-29T00:00:00+05:45",
                None,
            ],
            ["+10000-01-01T00:00:00Z", "-0043-03-15T00:00:00Z", "9999-12-31T23:59:59-01:00", "x"],
        ),
    ],
)
def test_a_moment_outside_of_years_1_to_9999_is_put_aside_by_name(
    kind: Any, held: list[Any], too_far: list[Any], spark: SparkSession
) -> None:
    registry = OneSchema([column("id", "int"), column("moment", nullable(kind))])
    plain = {
        "type": "record",
        "name": "Value",
        "fields": [column("id", "int"), column("moment", nullable(kind["type"]))],
    }
    decoder = Decoder(spark, cast(SchemaRegistry, registry), RecordKeys(("id",)))
    moments = [*held, *too_far]
    sent = records(spark, plain, [{"id": n, "moment": m} for n, m in enumerate(moments)])
    (target,) = decoder.columns([TAG])
    bad = decoder.decode(sent, [TAG], target).where(FLAG_BAD)
    assert offsets_of(bad) == set(range(len(held), len(held) + len(too_far)))
    for undecodable in decoder.explain(sent, bad):
        assert undecodable.reason.startswith("its moment is ")
        assert undecodable.reason.endswith("which the column's type cannot hold exactly")


@pytest.mark.parametrize(
    ("kind", "held", "too_far"),
    [
        (DATE, 2932896, 2932897),
        (MILLIS, -62135596800000, -(10**14)),
        (MICROS, -62135596800000000, -(10**17)),
        (ZONED, "0001-01-01T00:00:00Z", "-0043-03-15T00:00:00Z"),
    ],
)
def test_an_array_with_a_moment_that_is_too_far_is_put_aside_by_name(
    kind: Any, held: Any, too_far: Any, spark: SparkSession
) -> None:
    arrays, plain = (
        [column("id", "int"), column("a", nullable({"type": "array", "items": nullable(one)}))]
        for one in (kind, kind["type"])
    )
    decoder = Decoder(spark, cast(SchemaRegistry, OneSchema(arrays)), RecordKeys(("id",)))
    sound = [None, [], [None], [held, None]]
    rows = [{"id": n, "a": a} for n, a in enumerate([*sound, [too_far], [held, None, too_far]])]
    sent = records(spark, {"type": "record", "name": "Value", "fields": plain}, rows)
    (target,) = decoder.columns([TAG])
    decoded = decoder.decode(sent, [TAG], target)
    bad = decoded.where(FLAG_BAD)
    assert offsets_of(bad) == {4, 5}
    for undecodable in decoder.explain(sent, bad):
        assert undecodable.reason.startswith("its a is [")
    kept = decoded.where(f"NOT {FLAG_BAD}").selectExpr("id", "size(a)").orderBy("id").collect()
    assert [row[1] for row in kept] == [-1, 0, 1, 2]


VARIABLE = {
    "type": "record",
    "name": "VariableScaleDecimal",
    "connect.name": "io.debezium.data.VariableScaleDecimal",
    "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
}
NAMES = (
    "NaN",
    "Infinity",
    "-Infinity",
    "a value that Debezium does not send",
    "a number of more digits than its column had when its capture instance was made",
)
SPECIALS = range(1, len(NAMES) + 1)


def marked(digits: int, scale: int) -> dict[str, Any]:
    """The type that `labctl.SpecialNumbers` gives a column."""
    kind = decimal(digits, scale)
    return {**kind, "connect.parameters": {**kind["connect.parameters"], "labctl.special": "true"}}


def avro_bytes(number: int) -> bytes:
    return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


def number_cases() -> Iterator[Any]:
    wide = 10**60 - 1
    for digits, scale in ((8, 2), (18, 0), (19, 19), (37, 5), (38, 0), (38, 38), (60, 10)):
        most = 10**digits - 1
        numbers = [0, 1, -1, 7, -256, 2**64 if digits > 20 else 99, most, -most]
        specials = [avro_bytes(what * 10**digits) for what in SPECIALS]
        sent = [avro_bytes(number) for number in numbers]
        held = [Decimal(number).scaleb(-scale, Context(prec=99)) for number in numbers]
        for in_array in (False, True):
            # Silver has the bytes of such numbers in arrays, and else their text.
            texts = sent if in_array else [format(one, "f") for one in held]
            shown = texts if digits > 38 else held
            yield pytest.param(
                marked(digits, scale), in_array, sent, shown, specials, id=f"{digits} {in_array}"
            )
    numbers = [(0, 5), (3, -1), (0, wide)]
    structs = [{"scale": scale, "value": avro_bytes(number)} for scale, number in numbers]
    nothing = [{"scale": what, "value": b""} for what in SPECIALS]
    texts = ["5", "-0.001", str(wide)]
    yield pytest.param(VARIABLE, False, structs, texts, nothing, id="variable")
    yield pytest.param(VARIABLE, True, structs, structs, nothing, id="variable array")


@pytest.mark.parametrize(("kind", "in_array", "sent", "held", "specials"), [*number_cases()])
def test_a_number_that_is_none_is_put_aside_by_name(
    kind: Any,
    in_array: bool,
    sent: list[Any],
    held: list[Any],
    specials: list[Any],
    spark: SparkSession,
) -> None:
    """Numbers that no such column holds: all others are as they were."""
    plain = "bytes" if kind["type"] == "bytes" else kind
    if in_array:
        kind, plain = ({"type": "array", "items": nullable(one)} for one in (kind, plain))
        sent, held, specials = ([[one, None] for one in each] for each in (sent, held, specials))
    fields = [column("id", "int"), column("__deleted", "string")]
    registry = OneSchema([*fields, column("n", nullable(kind))])
    written = {
        "type": "record",
        "name": "Value",
        "fields": [*fields, column("n", nullable(plain))],
    }
    rows = [
        {"id": number, "n": value, "__deleted": "false"}
        for number, value in enumerate([*sent, None, *specials])
    ]
    # Of a row that is deleted the key alone counts.
    rows.append({"id": -1, "n": specials[0], "__deleted": "true"})
    decoder = Decoder(spark, cast(SchemaRegistry, registry), RecordKeys(("id",)))
    kafka_rows = records(spark, written, rows)
    (target,) = decoder.columns([TAG])
    decoded = decoder.decode(kafka_rows, [TAG], target)
    sound = decoded.where(f"NOT {FLAG_BAD}").orderBy("id").select("n").collect()
    found = [row.asDict(recursive=True)["n"] for row in sound]
    assert found == [None, *held, None]
    bad = decoded.where(FLAG_BAD)
    reasons = [one.reason for one in decoder.explain(kafka_rows, bad)]
    assert reasons == [
        f"its n is {name}{',NULL' if in_array else ''}, which the column's type cannot hold exactly"
        for name in NAMES
    ]


NOT_SENT = "__debezium_unavailable_value"
JSON = {"type": "string", "connect.name": "io.debezium.data.Json"}


@pytest.mark.parametrize(
    ("kind", "held", "not_sent"),
    [
        ("string", ["", NOT_SENT[:-1], f" {NOT_SENT}", None], [NOT_SENT, NOT_SENT.encode().hex()]),
        (JSON, ["{}", None], [NOT_SENT, f'{{"{NOT_SENT}":"{NOT_SENT}"}}']),
        ("bytes", [b"", NOT_SENT.encode()[1:], None], [NOT_SENT.encode()]),
        (
            {"type": "array", "items": nullable("string")},
            [[], [NOT_SENT, NOT_SENT], [None], None],
            [[NOT_SENT]],
        ),
        ({"type": "array", "items": nullable("int")}, [[], [95], None], [[*NOT_SENT.encode()]]),
        ({"type": "array", "items": "long"}, [[], [95], None], [[*NOT_SENT.encode()]]),
        ({"type": "array", "items": nullable(DATE)}, [[], [95], None], [[*NOT_SENT.encode()]]),
        ({"type": "array", "items": nullable(MICROS)}, [[], [95], None], []),
    ],
)
def test_a_value_that_postgresql_did_not_send_is_put_aside_by_name(
    kind: Any, held: list[Any], not_sent: list[Any], spark: SparkSession
) -> None:
    """Debezium writes a text in its place, in the form of the column's type."""
    fields = [column("id", "int"), column("title", "string"), column("body", nullable(kind))]
    registry = OneSchema([*fields, column("__deleted", "string")])
    decoder = Decoder(spark, cast(SchemaRegistry, registry), RecordKeys(("id",)))
    bodies = [*held, *not_sent]
    rows = [
        {"id": n, "title": "t", "body": body, "__deleted": "false"} for n, body in enumerate(bodies)
    ]
    # Of a row that is deleted the key alone counts.
    rows += [
        {"id": -1, "title": NOT_SENT, "body": body, "__deleted": "true"} for body in not_sent[:1]
    ]
    sent = records(spark, registry.avro, rows)
    (target,) = decoder.columns([TAG])
    bad = decoder.decode(sent, [TAG], target).where(FLAG_BAD)
    assert offsets_of(bad) == set(range(len(held), len(bodies)))
    for undecodable in decoder.explain(sent, bad):
        assert undecodable.reason.startswith(f"its body is {NOT_SENT}, ")
        assert "REPLICA IDENTITY FULL" in undecodable.reason


def test_arrays_of_several_types_are_in_one_table(spark: SparkSession) -> None:
    items = {"i": "int", "n": "long", "d": DATE, "ms": MILLIS, "us": MICROS, "z": ZONED}
    fields = [column(name, {"type": "array", "items": nullable(of)}) for name, of in items.items()]
    plain = {"d": "int", "ms": "long", "us": "long", "z": "string"}
    written = [
        column(name, {"type": "array", "items": nullable(plain.get(name, of))})
        for name, of in items.items()
    ]
    registry = OneSchema([column("id", "int"), *fields])
    record = {"type": "record", "name": "Value", "fields": [column("id", "int"), *written]}
    decoder = Decoder(spark, cast(SchemaRegistry, registry), RecordKeys(("id",)))
    values = {name: [1, None] for name in items} | {"z": ["2020-02-29T00:00:00Z", None]}
    sent = records(spark, record, [{"id": 0, **values}])
    (target,) = decoder.columns([TAG])
    (row,) = decoder.decode(sent, [TAG], target).where(f"NOT {FLAG_BAD}").collect()
    assert row["i"] == row["n"] == [1, None]
    assert row["d"] == [date(1970, 1, 2), None]


def test_an_array_of_several_dimensions_is_put_aside_by_name(spark: SparkSession) -> None:
    """Debezium writes `{{a,b},{c,d}}` as two texts, each the name of Java's class and a number."""
    words = column("words", nullable({"type": "array", "items": nullable("string")}))
    registry = OneSchema([column("id", "int"), words])
    decoder = Decoder(spark, cast(SchemaRegistry, registry), RecordKeys(("id",)))
    held = [["a", None, "[]"], [None], [], None, ["[L", "x [Ljava.lang.String;@e0c6c41"]]
    wrong = [
        ["[Ljava.lang.String;@e0c6c41", "[Ljava.lang.String;@4688f55b"],
        [None, "[[Ljava.util.UUID;@1f"],
    ]
    rows = [{"id": n, "words": each} for n, each in enumerate([*held, *wrong])]
    sent = records(spark, registry.avro, rows)
    (target,) = decoder.columns([TAG])
    decoded = decoder.decode(sent, [TAG], target)
    found = decoded.where(f"NOT {FLAG_BAD}").orderBy("id").collect()
    assert [row["words"] for row in found] == held
    bad = decoded.where(FLAG_BAD)
    assert offsets_of(bad) == {5, 6}
    for undecodable in decoder.explain(sent, bad):
        assert undecodable.reason.startswith("its words is [")
        assert undecodable.reason.endswith("which the column's type cannot hold exactly")


@pytest.mark.parametrize(
    ("keys", "sound", "wrong"),
    [
        (
            ["a"],
            [("x,b:y", ""), ("__empty__", ""), (" ", ""), ("a:b:c", ""), ("a:b,c", "")],
            [("", "z"), (None, "z"), ("urn:a:b,c", "z")],
        ),
        (
            ["a", "b"],
            [("x", "y,b:z"), ("x,b", ":y"), ("b:", "a:"), ("x", ""), ("", "x"), ("x", "p,q:r")],
            [("x,b:y", "z"), ("", ""), ("__empty__", "x"), ("x", "__null__"), ("x", "p,q:r:s")],
        ),
    ],
)
def test_a_key_that_hudi_could_not_keep_apart_is_put_aside_by_name(
    keys: list[str], sound: list[Any], wrong: list[Any], spark: SparkSession
) -> None:
    kind = nullable("string")
    registry = OneSchema([column("a", kind), column("b", kind)])
    record_keys = RecordKeys(tuple(keys))
    decoder = Decoder(spark, cast(SchemaRegistry, registry), record_keys)
    sent = records(
        spark, registry.avro, [dict(zip("ab", row, strict=True)) for row in [*sound, *wrong]]
    )
    (target,) = decoder.columns([TAG])
    of_null = {n for n, row in enumerate([*sound, *wrong]) if row[0] is None}
    assert offsets_of(decoder.decode(sent, [TAG], target).where(FLAG_BAD)) == of_null
    record_keys.are_distinct = False  # As of a table that Hudi's own class has begun.
    bad = decoder.decode(sent, [TAG], target).where(FLAG_BAD)
    assert offsets_of(bad) == set(range(len(sound), len(sound) + len(wrong)))
    reasons = [undecodable.reason for undecodable in decoder.explain(sent, bad)]
    assert all(reason.startswith("its record key ") for reason in reasons)


def test_of_a_row_that_is_deleted_the_key_alone_counts(spark: SparkSession) -> None:
    deleted = column("__deleted", nullable("string"))
    registry = OneSchema([column("id", "int"), column("moment", nullable(DATE)), deleted])
    plain = {
        "type": "record",
        "name": "Value",
        "fields": [column("id", "int"), column("moment", nullable("int")), deleted],
    }
    decoder = Decoder(spark, cast(SchemaRegistry, registry), RecordKeys(("id",)))
    rows = [{"id": 0, "moment": 2**31 - 1, "__deleted": mark} for mark in ("true", "false", None)]
    sent = records(spark, plain, rows)
    (target,) = decoder.columns([TAG])
    assert offsets_of(decoder.decode(sent, [TAG], target).where(FLAG_BAD)) == {1, 2}


def wide(precision: int, scale: int) -> Any:
    kind = {"type": "bytes", "scale": scale, "precision": precision, "logicalType": "decimal"}
    return kind | {"connect.name": "org.apache.kafka.connect.data.Decimal"}


FREE = {
    "type": "record",
    "name": "VariableScaleDecimal",
    "namespace": "io.debezium.data",
    "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
    "connect.name": "io.debezium.data.VariableScaleDecimal",
}


def test_decimals_with_more_digits_than_spark_has_arrive_as_their_exact_text(
    spark: SparkSession,
) -> None:
    random = Random(5)  # noqa: S311
    edges = [0, 1, -1, 127, 128, -128, -129, 255, 256, -256, 10**64, -(10**64), 16**20, -(16**20)]
    whole = [*edges, *(random.randint(-(10**64), 10**64) for _ in range(200))]
    fields = [
        column("id", "int"),
        column("w", nullable(wide(65, 30))),
        column("m", nullable(wide(64, 2))),
        column("n", nullable(wide(38, 2))),
        column("z", nullable(wide(40, 0))),
        column("f", nullable(FREE)),
    ]
    registry = OneSchema(fields)
    plain = json.loads(json.dumps(registry.avro))
    for field in plain["fields"][1:5]:
        field["type"] = ["null", "bytes"]

    def octets(number: int) -> bytes:
        return number.to_bytes((number.bit_length() + 8) // 8, "big", signed=True)

    scales = [random.randint(-3, 70) for _ in whole]
    rows: list[dict[str, Any]] = [
        {
            "id": position,
            "w": octets(number),
            "m": octets(number),
            "n": octets(number % 10**38),
            "z": octets(number),
            "f": {"scale": scales[position], "value": octets(number)},
        }
        for position, number in enumerate(whole)
    ]
    rows.append({"id": len(whole), "w": None, "m": None, "n": None, "z": None, "f": None})
    decoder = Decoder(spark, cast("SchemaRegistry", registry), RecordKeys(("id",)))
    (target,) = decoder.columns([TAG])
    kinds = {field.name: field.dataType.simpleString() for field in target.fields}
    assert [kinds[name] for name in "wmnzf"] == ["string", "string", "decimal(38,2)"] + [
        "string"
    ] * 2
    decoded = decoder.decode(records(spark, plain, rows), [TAG], target).collect()

    assert [row.id for row in decoded if row[FLAG_BAD]] == []
    by_id = {row.id: row for row in decoded}
    context = Context(prec=200)
    for position, number in enumerate(whole):
        row, scale = by_id[position], scales[position]
        assert row.w == f"{Decimal(number).scaleb(-30, context):f}"
        assert row.m == f"{Decimal(number).scaleb(-2, context):f}"
        assert row.n == Decimal(number % 10**38).scaleb(-2, context)
        assert row.z == str(number)
        assert row.f == f"{Decimal(number).scaleb(-scale, context):f}" or number == 0
    empty = by_id[len(whole)]
    assert [empty[name] for name in "wmnzf"] == [None] * 5


def test_a_wide_decimal_without_bytes_is_a_bad_record(spark: SparkSession) -> None:
    registry = OneSchema([column("id", "int"), column("w", nullable(wide(65, 30)))])
    plain = json.loads(json.dumps(registry.avro))
    plain["fields"][1]["type"] = ["null", "bytes"]
    decoder = Decoder(spark, cast("SchemaRegistry", registry), RecordKeys(("id",)))
    (target,) = decoder.columns([TAG])
    sent = records(spark, plain, [{"id": 1, "w": b""}])
    rows = decoder.decode(sent, [TAG], target)
    assert rows.collect()[0][FLAG_BAD]
    (found,) = decoder.explain(sent, rows)
    assert "its w is" in found.reason


def test_files_of_truncates_alone_have_no_rows_and_change_no_columns(spark: SparkSession) -> None:
    """So a table that is truncated before its first row goes on."""
    reader = BronzeReader(spark, cast(LakeFiles, None), RecordKeys(("id",)))
    target = merge_schemas("t", None, [])
    assert reader.rows([], target).collect() == []
    assert target == POSITION_COLUMNS
    truncate = Truncate(0, 5, 1)
    assert last_of([truncate], target, 1) == truncate
