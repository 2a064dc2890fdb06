"""Requests of this program's own Kafka clients: topics' offset ranges, and deletion of records."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from confluent_kafka import OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from labctl.config.kafka_clients import client_settings
from labctl.errors import ExitCode, LabError

if TYPE_CHECKING:
    from labctl.config.endpoints import Kafka

__all__ = [
    "NO_LOG",
    "EndOffsets",
    "TopicEnds",
    "delete_records",
    "end_offsets",
    "offset_ranges",
    "partition_ranges",
    "records_left",
]

EndOffsets = dict[str, dict[int, int]]
"""The offset after the last record, by topic and partition; empty for a missing topic."""

NO_LOG = logging.getLogger(f"{__name__}.librdkafka")
"""Logger that drops librdkafka's own lines; those that matter are raised as errors too."""
NO_LOG.setLevel(logging.CRITICAL + 1)

_SECONDS = 5.0

_NO_LEADER_YET = {
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
}
"""A broker's errors between the creation of a topic and the creation of its partitions' logs."""


def partition_ranges(
    consumer: Consumer, topic: str, partitions: Iterable[int], *, seconds: float = _SECONDS
) -> dict[int, tuple[int, int]]:
    """Return the first existing offset and the one after the last, by partition.

    It waits up to `seconds` for partitions that have no leader yet. Raises KafkaException.
    """
    asking = Retrying(
        retry=retry_if_exception(_has_no_leader_yet),
        stop=stop_after_delay(seconds),
        wait=wait_fixed(0.1),
        reraise=True,
    )
    return {
        partition: asking(
            consumer.get_watermark_offsets, TopicPartition(topic, partition), timeout=seconds
        )
        for partition in partitions
    }


def _has_no_leader_yet(error: BaseException) -> bool:
    return isinstance(error, KafkaException) and error.args[0].code() in _NO_LEADER_YET


def offset_ranges(
    kafka: Kafka, topics: Iterable[str]
) -> Mapping[str, Mapping[int, tuple[int, int]]]:
    """Return the offset ranges of whole topics, by partition; empty for a missing topic.

    Raises LabError (NOT_READY) if Kafka does not answer.
    """
    consumer = Consumer({**client_settings(kafka), "group.id": "labctl", "logger": NO_LOG})
    try:
        known = consumer.list_topics(timeout=_SECONDS).topics
        return {
            topic: partition_ranges(
                consumer, topic, known[topic].partitions if topic in known else ()
            )
            for topic in topics
        }
    except KafkaException as error:
        raise _not_answering(kafka, error) from None
    finally:
        consumer.close()


class TopicEnds:
    """A reader of end offsets over one connection, opened on first use and then kept open."""

    def __init__(self, kafka: Kafka) -> None:
        self._kafka = kafka
        self._open: Consumer | None = None

    def __enter__(self) -> TopicEnds:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open is not None:
            self._open.close()

    def of(self, topics: Collection[str]) -> EndOffsets:
        """Return the topics' end offsets. Raises LabError (NOT_READY) if Kafka does not answer."""
        asking = Retrying(
            retry=retry_if_exception(_has_no_leader_yet),
            stop=stop_after_delay(_SECONDS),
            wait=wait_fixed(0.1),
            reraise=True,
        )
        try:
            return asking(self._ask, topics)
        except KafkaException as error:
            raise _not_answering(self._kafka, error) from None

    def _ask(self, topics: Collection[str]) -> EndOffsets:
        """Request the end offsets of all topics at once."""
        if self._open is None:
            settings = client_settings(self._kafka)
            self._open = Consumer({**settings, "group.id": "labctl", "logger": NO_LOG})
        consumer = self._open
        known = (
            consumer.list_topics(next(iter(topics)), timeout=_SECONDS)
            if len(topics) == 1
            else consumer.list_topics(timeout=_SECONDS)
        ).topics
        places = [
            TopicPartition(topic, partition, OFFSET_END)
            for topic in topics
            if topic in known
            for partition in known[topic].partitions
        ]
        ends: EndOffsets = {topic: {} for topic in topics}
        for place in consumer.offsets_for_times(places, timeout=_SECONDS) if places else ():
            if place.error is not None:
                raise KafkaException(place.error)
            ends[place.topic][place.partition] = place.offset
        return ends


def end_offsets(kafka: Kafka, topics: Collection[str]) -> EndOffsets:
    """Return the topics' end offsets. Raises LabError (NOT_READY) if Kafka does not answer."""
    with TopicEnds(kafka) as ends:
        return ends.of(topics)


def _not_answering(kafka: Kafka, error: KafkaException) -> LabError:
    return LabError(
        f"Kafka at {kafka.bootstrap_servers} does not answer: {error.args[0].str()}",
        hint="`labctl status` shows whether it runs",
        exit_code=ExitCode.NOT_READY,
    )


def records_left(
    ends: Mapping[int, int], offsets: Mapping[str, int], begins: Mapping[str, int]
) -> int:
    """Return how many records before `ends` the Spark application has not taken in.

    `offsets` are the next ones that it takes; where it has taken none yet, the partition's first
    record is that of `begins`: the records before it have been deleted.
    """
    return sum(
        max(0, end - offsets.get(str(partition), begins.get(str(partition), 0)))
        for partition, end in ends.items()
    )


def delete_records(kafka: Kafka, topics: Collection[str]) -> None:
    """Delete the topics' current records; offsets continue. Raises LabError (NOT_READY)."""
    places = [
        TopicPartition(topic, partition, end)
        for topic, ends in end_offsets(kafka, topics).items()
        for partition, end in ends.items()
    ]
    admin = AdminClient(client_settings(kafka), logger=NO_LOG)
    try:
        for deleted in (admin.delete_records(places) if places else {}).values():
            deleted.result()
    except KafkaException as error:
        raise LabError(
            f"Kafka did not delete the records: {error.args[0].str()}",
            hint="`labctl status` shows whether it runs",
            exit_code=ExitCode.NOT_READY,
        ) from None
