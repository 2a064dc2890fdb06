"""Records whose values no column can hold, in a Spark session of the test."""

from __future__ import annotations

import io
import json
import struct
from datetime import UTC, datetime
from typing import Any, cast

import fastavro
import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehouse.decode import FLAG_BAD, Decoder
from lakehouse.mapping import WriterSchema
from lakehouse.registry import SchemaRegistry
from lakehouse.wire import VALUE_HEADER
from tests.integration.spark.change_records import column, debezium, nullable

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

TAG = struct.pack(">q", 1)
KAFKA = (
    "key binary, value binary, headers array<struct<key: string, value: binary>>, "
    "topic string, partition int, offset bigint, timestamp timestamp"
)
DATE, MILLIS, MICROS = (
    debezium("time.Date", "int"),
    debezium("time.Timestamp", "long"),
    debezium("time.MicroTimestamp", "long"),
)
INFINITY_MICROS = 2**63 - 1 - 807  # what Debezium sends for a timestamp of PostgreSQL's infinity


class OneSchema:
    """A registry that has a single schema."""

    def __init__(self, kind: Any) -> None:
        fields = [column("id", "int"), column("moment", nullable(kind))]
        self.avro = {"type": "record", "name": "Value", "fields": fields}

    def schema(self, number: int) -> WriterSchema:
        assert number == 1
        return WriterSchema.parse(json.dumps(self.avro))


def records(spark: SparkSession, registry: OneSchema, values: list[int | None]) -> DataFrame:
    plain = {
        "type": "record",
        "name": "Value",
        "fields": [column("id", "int"), column("moment", nullable(_base(registry)))],
    }
    rows = []
    for offset, value in enumerate(values):
        content = io.BytesIO()
        fastavro.schemaless_writer(content, plain, {"id": offset, "moment": value})
        now = datetime(2026, 1, 1, tzinfo=UTC)
        rows.append((None, content.getvalue(), [(VALUE_HEADER, TAG)], "t", 0, offset, now))
    return spark.createDataFrame(rows, KAFKA)


def _base(registry: OneSchema) -> Any:
    return cast(Any, registry.avro)["fields"][1]["type"][1]["type"]


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
    ],
)
def test_a_moment_outside_of_years_1_to_9999_is_put_aside_by_name(
    kind: Any, held: list[int | None], too_far: list[int | None], spark: SparkSession
) -> None:
    registry = OneSchema(kind)
    decoder = Decoder(spark, cast(SchemaRegistry, registry), "id")
    sent = records(spark, registry, [*held, *too_far])
    (target,) = decoder.columns([TAG])
    rows = decoder.decode(sent, [TAG], target)
    bad = rows.where(FLAG_BAD)
    offsets = {row[0] for row in bad.select("__kafka_offset").collect()}
    assert offsets == set(range(len(held), len(held) + len(too_far)))
    for undecodable in decoder.explain(sent, bad):
        assert undecodable.reason.startswith("its moment is ")
        assert undecodable.reason.endswith("which the column's type cannot hold exactly")
