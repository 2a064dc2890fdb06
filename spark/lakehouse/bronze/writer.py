"""Writes every topic's records to bronze files, exactly once."""

from __future__ import annotations

import io
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import fastavro
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from lakehouse.batch_limit import Spans
from lakehouse.bronze.files import (
    BronzeFile,
    BronzeRecord,
    container,
    cut,
)
from lakehouse.bronze.listing import BronzeListing
from lakehouse.bronze.sink_config import SinkConfig
from lakehouse.bronze.values import BronzeValues
from lakehouse.deadletter import DeadLetters
from lakehouse.decode import Undecodable
from lakehouse.first_load import SilverFirst
from lakehouse.kafka import Kafka, Topics
from lakehouse.progress import Progress, now
from lakehouse.query import KafkaQuery
from lakehouse.registry import SchemaRegistry
from lakehouse.topic_identity import BronzeTopics, TopicState, why_not_to_go_on
from lakehouse.wire import NO_SCHEMA, VALUE_HEADER, VALUE_HEADER_SQL, split

__all__ = ["BronzeWriter"]

_log = logging.getLogger(__name__)
_MAX_OFFSETS_PER_BATCH = 50_000
_MAX_BYTES_PER_BATCH = 32 * 1024 * 1024
"""A batch is in memory several times over: as Spark has it, as Python has it, as files."""


