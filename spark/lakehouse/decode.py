"""Change records of a topic, decoded with the schemas they were written with."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.types import StructField, StructType

from lakecontract.deletes import DELETED, MARK
from lakecontract.errors import UnusableSchemaError
from lakecontract.wire import (
    NO_SCHEMA,
    SCHEMA_ID_BYTES,
    VALUE_HEADER_SQL,
    VALUE_TAG_SQL,
    body_sql,
    has_tag_sql,
    schema_id_of,
    split,
    tag_is_known_sql,
)
from lakehouse.mapping import Field, WriterSchema
from lakehouse.record_keys import RecordKeys
from lakehouse.registry import SchemaRegistry
from lakehouse.schema_changes import POSITION_COLUMNS
from lakehouse.truncates import Truncate, UnorderedError
from lakehouse.unavailable import is_unavailable, unavailable_reason

__all__ = [
    "FLAG_BAD",
    "FLAG_SCHEMA",
    "LOST_DELETE",
    "UNEXPECTED",
    "Decoder",
    "Undecodable",
    "column_values",
    "columns_of",
    "exactness",
    "none_that",
]

FLAG_SCHEMA = "__lab_schema"
"""Column with a decoded row's tag (`wire.py`) of its schema; it may name none, or be null."""
FLAG_BAD = "__lab_bad"
"""Column that says that a row could not be decoded."""

LOST_DELETE = (
    "it is null, and no record of its key that says __deleted comes before it: a delete that "
    "nothing can follow. Does the connector rewrite deletes "
    "(transforms.unwrap.delete.tombstone.handling.mode=rewrite)?"
)
"""Reason for a bad null record that is not a tombstone after a delete."""

UNEXPECTED = "__lab_unexpected"
"""Mark in the error of a row that `Decoder.decode_sound` must not meet."""

_PERMISSIVE = {"mode": "PERMISSIVE", "datetimeRebaseMode": "CORRECTED"}
_FAILFAST = {"mode": "FAILFAST", "datetimeRebaseMode": "CORRECTED"}
_EXACT = "__lab_exact"
_FIRST_RECORDS = 100
_OFFSET = "__kafka_offset"


@dataclass(frozen=True, slots=True)
class Undecodable:
    """A record that could not be decoded, with its place and the reason."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    reason: str
    key: bytes | None
    value: bytes | None
    """None of a null record: a tombstone, or a delete that was lost."""
    headers: tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class _Decoding:
    """Plan that turns records into rows. It is reused: making it costs more than a small batch."""

    made_for: tuple[tuple[bytes, ...], StructType, bool]
    """The schemas, the columns they become, and whether the table keeps all keys apart."""
    steps: tuple[list[Column], ...]
    flagged: list[Column]
    """The last step if rows are to be inspected: the target's columns and the flags."""
    sound: list[Column]
    """The last step if an unexpected row must fail the query."""

    def apply(self, records: DataFrame, last: list[Column]) -> DataFrame:
        # Spark analyses each step again in every batch, which takes milliseconds: have few steps.
        rows = records
        for columns in (*self.steps, last):
            rows = rows.select(*columns)
        return rows


