"""A table's changes straight from its topic: one streaming query per table."""

from __future__ import annotations

import time
from collections.abc import Mapping

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from lakehouse.decode import Decoder
from lakehouse.first_load import FirstLoad
from lakehouse.kafka import Kafka, Topics
from lakehouse.query import KafkaQuery, Spans
from lakehouse.registry import SchemaRegistry
from lakehouse.table import TableWriter
from lakehouse.table_batch import summarize, unseen

__all__ = ["KafkaFeed"]

_TRIGGER_MS = 100
_MAX_OFFSETS_PER_BATCH = 250_000
_LOOK_THROUGH_FROM = 10_000
"""Records from which on a batch is looked through before it is written."""


class KafkaFeed(KafkaQuery):
    """Reads one topic into one table. A batch is committed whole or not at all."""

    def __init__(
        self,
        spark: SparkSession,
        kafka: Kafka,
        registry: SchemaRegistry,
        writer: TableWriter,
        *,
        checkpoint: str,
        once: bool,
    ) -> None:
        config = writer.table.config
        super().__init__(
            spark,
            kafka,
            writer.progress,
            name=config.name,
            topics=Topics(config.topic, is_pattern=False),
            checkpoint=checkpoint,
            max_offsets=_MAX_OFFSETS_PER_BATCH,
            trigger_ms=None if once else _TRIGGER_MS,
        )
        self.topic = config.topic
        self._writer = writer
        self._decoder = Decoder(spark, registry, config.key_fields[0])
        self._schema_ids: list[bytes] = []
        self._first_load = None if once else FirstLoad(_MAX_OFFSETS_PER_BATCH)

    def better_with(self, partitions: Mapping[str, list[int]]) -> str | None:
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
        """Whether the table is waiting for its first commit, or may be; not one with an error."""
        load = self._first_load
        if load is None or self.progress.batches or self.progress.snapshot()["error"]:
            return False
        return not load.is_empty

    def open(self, _partitions: Mapping[str, list[int]]) -> Mapping[str, Mapping[int, int]]:
        self._writer.open()
        return {self.topic: self._writer.next_offsets}

    def take_in(self, records: DataFrame, spans: Spans | None) -> None:
        if not self._schema_ids:
            self._schema_ids = self._decoder.schema_ids(records)
        if self._schema_ids and spans and self._try_unseen(records, spans[self.topic]):
            return
        while not self._try(records):
            """The batch has other schemas than the one before: now they are known."""

    def _try_unseen(self, records: DataFrame, spans: Mapping[int, range]) -> bool:
        """Take the batch in without looking through it first, if it is small and nothing new.

        Looking through it is a Spark job of its own, a fifth of the time that a small batch takes.
        Whether there was anything new in it shows while it is written, before it is committed.
        """
        taken = self._writer.next_offsets
        if any(span.start < taken.get(number, 0) for number, span in spans.items()):
            return False
        if sum(map(len, spans.values())) >= _LOOK_THROUGH_FROM:
            return False
        target = self._writer.schema_with(self._decoder.columns(one) for one in self._schema_ids)
        rows = self._decoder.decode_sound(records, self._schema_ids, target)
        return self._writer.try_unseen(rows, [unseen(*item) for item in spans.items()])

    def _try(self, records: DataFrame) -> bool:
        """Take the batch in, if its schemas are the ones expected; if not, expect them."""
        ids = self._schema_ids
        target = self._writer.schema_with(self._decoder.columns(one) for one in ids)
        rows = self._decoder.decode(records, ids, target)
        rows.persist(StorageLevel.MEMORY_AND_DISK_DESER)
        try:
            parts = summarize(rows)
            seen = sorted({one for part in parts for one in part.schema_ids})
            expected = set(seen) <= set(ids)
            if seen:
                self._schema_ids = seen
            if expected:
                self._writer.take_in(rows, parts, lambda bad: self._decoder.explain(records, bad))
            return expected
        finally:
            rows.unpersist()