class BronzeWriter(KafkaQuery):
    """One query over all topics. Where it goes on is what the bucket says, after any crash."""

    def __init__(
        self,
        spark: SparkSession,
        kafka: Kafka,
        registry: SchemaRegistry,
        config: SinkConfig,
        dead_letters: DeadLetters,
        *,
        base_path: str,
        checkpoint: str,
        topics: BronzeTopics,
        arrived: Mapping[str, threading.Event],
        silver_first: SilverFirst | None,
        once: bool,
    ) -> None:
        """`arrived` has an event for each topic of which somebody waits for files."""
        super().__init__(
            spark,
            kafka,
            Progress(offsets={}, stopped_topics={}, last_file=None, last_commit_at=None),
            name="bronze",
            topics=Topics(config.topics_regex, is_pattern=True),
            checkpoint=checkpoint,
            max_offsets=_MAX_OFFSETS_PER_BATCH,
            max_bytes=_MAX_BYTES_PER_BATCH,
            trigger_ms=None if once else config.rotate_schedule_interval_ms,
        )
        self._values = BronzeValues(registry, config)
        self._config = config
        self._dead_letters = dead_letters
        self._arrived = arrived
        self._silver_first = silver_first
        self._topics_path = f"{base_path.rstrip('/')}/{config.topics_dir}"
        self._base_path = base_path.rstrip("/")
        self._bronze_topics = topics
        self._remembered: set[str] = set()
        self._next_offsets: dict[str, dict[int, int]] = {}
        self._stopped: dict[str, str] = {}

    def better_with(self, partitions: Mapping[str, list[int]]) -> str | None:
        if self._silver_first is None:
            return None
        return self._silver_first.better_with(partitions, time.monotonic())

    def open(self, topics: Mapping[str, TopicState]) -> Mapping[str, Mapping[int, int]]:
        """Go on behind the last file of every partition, but for topics that were made again."""
        self._stopped = {}
        self._remembered = set()
        self._bronze_topics.retire(self._topics_path)
        self._next_offsets = {
            name: self._written(name, topic.ends) for name, topic in topics.items()
        }
        begin = dict(self._next_offsets)
        for name, topic in topics.items():
            remembered = self._bronze_topics.id_of(name)
            if why := why_not_to_go_on(remembered, self._next_offsets[name], topic):
                self._stop(
                    name,
                    f"Bronze cannot go on with the topic {name}: {why}. Nothing of it was written "
                    "since. Once the topic has every row (labctl connectors snapshot), "
                    "write table and bronze again from it: labctl rebuild TABLE --from-topic",
                )
                begin[name] = dict(topic.ends)
            elif remembered != topic.id:
                self._bronze_topics.remember(name, topic.id)
            self._remembered.add(name)
        self._tell_of_stopped()
        return begin

    def _stop(self, topic: str, why: str) -> None:
        self._stopped[topic] = why
        _log.error("bronze: %s", why)

    def _tell_of_stopped(self) -> None:
        self.progress.set(
            offsets=self._shown_offsets(),
            stopped_topics=dict(self._stopped),
            error="\n".join(self._stopped.values()) or None,
        )

    def _written(self, topic: str, partitions: Iterable[int]) -> dict[int, int]:
        """By partition, the offset behind the last record that is in a file."""
        listing = BronzeListing(self._storage, f"{self._topics_path}/{topic}")
        found: dict[int, int] = {}
        for partition, path in listing.last_files(partitions).items():
            records: Iterable[Any] = fastavro.reader(io.BytesIO(self._storage.read(path)))
            found[partition] = (
                max(record[self._config.position_fields[1]] for record in records) + 1
            )
        return found

    def take_in(self, records: DataFrame, _spans: Spans) -> None:
        rows = records.where("value IS NOT NULL").selectExpr(
            "topic",
            "partition",
            "offset",
            "unix_millis(timestamp) AS timestamp_ms",
            "key",
            "value",
            f"{VALUE_HEADER_SQL} AS header",
        )
        written = 0
        for file in cut(self._sound(rows), self._config):
            self._write(file)
            written += len(file.records)
        self._tell_of_stopped()
        self.progress.committed(written, last_commit_at=now())

    def _sound(self, rows: DataFrame) -> Iterator[BronzeRecord]:
        """The rows that are Avro of their schema, and not in a file yet."""
        # By way of columns: much cheaper than Spark's own rows of Python objects.
        found: Iterable[Any] = rows.toPandas().itertuples(index=False)
        for row in found:
            offsets = self._next_offsets.setdefault(row.topic, {})
            if row.topic in self._stopped or row.offset < offsets.get(row.partition, 0):
                continue
            schema_id, value = split(row.header, row.value)
            reason = self._values.fault(schema_id, value)
            if schema_id is not None and reason is None:
                yield BronzeRecord(
                    topic=row.topic,
                    partition=row.partition,
                    offset=row.offset,
                    timestamp_ms=row.timestamp_ms,
                    schema_id=int.from_bytes(schema_id, "big", signed=True),
                    value=value,
                )
            else:
                self._put_aside(row, reason or NO_SCHEMA)

    def _put_aside(self, row: Any, reason: str) -> None:
        """Stop the record's topic, and no other, or put it into the dead-letter location."""
        if not self._config.tolerate_errors:
            self._stop(
                row.topic,
                f"The record at {row.topic} partition {row.partition} offset {row.offset} cannot "
                f"go into a bronze file: {reason}. Nothing of its topic was written since. To put "
                "such records aside instead, set errors.tolerance=all in the sink connector's JSON",
            )
            return
        headers = () if row.header is None else ((VALUE_HEADER, bytes(row.header)),)
        self._dead_letters.write(
            [
                Undecodable(
                    topic=row.topic,
                    partition=row.partition,
                    offset=row.offset,
                    timestamp_ms=row.timestamp_ms,
                    reason=reason,
                    key=None if row.key is None else bytes(row.key),
                    value=bytes(row.value),
                    headers=headers,
                )
            ]
        )

    def _write(self, file: BronzeFile) -> None:
        last = file.records[-1]
        if last.topic not in self._remembered:
            self._bronze_topics.remember(
                last.topic, self._kafka.topic_ids([last.topic])[last.topic]
            )
            self._remembered.add(last.topic)
        schema = self._values.file_schema(last.schema_id)
        key = file.key(self._config.topics_dir)
        content = container(file, schema, self._config.codec, self._compress_snappy)
        self._storage.write(f"{self._base_path}/{key}", content)
        self._next_offsets[last.topic][last.partition] = last.offset + 1
        self.progress.set(last_file=key)
        if last.topic in self._arrived:
            self._arrived[last.topic].set()

    def _compress_snappy(self, block: bytes) -> bytes:
        return bytes(pa.compress(block, codec="snappy", asbytes=True))

    def _shown_offsets(self) -> dict[str, dict[str, int]]:
        return {
            topic: {str(partition): offset for partition, offset in offsets.items()}
            for topic, offsets in self._next_offsets.items()
        }