class Decoder:
    """Decoder of the Kafka source's rows for one table.

    Schema ids are tags here (`wire.py`). A schema has two tags if its topic has records in both
    forms.
    """

    def __init__(self, spark: SparkSession, registry: SchemaRegistry, keys: RecordKeys) -> None:
        self._spark = spark
        self._registry = registry
        self._keys = keys
        self._columns: dict[bytes, StructType] = {}
        self._decoding: _Decoding | None = None

    def columns(self, schema_ids: Iterable[bytes]) -> list[StructType]:
        """Return the columns of rows of each usable schema, position columns included.

        Raises OSError when the registry does not answer.
        """
        return [self._columns_of(schema_id) for schema_id in self.usable(schema_ids)]

    def usable(self, schema_ids: Iterable[bytes]) -> list[bytes]:
        """Return those of `schema_ids` with a usable schema of rows; records of others are bad.

        Raises OSError when the registry does not answer: then nothing is known of them.
        """
        return [schema_id for schema_id in schema_ids if self._is_usable(schema_id)]

    def _is_usable(self, schema_id: bytes) -> bool:
        try:
            return not self._schema(schema_id).is_truncate
        except UnusableSchemaError:
            return False

    def truncates(self, rows: DataFrame, schema_ids: Iterable[bytes]) -> list[Truncate]:
        """Return the records of a TRUNCATE among decoded `rows`, which have these schemas."""
        marks = [f.expr(_literal(one)) for one in schema_ids if self._is_truncate(one)]
        if not marks:
            return []
        found = rows.where(f.col(FLAG_SCHEMA).isin(marks)).select(*POSITION_COLUMNS.names)
        return [Truncate(*row) for row in found.collect()]

    def _is_truncate(self, schema_id: bytes) -> bool:
        try:
            return self._schema(schema_id).is_truncate
        except UnusableSchemaError:
            return False

    def _columns_of(self, schema_id: bytes) -> StructType:
        known = self._columns.get(schema_id)
        if known is None:
            own = columns_of(self._spark, self._schema(schema_id))
            known = self._columns[schema_id] = StructType(own.fields + POSITION_COLUMNS.fields)
        return known

    def schema_ids(self, records: DataFrame, *, of_all: bool = False) -> list[bytes]:
        """Return the distinct schema ids in the first of `records`, without invalid ids.

        Inspecting the batch reveals the others. A separate pass over all records is made only if
        `of_all` asks for it.
        """
        looked_at = records if of_all else records.limit(_FIRST_RECORDS)
        ids = looked_at.selectExpr(f"{VALUE_TAG_SQL} AS id")
        first = (ids.distinct() if of_all else ids).collect()
        found = {bytes(row.id) for row in first if row.id is not None}
        return sorted(one for one in found if schema_id_of(one) is not None)

    def decode(
        self, records: DataFrame, schema_ids: Sequence[bytes], target: StructType
    ) -> DataFrame:
        """Return `records` as rows of `target`, with `FLAG_SCHEMA` and `FLAG_BAD`.

        A row whose schema is not among `schema_ids` is null except for flags and position. A row
        whose schema is among them but not usable is bad, and so is a null record.
        """
        decoding = self._decoding_for(schema_ids, target)
        return decoding.apply(records, decoding.flagged)

    def decode_sound(
        self, records: DataFrame, schema_ids: Sequence[bytes], target: StructType
    ) -> DataFrame:
        """Return `records` as rows of `target` without flags; all must be sound, of `schema_ids`.

        Any other row fails the query, with `UNEXPECTED` in the error.
        """
        decoding = self._decoding_for(schema_ids, target)
        return decoding.apply(records, decoding.sound)

    def _decoding_for(self, schema_ids: Sequence[bytes], target: StructType) -> _Decoding:
        wanted = (tuple(schema_ids), target, self._keys.are_distinct)
        if self._decoding is None or self._decoding.made_for != wanted:
            self._decoding = self._plan(*wanted)
        return self._decoding

    def _plan(
        self, schema_ids: tuple[bytes, ...], target: StructType, are_distinct: bool
    ) -> _Decoding:
        usable = self.usable(schema_ids)
        positioned = [
            f.expr(f"{VALUE_TAG_SQL} AS {FLAG_SCHEMA}"),
            f.expr("partition AS __kafka_partition"),
            f.expr("offset AS __kafka_offset"),
            f.expr("unix_millis(timestamp) AS __kafka_timestamp"),
        ]
        row = f.lit(None)
        for schema_id in usable:
            mine = f.expr(has_tag_sql(schema_id))
            schema = self._schema(schema_id)
            record = from_avro(f.when(mine, f.expr(body_sql(schema_id))), schema.text, _PERMISSIVE)
            positioned.append(record.alias(_record(schema_id)))
            written = f.col(FLAG_SCHEMA) == f.expr(_literal(schema_id))
            row = f.when(written, f.expr(self._row(schema_id, target))).otherwise(row)
        bad = f.col(FLAG_SCHEMA).isNull() | ~f.expr(tag_is_known_sql(FLAG_SCHEMA))
        if unusable := [f.expr(_literal(one)) for one in schema_ids if one not in usable]:
            bad = bad | f.col(FLAG_SCHEMA).isin(unusable)
        if usable:
            wrong_key = f.expr(self._keys.problem(target, "row.`{}`".format)).isNotNull()
            # Only the key of a deleted row counts.
            gone = f.lit(False)
            if DELETED in target.names:
                gone = f.coalesce(f.col(f"row.{DELETED}") == MARK, f.lit(False))
            inexact = ~f.col(f"row.{_EXACT}") & ~gone
            bad = bad | (f.col("row").isNotNull() & (wrong_key | inexact))
        columns = {field.name: _column(field, decoded=bool(usable)) for field in target.fields}
        known = [f.expr(_literal(schema_id)) for schema_id in schema_ids]
        checked = {_OFFSET: _unless(bad | ~f.col(FLAG_SCHEMA).isin(known))}
        return _Decoding(
            (schema_ids, target, are_distinct),
            steps=(
                positioned,
                [f.col(name) for name in (FLAG_SCHEMA, *POSITION_COLUMNS.names)]
                + [row.alias("row")],
            ),
            flagged=[*columns.values(), f.col(FLAG_SCHEMA), bad.alias(FLAG_BAD)],
            sound=[*(columns | checked).values()],
        )

    def explain(self, records: DataFrame, bad: DataFrame) -> list[Undecodable]:
        """Return the `records` at the places of the `bad` rows, each with its reason."""
        places = bad.select(
            f.col("__kafka_partition").alias("partition"), f.col("__kafka_offset").alias("offset")
        )
        found = (
            records.join(places, ["partition", "offset"], "left_semi")
            .withColumn("timestamp_ms", f.expr("unix_millis(timestamp)"))
            .withColumn("header", f.expr(VALUE_HEADER_SQL))
            .collect()
        )
        return [
            Undecodable(
                topic=row.topic,
                partition=row.partition,
                offset=row.offset,
                timestamp_ms=row.timestamp_ms,
                reason=self._reason(row.header, row.value),
                key=None if row.key is None else bytes(row.key),
                value=None if row.value is None else bytes(row.value),
                headers=tuple(
                    (header.key, None if header.value is None else bytes(header.value))
                    for header in row.headers or ()
                ),
            )
            for row in sorted(found, key=lambda row: (row.partition, row.offset))
        ]

    def _reason(self, header: bytearray | None, value: bytearray | None) -> str:
        if value is None:
            return LOST_DELETE
        schema_id, body = split(None if header is None else bytes(header), bytes(value))
        if schema_id is None or len(schema_id) != SCHEMA_ID_BYTES:
            return NO_SCHEMA
        number = _number(schema_id)
        try:
            schema = self._schema(schema_id)
            if schema.is_truncate:
                raise UnorderedError(f"schema {number}")
        except UnusableSchemaError as error:
            return error.what
        one = self._spark.range(1).select(
            from_avro(f.lit(body), schema.text, _FAILFAST).alias("record")
        )
        # Values are shown as text, because Python has no date after the year 9999.
        reasons = [
            f"CASE WHEN NOT ({_is_exact(field, 'record')}) THEN concat('its {field.name} is ', "
            f"{field.shown.format(field.raw('record'))}, "
            "', which the column\\'s type cannot hold exactly') END"
            for field in schema.fields
            if field.expression
        ]
        reasons += [
            f"IF({is_unavailable([(field.raw('record'), field.form)])}, "
            f"'{unavailable_reason(field.name)}', NULL)"
            for field in schema.fields
            if field.form
        ]
        values = column_values(schema, "record", columns := self._columns_of(schema_id))
        problem = self._keys.problem(columns, lambda name: values.get(name, "NULL"))
        reasons.append(f"concat({problem}, ' (schema {number})')")
        try:
            (found,) = one.selectExpr(f"coalesce({', '.join(reasons)}, 'NULL')").collect()[0]
        except Exception as error:
            lines = [line.strip() for line in str(error).splitlines() if "Caused by" in line]
            cause = lines[-1] if lines else str(error).splitlines()[0]
            return f"it does not decode with schema {number}: {cause}"
        return str(found)

    def _schema(self, schema_id: bytes) -> WriterSchema:
        return self._registry.schema(_number(schema_id))

    def _row(self, schema_id: bytes, target: StructType) -> str:
        """Return Spark SQL of a struct with the columns of `target`, from the decoded record."""
        schema = self._schema(schema_id)
        parts = [
            f"'{name}', {value}"
            for name, value in column_values(schema, _record(schema_id), target).items()
            if name not in POSITION_COLUMNS.names
        ]
        return (
            f"named_struct({', '.join(parts)}, '{_EXACT}', {exactness(schema, _record(schema_id))})"
        )


