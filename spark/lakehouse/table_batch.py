"""A batch of rows on their way into a table, inspected once before it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lakecontract.wire import tag_is_known_sql
from lakehouse.decode import FLAG_BAD, FLAG_SCHEMA, Undecodable

__all__ = ["BatchPart", "next_offsets", "summarize", "unseen", "with_bad"]


@dataclass(frozen=True, slots=True)
class BatchPart:
    """The rows of one partition in a batch."""

    partition: int
    rows: int
    bad: int
    first: int
    last: int
    """Offset of the last row, bad rows included."""
    schema_ids: tuple[bytes, ...]
    """Schemas that occur, if rows name them."""


def summarize(rows: DataFrame) -> list[BatchPart]:
    """Summarise a batch by partition, in one pass."""
    ids = f.lit(None).cast("binary")
    if FLAG_SCHEMA in rows.columns:
        ids = f.when(f.expr(tag_is_known_sql(FLAG_SCHEMA)), f.col(FLAG_SCHEMA))
    found = (
        rows.groupBy("__kafka_partition")
        .agg(
            f.count("*").alias("rows"),
            f.count_if(FLAG_BAD).alias("bad"),
            f.min("__kafka_offset").alias("first"),
            f.max("__kafka_offset").alias("last"),
            f.collect_set(ids).alias("ids"),
        )
        .collect()
    )
    return [
        BatchPart(
            partition=row["__kafka_partition"],
            rows=row["rows"],
            bad=row["bad"],
            first=row["first"],
            last=row["last"],
            schema_ids=tuple(sorted(bytes(one) for one in row["ids"])),
        )
        for row in found
    ]


def unseen(partition: int, span: range) -> BatchPart:
    """Return the part of a batch with these offsets of a partition, all taken to be sound."""
    return BatchPart(
        partition=partition,
        rows=len(span),
        bad=0,
        first=span.start,
        last=span.stop - 1,
        schema_ids=(),
    )


def next_offsets(parts: Iterable[BatchPart]) -> dict[int, int]:
    """Return the offset that follows the batch, by partition."""
    return {part.partition: part.last + 1 for part in parts}


def with_bad(parts: Sequence[BatchPart], records: Iterable[Undecodable]) -> list[BatchPart]:
    """Return the parts of a batch together with its bad records that are not rows."""
    known = {part.partition: part for part in parts}
    for record in records:
        offset = record.offset
        part = known.get(record.partition) or BatchPart(record.partition, 0, 0, offset, offset, ())
        known[record.partition] = replace(
            part,
            rows=part.rows + 1,
            bad=part.bad + 1,
            first=min(part.first, offset),
            last=max(part.last, offset),
        )
    return list(known.values())
