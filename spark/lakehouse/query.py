"""A worker that is one streaming query over Kafka topics."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lakehouse.errors import PermanentError
from lakehouse.kafka import Kafka, Topics
from lakehouse.progress import Progress
from lakehouse.storage import Storage

__all__ = ["KafkaQuery", "Spans"]

_DATA_LOSS = "data may have been lost"
"""In Spark's message when Kafka no longer has the offsets to go on with."""


Spans = Mapping[str, Mapping[int, range]]
"""By topic and partition, the offsets of a batch."""


class KafkaQuery(ABC):
    """Reads topics batch by batch. What was taken in is known to the target, not to Spark.

    Spark's checkpoint is therefore begun anew at every start, from the target's own offsets: they
    are exact also after a crash between writing a batch and noting it in the checkpoint.
    """

    def __init__(
        self,
        spark: SparkSession,
        kafka: Kafka,
        progress: Progress,
        *,
        name: str,
        topics: Topics,
        checkpoint: str,
        max_offsets: int,
        trigger_ms: int | None,
    ) -> None:
        """`trigger_ms` is the time between two looks for new records; None: once, to the end."""
        self.name = name
        self.progress = progress
        self._spark = spark
        self._kafka = kafka
        self._topics = topics
        self._checkpoint = checkpoint
        self._max_offsets = max_offsets
        self._trigger_ms = trigger_ms
        self._failure: Exception | None = None
        self._stopping = False
        self._batch = threading.Lock()
        self._query: StreamingQuery | None = None
        self._storage = Storage(spark)
        self._position: dict[str, dict[int, int]] = {}

    @abstractmethod
    def open(self, partitions: Mapping[str, list[int]]) -> Mapping[str, Mapping[int, int]]:
        """Prepare to take in batches. Returns, by topic and partition, the offset to begin with."""

    @abstractmethod
    def take_in(self, records: DataFrame, spans: Spans | None) -> None:
        """Make a batch durable; rows are the Kafka source's. What it raises ends the query.

        `spans` are the batch's offsets; None where Spark alone knows where it began.
        """

    def has_source(self) -> bool:
        """Whether there is a topic to read."""
        return bool(self._kafka.partitions(self._topics))

    def waiting_for(self) -> str | None:
        """What is missing before the query can start."""
        partitions = self._kafka.partitions(self._topics)
        if not partitions:
            return f"a topic named {self._topics.names}"
        return self.better_with(partitions)

    def better_with(self, _partitions: Mapping[str, list[int]]) -> str | None:
        """What else had better be there first, besides a topic."""
        return None

    def start(self) -> None:
        self._failure = None
        self._stopping = False
        partitions = self._kafka.partitions(self._topics)
        next_offsets = self.open(partitions)
        starting = self._kafka.starting_offsets(partitions, next_offsets)
        self._position = {topic: dict(offsets) for topic, offsets in next_offsets.items()}
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
        """Why the query ended; None when it came to its end."""
        failure = self._failure
        if failure is None and self._query is not None:
            failure = self._query.exception()
        if failure is not None and _DATA_LOSS in str(failure):
            return PermanentError(
                f"Kafka does not have the records {self.name} would go on with: they have expired, "
                "or the topic was deleted and made anew",
                hint="Rebuild the table from bronze (labctl rebuild), or begin with an empty lake",
            )
        return failure

    def stop(self) -> None:
        """End after the batch under way: Spark's own way would interrupt it half made."""
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
                self.take_in(records, self._spans(batch_id))
            except Exception as error:
                self._failure = error
                raise

    def _spans(self, batch_id: int) -> Spans | None:
        """Where the batch begins and ends, by what Spark noted before it began."""
        log = self._storage.read(f"{self._checkpoint}/offsets/{batch_id}").decode("utf-8")
        ends = json.loads(log.splitlines()[-1])
        before = self._position
        self._position = {
            topic: {int(number): end for number, end in partitions.items()}
            for topic, partitions in ends.items()
        }
        spans: dict[str, dict[int, range]] = {}
        for topic, partitions in self._position.items():
            known = before.get(topic, {})
            if not known.keys() >= partitions.keys():
                return None
            spans[topic] = {
                number: range(known[number], end)
                for number, end in partitions.items()
                if end > known[number]
            }
        return spans