def none_that(is_unexpected: Column, rows: DataFrame) -> DataFrame:
    """Return `rows`, of which none may meet a condition: a row that does fails the query.

    The error then contains `UNEXPECTED`.
    """
    return rows.withColumn(_OFFSET, _unless(is_unexpected))


def _unless(is_unexpected: Column) -> Column:
    """Return the offset column, which raises an error for an unexpected row.

    The check is in a column, because a filter would make Spark decode the row a second time.
    """
    offset = f.when(is_unexpected, f.raise_error(f.lit(UNEXPECTED))).otherwise(f.col(_OFFSET))
    return offset.cast("bigint").alias(_OFFSET)


def _column(field: StructField, *, decoded: bool) -> Column:
    if field.name in POSITION_COLUMNS.names:
        return f.col(field.name)
    value = f.col(f"row.`{field.name}`") if decoded else f.lit(None).cast(field.dataType)
    return value.alias(field.name)


def column_values(schema: WriterSchema, source: str, target: StructType) -> dict[str, str]:
    """Return Spark SQL for every column of `target`, from the decoded struct (or row) `source`."""
    values = {field.name: field.value(source) for field in schema.fields}
    return {
        field.name: f"CAST({values.get(field.name, 'NULL')} AS {field.dataType.simpleString()})"
        for field in target.fields
    }


