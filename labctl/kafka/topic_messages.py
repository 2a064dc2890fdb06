"""Messages of topics as bytes, read by offset: nothing is committed, and nothing is made."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from labctl.config.kafka_clients import client_settings
from labctl.errors import ExitCode, LabError, did_you_mean
from labctl.kafka.offsets import NO_LOG, partition_ranges

if TYPE_CHECKING:
    from labctl.config.endpoints import Kafka

__all__ = ["TIMEOUT_SECONDS", "is_record", "messages_of", "offset_bounds", "topic_consumer"]

TIMEOUT_SECONDS = 6.0
"""Seconds without a message after which a reader gives up."""
_BATCH = 500


@contextmanager
def topic_consumer(kafka: Kafka) -> Iterator[Consumer]:
    """Yield a consumer of its own group. Raises LabError (NOT_READY) for Kafka's errors."""
    consumer = Consumer(
        {
            **client_settings(kafka),
            "group.id": f"labctl-{uuid.uuid4()}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 50,
            "logger": NO_LOG,
        }
    )
    try:
        yield consumer
    except KafkaException as error:
        servers = kafka.bootstrap_servers
        raise LabError(
            f"Kafka at {servers} could not be read: {error.args[0].str()}",
            hint="Is it running? labctl status.",
            exit_code=ExitCode.NOT_READY,
        ) from None
    finally:
        consumer.close()


def offset_bounds(consumer: Consumer, topic: str) -> dict[int, tuple[int, int]]:
    """Return the first offset and the one after the last, by partition.

    Raises LabError (USAGE) for a topic that does not exist.
    """
    known = consumer.list_topics(timeout=TIMEOUT_SECONDS).topics
    if topic not in known:
        names = sorted(name for name in known if not name.startswith("__"))
        raise LabError(
            f"There is no topic '{topic}'.",
            hint=f"{did_you_mean(topic, names)}Topics: {', '.join(names) or 'none yet'}.",
            exit_code=ExitCode.USAGE,
        )
    return partition_ranges(consumer, topic, known[topic].partitions, seconds=TIMEOUT_SECONDS)


def messages_of(
    consumer: Consumer, topic: str, ranges: Mapping[int, tuple[int, int]]
) -> Iterator[Message]:
    """Yield the messages in half-open offset ranges; a range ends early if its partition does."""
    open_ = {partition: end for partition, (start, end) in ranges.items() if start < end}
    consumer.assign([TopicPartition(topic, p, ranges[p][0]) for p in open_])
    last_progress = time.monotonic()
    while open_:
        # consume() returns only when the batch is full or the timeout has passed
        batch = consumer.consume(_BATCH, timeout=0.05)
        if batch:
            last_progress = time.monotonic()
        elif time.monotonic() - last_progress > TIMEOUT_SECONDS:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        for message in batch:
            partition, offset = message.partition() or 0, message.offset() or 0
            if partition not in open_:
                continue
            if not is_record(message) or offset >= open_[partition]:
                del open_[partition]
                continue
            yield message
            if offset == open_[partition] - 1:
                del open_[partition]


def is_record(message: Message) -> bool:
    """Return False for the end of a partition, else True. Raises KafkaException for errors."""
    error = message.error()
    if error is None:
        return True
    if error.code() == KafkaError._PARTITION_EOF:
        return False
    raise KafkaException(error)
