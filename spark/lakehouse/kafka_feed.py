"""A table's changes straight from its topic: one streaming query per table."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from lakecontract.deletes import DELETED, MARK
from lakehouse.batch_limit import Spans
from lakehouse.deadletter import DeadLetters
from lakehouse.decode import Decoder, Undecodable
from lakehouse.first_load import FirstLoad
from lakehouse.kafka import Kafka, Topics
from lakehouse.kafka_query import KafkaQuery
from lakehouse.registry import SchemaRegistry
from lakehouse.replay import Replay
from lakehouse.table_batch import BatchPart, summarize, unseen
from lakehouse.table_ingestion import TableWriter
from lakehouse.tombstones import LOOK_BACK, Change, lost_deletes, unexplained
from lakehouse.topic_identity import TopicState
from lakehouse.truncates import Truncate, UnorderedError, last_of

__all__ = ["KafkaFeed", "trigger_ms"]

_TRIGGER_MS = 100
_LOOKS_PER_SECOND = 200
"""Polls of Kafka for new records by all tables together: each takes processor time."""
_MAX_OFFSETS_PER_BATCH = 250_000
_MAX_BYTES_PER_BATCH = 64 * 1024 * 1024
_LOOK_THROUGH_FROM = 10_000
"""Number of records from which on a batch is inspected before it is written."""


def trigger_ms(tables: int) -> int:
    """Return the milliseconds between two polls for new records, by the number of tables."""
    return max(_TRIGGER_MS, 1000 * tables // _LOOKS_PER_SECOND)


class KafkaFeed(KafkaQuery):
    """A query that reads one topic into one table. A batch is committed whole or not at all."""

    def __init__(
        self,
        spark: SparkSession,
        kafka: Kafka,
        registry: SchemaRegistry,
        writer: TableWriter,
        dead_letters: DeadLetters,
        *,
        replay_request_path: str,
        other_replay_requests: Sequence[str],
        checkpoint: str,
        tables: int,
        once: bool,
    ) -> None:
        """`tables` is the number of the application's tables, this one included."""
        config = writer.table.config
        super().__init__(
            spark,
            kafka,
            writer.progress,
            name=config.name,
            topics=Topics(config.topic, is_pattern=False),
            checkpoint=checkpoint,
            max_offsets=_MAX_OFFSETS_PER_BATCH,
            max_bytes=_MAX_BYTES_PER_BATCH,
            trigger_ms=None if once else trigger_ms(tables),
        )
        self.topic = config.topic
        self._writer = writer
        self._decoder = Decoder(spark, registry, writer.table.key_generator.keys)
        self._replay = Replay(spark, kafka, self._decoder, writer, dead_letters)
        self._replay_request_path = replay_request_path
        self._other_replay_requests = other_replay_requests
        self._schema_ids: list[bytes] = []
        self._has_tombstones = False
        self._first_load = None if once else FirstLoad(_MAX_OFFSETS_PER_BATCH)

    def waits_for(self, partitions: Mapping[str, list[int]]) -> str | None:
        if self._first_load is None:
            return None
        if not self._first_load.has_begun and self._writer.table.exists():
            self._first_load = None
            return None
        records = self._kafka.records(partitions)
        if self._first_load.is_arriving(records, time.monotonic()):
            return f"more of its topic's first load, {records:,} records so far"
        return None

    def is_loading(self) -> bool:
        """Return whether the table waits, or may wait, for its first commit; False on an error."""
        load = self._first_load
        if load is None or self.progress.batches or self.progress.snapshot()["error"]:
            return False
        return not load.is_empty

    def open(self, topics: Mapping[str, TopicState]) -> Mapping[str, Mapping[int, int]]:
        self._writer.open(topics[self.topic])
        if self._storage.exists(self._replay_request_path):
            # Tables of one topic share its letters: the last one that is asked puts them away.
            is_last = not any(map(self._storage.exists, self._other_replay_requests))
            self.progress.set(last_replay=self._replay.run(put_away=is_last))
            self._storage.delete(self._replay_request_path)
        return {self.topic: self._writer.next_offsets}

    def ingest(self, records: DataFrame, spans: Spans) -> None:
        if not self._schema_ids:
            self._schema_ids = self._decoder.schema_ids(records)
        if self._schema_ids and self._try_unchecked(records, spans[self.topic]):
            return
        self._inspect(records)

    def _inspect(self, records: DataFrame) -> None:
        while not self._try(records):
            """Try again: the batch has other schemas than the last one, which are known now."""

    def _try_unchecked(self, records: DataFrame, spans: Mapping[int, range]) -> bool:
        """Ingest the batch without inspecting it first, if it is small and has nothing new.

        The inspection is a Spark job of its own, a fifth of the time that a small batch takes.
        Whether the batch has anything new shows while it is written, before it is committed.
        """
        if self._has_tombstones:
            return False
        taken = self._writer.next_offsets
        if any(span.start < taken.get(number, 0) for number, span in spans.items()):
            return False
        if sum(map(len, spans.values())) >= _LOOK_THROUGH_FROM:
            return False
        target = self._writer.schema_with(self._decoder.columns(self._schema_ids))
        rows = self._decoder.decode_sound(records, self._schema_ids, target)
        return self._writer.try_unchecked(rows, [unseen(*item) for item in spans.items()])

    def _try(self, records: DataFrame) -> bool:
        """Ingest the batch if it has the expected schemas; else expect its own, return False."""
        ids = self._schema_ids
        target = self._writer.schema_with(self._decoder.columns(ids))
        rows = self._decoder.decode(records, ids, target)
        rows.persist(StorageLevel.MEMORY_AND_DISK_DESER)
        try:
            parts = summarize(rows)
            seen = sorted({one for part in parts for one in part.schema_ids})
            if not set(seen) <= set(ids):
                self._schema_ids = seen
                return False
            self._schema_ids = self._decoder.usable(seen) or ids
            truncates = self._decoder.truncates(rows, seen)
            if last := self._last_of(truncates, target):
                self._take_around(records, truncates, last)
                return True
            self._writer.ingest(rows, parts, lambda bad: self._explain(records, parts, bad))
            return True
        finally:
            rows.unpersist()

    def _last_of(self, truncates: Sequence[Truncate], target: StructType) -> Truncate | None:
        """Return the last of `truncates`; None if there are none, or they are bad records."""
        if not truncates:
            return None
        partitions = self._kafka.partitions(self._topics)[self.topic]
        try:
            return last_of(truncates, target, len(partitions))
        except UnorderedError:
            return None

    def _take_around(
        self, records: DataFrame, truncates: Sequence[Truncate], last: Truncate
    ) -> None:
        """Ingest the rows before a batch's last TRUNCATE, then it, then the rows after it.

        Each is a commit of its own, which has the table's position: after a crash the table
        continues there.
        """
        own = [one.offset for one in truncates]
        self._inspect(records.where((f.col("offset") < last.offset) & ~f.col("offset").isin(own)))
        self._writer.truncate(last)
        self._inspect(records.where(f.col("offset") > last.offset))

    def _explain(
        self, records: DataFrame, parts: Sequence[BatchPart], bad: DataFrame
    ) -> list[Undecodable]:
        """Return why rows are bad, without null records that only repeat a delete."""
        found = self._decoder.explain(records, bad)
        nulls = [one for one in found if one.value is None]
        if not nulls:
            return found
        self._has_tombstones = True
        changes = self._changes(records, nulls)
        if further := unexplained(nulls, changes):
            changes += self._changes(self._kafka.read(self._before(parts, further)), further)
        sound = [one for one in found if one.value is not None]
        return sorted(sound + lost_deletes(nulls, changes), key=lambda x: (x.partition, x.offset))

    def _before(self, parts: Sequence[BatchPart], nulls: Iterable[Undecodable]) -> Spans:
        """Return the spans of the last records before the batch, in the partitions of `nulls`."""
        earliest = self._kafka.earliest({self.topic: sorted({one.partition for one in nulls})})
        starts = {part.partition: part.first for part in parts}
        return {
            self.topic: {
                number: range(max(first, starts[number] - LOOK_BACK), starts[number])
                for number, first in earliest[self.topic].items()
                if first < starts[number]
            }
        }

    def _changes(self, records: DataFrame, nulls: Iterable[Undecodable]) -> list[Change]:
        """Return the changes in `records` of the keys of `nulls`."""
        keys = sorted({one.key for one in nulls if one.key is not None})
        if not keys:
            return []
        wanted = self._spark.createDataFrame([(key,) for key in keys], "key binary")
        mine = records.where("value IS NOT NULL").join(wanted, "key", "left_semi")
        ids = self._decoder.schema_ids(mine, of_all=True)
        target = self._writer.schema_with(self._decoder.columns(ids))
        if DELETED not in target.names:
            return []
        rows = self._decoder.decode(mine, ids, target).selectExpr(
            "__kafka_partition AS partition", "__kafka_offset AS offset", f"{DELETED} AS deleted"
        )
        found = mine.select("partition", "offset", "key").join(rows, ["partition", "offset"])
        return [
            Change(row.partition, row.offset, bytes(row.key), row.deleted == MARK)
            for row in found.collect()
        ]