def exactness(schema: WriterSchema, source: str) -> str:
    """Return Spark SQL that is false if a column's type cannot hold its value, or none was sent."""
    checks = [_is_exact(field, source) for field in schema.fields if field.expression]
    unavailable = is_unavailable(
        (field.raw(source), field.form) for field in schema.fields if field.form
    )
    if unavailable is not None:
        checks.append(f"NOT ({unavailable})")
    return " AND ".join(f"({check})" for check in checks) or "TRUE"


def _is_exact(field: Field, source: str) -> str:
    return f"{field.raw(source)} IS NULL OR {field.value(source)} IS NOT NULL"


def columns_of(spark: SparkSession, schema: WriterSchema) -> StructType:
    """Return the columns of records of `schema`."""
    decoded = spark.range(0).select(
        from_avro(f.lit(None).cast("binary"), schema.text, _PERMISSIVE).alias("record")
    )
    return decoded.selectExpr(*(field.column("record") for field in schema.fields)).schema


def _record(schema_id: bytes) -> str:
    return f"record_{schema_id.hex()}"


def _literal(schema_id: bytes) -> str:
    return f"X'{schema_id.hex()}'"


def _number(tag: bytes) -> int:
    """Return the schema id in a tag. Raises ValueError for a tag that names no schema."""
    if (schema_id := schema_id_of(tag)) is None:
        raise ValueError(f"no schema is named by {tag.hex()}")
    return int(struct.unpack(">q", schema_id)[0])
