"""Writes the records of a sink's topics to bronze files, exactly once."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lakecontract.bronze_files import BronzeRecord, Rotation, cut
from lakecontract.bronze_partitioner import Place
from lakecontract.bronze_position import MOST_OFFSETS
from lakecontract.sink_config import SinkConfig
from lakecontract.wire import VALUE_HEADER, VALUE_HEADER_SQL, split
from lakehouse.batch_limit import Spans
from lakehouse.bronze.partition_files import PartitionFiles
from lakehouse.bronze.topics import BronzeTopics
from lakehouse.bronze.values import BronzeValues, UnfitValueError
from lakehouse.deadletter import DeadLetters
from lakehouse.decode import Undecodable
from lakehouse.first_load import SilverFirst
from lakehouse.kafka import Kafka, Topics
from lakehouse.kafka_query import KafkaQuery
from lakehouse.progress import WorkerProgress, now
from lakehouse.registry import SchemaRegistry
from lakehouse.topic_identity import TopicState, why_not_to_go_on

__all__ = ["BronzeWriter"]

_log = logging.getLogger(__name__)
_MAX_BYTES_PER_BATCH = 32 * 1024 * 1024
"""Most bytes of a batch, which is in memory several times: in Spark, in Python and as files."""


class BronzeWriter(KafkaQuery):
    """A query over the topics of a sink connector's file. The bucket holds its position."""

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
        """`arrived` has an event for each topic for whose files a reader waits."""
        super().__init__(
            spark,
            kafka,
            WorkerProgress(
                offsets={}, begins={}, stopped_topics={}, last_file=None, last_commit_at=None
            ),
            name=f"bronze-{config.name}",
            topics=Topics(config.topics_regex, is_pattern=True),
            checkpoint=checkpoint,
            max_offsets=MOST_OFFSETS,
            max_bytes=_MAX_BYTES_PER_BATCH,
            trigger_ms=None if once else config.rotate_schedule_interval_ms,
        )
        self._values = BronzeValues(registry, config)
        self._config = config
        self._dead_letters = dead_letters
        self._arrived = arrived
        self._silver_first = silver_first
        self._files = PartitionFiles(
            self._storage, topics, config, self._values.file_schema, base_path=base_path
        )
        self._bronze_topics = topics
        self._remembered: set[str] = set()
        self._stopped: dict[str, str] = {}

    def waits_for(self, partitions: Mapping[str, list[int]]) -> str | None:
        if self._silver_first is None:
            return None
        return self._silver_first.waits_for(partitions, time.monotonic())

    def open(self, topics: Mapping[str, TopicState]) -> Mapping[str, Mapping[int, int]]:
        """Continue after the last file of every partition, except for recreated topics."""
        self._stopped = {}
        self._remembered = set()
        self._files.forget()
        self._bronze_topics.retire(self._files.topics_path, self.reads)
        begin = {name: self._files.open(name, topic.ends) for name, topic in topics.items()}
        for name, topic in topics.items():
            remembered = self._bronze_topics.identity_of(name)
            if why := why_not_to_go_on(remembered.id, begin[name], topic):
                self._stop(
                    name,
                    f"Bronze cannot go on with the topic {name}: {why}. Nothing of it was written "
                    "since. Once the topic has every row (labctl connectors snapshot), "
                    "write table and bronze again from it: labctl table rebuild TABLE --from-topic",
                )
                begin[name] = dict(topic.ends)
            else:
                if remembered != topic.identity:
                    self._bronze_topics.remember(name, topic.identity)
                self._files.clear_beyond(name)
            self._remembered.add(name)
        self._tell_of_stopped()
        self.progress.set(
            begins={
                name: {str(partition): start for partition, start in topic.starts.items()}
                for name, topic in topics.items()
            }
        )
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

    @property
    def topics_path(self) -> str:
        """The folder with one subfolder per topic."""
        return self._files.topics_path

    def reads(self, topic: str) -> bool:
        """Return whether the sink takes a topic."""
        return self._topics.include(topic)

    def ingest(self, records: DataFrame, _spans: Spans) -> None:
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
        for rotation in cut(self._sound(rows), self._config):
            self._write(rotation)
            written += rotation.count
        self._tell_of_stopped()
        self.progress.committed(written, last_commit_at=now())

    def _sound(self, rows: DataFrame) -> Iterator[BronzeRecord]:
        """Yield the rows that are Avro of their schema and not in a file yet."""
        now_ms = time.time_ns() // 1_000_000
        # Rows are transferred as columns: much cheaper than Spark's rows of Python objects.
        found: Iterable[Any] = rows.toPandas().itertuples(index=False)
        for row in found:
            position = self._files.position(row.topic)
            if row.topic in self._stopped or row.offset < position.get(row.partition, 0):
                continue
            schema_id, value = split(row.header, row.value)
            place = Place(row.partition, row.timestamp_ms, now_ms)
            try:
                usable = self._values.check(schema_id, value, row.offset, place)
            except UnfitValueError as error:
                self._put_aside(row, str(error))
                continue
            yield BronzeRecord(
                topic=row.topic,
                partition=row.partition,
                offset=row.offset,
                timestamp_ms=row.timestamp_ms,
                schema_id=usable.schema_id,
                value=value,
                folder=usable.folder,
                time_ms=usable.time_ms,
            )

    def _put_aside(self, row: Any, reason: str) -> None:
        """Stop the record's topic alone, or write the record to the dead-letter location."""
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

    def _write(self, rotation: Rotation) -> None:
        topic = rotation.first.topic
        if topic not in self._remembered:
            self._bronze_topics.remember(topic, self._kafka.identities([topic])[topic])
            self._remembered.add(topic)
        for key in self._files.append(rotation):
            self.progress.set(last_file=key)
        if topic in self._arrived:
            self._arrived[topic].set()

    def _shown_offsets(self) -> dict[str, dict[str, int]]:
        return {
            topic: {str(partition): offset for partition, offset in offsets.items()}
            for topic, offsets in self._files.positions.items()
        }
