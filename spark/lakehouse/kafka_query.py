"""A worker that is one streaming query over Kafka topics."""

from __future__ import annotations

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lakehouse.batch_limit import BatchLimit, Spans, is_too_large
from lakehouse.kafka import Kafka, Topics
from lakehouse.progress import WorkerProgress
from lakehouse.storage import LakeFiles
from lakehouse.topic_identity import TopicIdentity, TopicState

__all__ = ["KafkaQuery"]

_LOOK_AT_SIZES_SECONDS = 1.0
"""Seconds between two checks of how large topics are."""
_DATA_LOSS = "data may have been lost"
"""Text in Spark's message when Kafka no longer has the next offsets."""


class KafkaQuery(ABC):
    """A query that reads topics batch by batch. The target has its position, Spark does not.

    Spark's checkpoint is therefore begun again at every start, from the target's own offsets. They
    are exact even after a crash between writing a batch and noting it in the checkpoint.
    """

    def __init__(
        self,
        spark: SparkSession,
        kafka: Kafka,
        progress: WorkerProgress,
        *,
        name: str,
        topics: Topics,
        checkpoint: str,
        max_offsets: int,
        max_bytes: int,
        trigger_ms: int | None,
    ) -> None:
        """`max_offsets` and `max_bytes` limit how much is taken in at once.

        `trigger_ms` is the time between two polls for new records; None: read once to the end."""
        self.name = name
        self.progress = progress
        self._spark = spark
        self._kafka = kafka
        self._topics = topics
        self._checkpoint = checkpoint
        self._max_offsets = max_offsets
        self._limit = BatchLimit(max_offsets, max_bytes)
        self._limit_path = f"{checkpoint}.limit"
        self._is_limit_known = False
        self._trigger_ms = trigger_ms
        self._failure: Exception | None = None
        self._stopping = False
        self._batch = threading.Lock()
        self._query: StreamingQuery | None = None
        self._storage = LakeFiles(spark)
        self._position: dict[str, dict[int, int]] = {}
        self._identities: dict[str, TopicIdentity] = {}
        self._starts: dict[str, Mapping[int, int]] = {}
        self._sizes_looked_at = 0.0

    def go_on_from(self, other: KafkaQuery) -> None:
        """Take over what the query of the same name that this one replaces has found out."""
        self._limit = other._limit
        self._is_limit_known = other._is_limit_known

    @abstractmethod
    def open(self, topics: Mapping[str, TopicState]) -> Mapping[str, Mapping[int, int]]:
        """Prepare to take in batches. Return the first offset, by topic and partition."""

    @abstractmethod
    def ingest(self, records: DataFrame, spans: Spans) -> None:
        """Make a batch durable, or the part of one that memory has room for.

        Rows are the Kafka source's, with the offsets `spans`. An error raised here ends the query.
        """

    def has_source(self) -> bool:
        """Return whether there is a topic to read."""
        return bool(self._kafka.partitions(self._topics))

    def waiting_for(self) -> str | None:
        """Return what is missing before the query can start; None when it can."""
        partitions = self._kafka.partitions(self._topics)
        if not partitions:
            return f"a topic named {self._topics.names}"
        return self.waits_for(partitions)

    def waits_for(self, _partitions: Mapping[str, list[int]]) -> str | None:
        """Return what the query waits for, besides a topic; None when it can begin."""
        return None

    def start(self) -> None:
        self._failure = None
        self._stopping = False
        partitions = self._kafka.partitions(self._topics)
        topics = self._kafka.states(partitions)
        self._identities = {name: topic.identity for name, topic in topics.items()}
        next_offsets = self.open(topics)
        starting = self._kafka.starting_offsets(partitions, next_offsets)
        self._position = {topic: dict(offsets) for topic, offsets in next_offsets.items()}
        self._starts = {topic: state.starts for topic, state in topics.items()}
        self._know_limit()
        self._look_at_sizes(partitions)
        self._sizes_looked_at = time.monotonic()
        self._storage.delete(self._checkpoint)
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", self.name)
        stream = (
            self._spark.readStream.format("kafka")
            .options(**self._kafka.source_options())
            .option(*self._topics.source_option())
            .option("startingOffsets", starting)
            .option("maxOffsetsPerTrigger", self._max_offsets)
            .load()
            .writeStream.queryName(self.name)
            .option("checkpointLocation", self._checkpoint)
            .foreachBatch(self._on_batch)
        )
        if self._trigger_ms is None:
            stream = stream.trigger(availableNow=True)
        else:
            stream = stream.trigger(processingTime=f"{self._trigger_ms} milliseconds")
        self._query = stream.start()

    def is_alive(self) -> bool:
        return self._query is not None and self._query.isActive

    def error(self) -> Exception | None:
        """Return the error that ended the query; None when it ended normally."""
        failure = self._failure
        if failure is None and self._query is not None:
            failure = self._query.exception()
        if failure is not None and _DATA_LOSS in str(failure):
            # The next start finds out what is missing, and where: for bronze, topic by topic.
            return OSError(f"Kafka does not have the records that {self.name} would go on with")
        return failure

    def stop(self) -> None:
        """Stop after the current batch: Spark's own way would interrupt it half made."""
        self._stopping = True
        with self._batch:
            pass
        if self._query is not None:
            self._query.stop()

    def _on_batch(self, records: DataFrame, batch_id: int) -> None:
        with self._batch:
            if self._stopping:
                return
            try:
                spans = self._spans(batch_id)
                self._look_at_topics(spans)
                self._look_at_size_of(spans)
                self._ingest_parts(records, spans)
            except Exception as error:
                if is_too_large(error):
                    self._limit.failed()
                    self._keep_limit()
                self._failure = error
                raise

    def _ingest_parts(self, records: DataFrame, spans: Spans) -> None:
        """Ingest a batch, in parts if it is larger than memory has room for.

        Spark limits a batch only by its records.
        """
        for part in self._limit.parts(spans):
            if self._stopping:
                return
            self.ingest(records if part == spans else self._kafka.read(part), part)
            if self._limit.succeeded():
                self._keep_limit()

    def _know_limit(self) -> None:
        """Take over what an earlier process found out about the limit.

        Spark notes a batch before it begins and when it is over. If one is not over here, the
        process died during it, and had no time to halve the limit.
        """
        if self._is_limit_known:
            return
        self._is_limit_known = True
        if self._storage.exists(self._limit_path):
            self._limit.halvings = int(self._storage.read(self._limit_path))
        begun, over = (
            max(
                (
                    int(entry.name)
                    for entry in self._storage.entries(f"{self._checkpoint}/{log}")
                    if entry.name.isdecimal()
                ),
                default=-1,
            )
            for log in ("offsets", "commits")
        )
        if begun > over:
            self._limit.died()
            self._keep_limit()

    def _keep_limit(self) -> None:
        if self._limit.halvings:
            self._storage.write(self._limit_path, str(self._limit.halvings).encode())
        else:
            self._storage.delete(self._limit_path)

    def _look_at_topics(self, spans: Spans) -> None:
        """Check that the batch's topics are still the same, at every batch: it may be the last.

        Raises OSError when one was recreated or has more partitions, which is reported when the
        query starts again. Spark notices a recreated topic by offsets that are no longer there,
        unless the new topic already has them.
        """
        found = self._kafka.identities(topic for topic, numbers in spans.items() if numbers)
        # A topic that a pattern matches only since the start is followed from its first batch on.
        changed = [
            name for name, now in found.items() if self._identities.setdefault(name, now) != now
        ]
        if changed:
            raise OSError(f"{', '.join(changed)} was recreated, or has got more partitions")

    def _look_at_size_of(self, spans: Spans) -> None:
        """Check the sizes of topics from time to time, if there is enough to read to matter."""
        if time.monotonic() - self._sizes_looked_at < _LOOK_AT_SIZES_SECONDS:
            return
        records = sum(len(span) for numbers in spans.values() for span in numbers.values())
        if not self._limit.is_surely_small(records):
            self._look_at_sizes(
                {topic: list(numbers) for topic, numbers in spans.items() if numbers}
            )
        self._sizes_looked_at = time.monotonic()

    def _look_at_sizes(self, partitions: Mapping[str, list[int]]) -> None:
        for topic, size in self._kafka.log_sizes(partitions).items():
            self._limit.noted(topic, size)

    def _spans(self, batch_id: int) -> Spans:
        """Return the batch's offsets, from what Spark noted before it began."""
        log = self._storage.read(f"{self._checkpoint}/offsets/{batch_id}").decode("utf-8")
        ends = json.loads(log.splitlines()[-1])
        before = self._position
        self._position = {
            topic: {int(number): end for number, end in partitions.items()}
            for topic, partitions in ends.items()
        }
        spans: dict[str, dict[int, range]] = {}
        for topic, partitions in self._position.items():
            known = self._beginnings(topic, partitions) | before.get(topic, {})
            spans[topic] = {
                number: range(known[number], end)
                for number, end in partitions.items()
                if end > known[number]
            }
        return spans

    def _beginnings(self, topic: str, partitions: Iterable[int]) -> dict[int, int]:
        """Return the offset at which Spark begins with new partitions, by partition."""
        known = dict(self._starts.get(topic, {}))
        if missing := [number for number in partitions if number not in known]:
            known |= self._kafka.earliest({topic: missing})[topic]
            self._starts[topic] = known
        return known
