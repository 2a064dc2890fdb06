"""A batch of rows on their way into a table, looked through once before it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lakehouse.decode import FLAG_BAD, FLAG_SCHEMA, Undecodable
from lakehouse.wire import tag_is_known_sql

__all__ = ["BatchPart", "next_offsets", "summarize", "unseen", "with_bad"]


@dataclass(frozen=True, slots=True)
class BatchPart:
    """What a batch has of one partition."""

    partition: int
    rows: int
    bad: int
    first: int
    last: int
    """Offset of the last row, of those that are bad too."""
    schema_ids: tuple[bytes, ...]
    """Schemas that occur, where rows say which."""


def summarize(rows: DataFrame) -> list[BatchPart]:
    """Look through a batch once, by partition."""
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
    """What a batch has of one partition, by its offsets: all taken to be sound."""
    return BatchPart(
        partition=partition,
        rows=len(span),
        bad=0,
        first=span.start,
        last=span.stop - 1,
        schema_ids=(),
    )


def next_offsets(parts: Iterable[BatchPart]) -> dict[int, int]:
    """By partition, the offset that follows the batch."""
    return {part.partition: part.last + 1 for part in parts}


def with_bad(parts: Sequence[BatchPart], records: Iterable[Undecodable]) -> list[BatchPart]:
    """Return what a batch has together with bad records of it that are no rows."""
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
