"""Floors of the object store and of Kafka: one request, one message."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from labctl.config.endpoints import Kafka, ObjectStore
from labctl.config.kafka_clients import client_settings
from labctl.errors import ExitCode, LabError
from labctl.lake.objectstore import s3_client

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

__all__ = ["KafkaFloor", "StoreFloor", "kafka_floor", "store_floor"]

_BYTES = 2048
_LISTED = 100
_ANSWER_SECONDS = 30.0


class StoreFloor:
    """The object store, reached by a plain client."""

    def __init__(self, client: S3Client, bucket: str, folder: str) -> None:
        self._client = client
        self._bucket = bucket
        self._folder = folder

    def put(self, number: int) -> None:
        """Write one small object."""
        self._client.put_object(
            Bucket=self._bucket, Key=f"{self._folder}put/{number}", Body=b"x" * _BYTES
        )

    def list(self, _number: int) -> None:
        """List a folder."""
        self._client.list_objects_v2(Bucket=self._bucket, Prefix=f"{self._folder}listed/")

    def head(self, _number: int) -> None:
        """Ask for the size of an object."""
        self._client.head_object(Bucket=self._bucket, Key=f"{self._folder}listed/0")


@contextmanager
def store_floor(store: ObjectStore, folder: str) -> Iterator[StoreFloor]:
    """Create a folder of objects in the bucket, and remove it at the end."""
    client = s3_client(store)
    try:
        for number in range(_LISTED):
            client.put_object(
                Bucket=store.bucket, Key=f"{folder}listed/{number}", Body=b"x" * _BYTES
            )
        yield StoreFloor(client, store.bucket, folder)
    finally:
        for page in client.get_paginator("list_objects_v2").paginate(
            Bucket=store.bucket, Prefix=folder
        ):
            for entry in page.get("Contents", []):
                client.delete_object(Bucket=store.bucket, Key=entry["Key"])


class KafkaFloor:
    """A topic with a plain producer and a plain consumer."""

    def __init__(self, producer: Producer, consumer: Consumer, topic: str) -> None:
        self._producer = producer
        self._consumer = consumer
        self._topic = topic

    def message(self, number: int) -> None:
        """Send one message and wait until the consumer has it. Raises LabError on a timeout."""
        text = str(number).encode()
        self._producer.produce(self._topic, text)
        self._producer.poll(0)
        deadline = time.monotonic() + _ANSWER_SECONDS
        while time.monotonic() < deadline:
            found = self._consumer.poll(1.0)
            if found is not None and found.error() is None and found.value() == text:
                return
        raise LabError(
            f"Kafka has not passed a message on within {_ANSWER_SECONDS:.0f} s",
            hint="labctl status, labctl logs kafka",
            exit_code=ExitCode.NOT_READY,
        )


@contextmanager
def kafka_floor(kafka: Kafka, topic: str) -> Iterator[KafkaFloor]:
    """Create a topic, and delete it at the end."""
    settings = {**client_settings(kafka), "log_level": 0}
    admin = AdminClient(settings)
    for made in admin.create_topics([NewTopic(topic, 1)]).values():
        made.result()
    consumer = Consumer({**settings, "group.id": topic, "enable.auto.commit": False})
    producer = Producer({**settings, "acks": "all", "linger.ms": 0})
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        yield KafkaFloor(producer, consumer, topic)
    finally:
        producer.flush(_ANSWER_SECONDS)
        consumer.close()
        with suppress(KafkaException):
            for done in admin.delete_topics([topic]).values():
                done.result()
