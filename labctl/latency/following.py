"""Following a run's changes: topics with a consumer, silver by reading every new commit."""

from __future__ import annotations

import queue
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka import Message as Record

from labctl.background import Background
from labctl.config.endpoints import Endpoints
from labctl.config.kafka_clients import client_settings
from labctl.errors import LabError
from labctl.kafka.offsets import partition_ranges
from labctl.lake import Lake, Watch
from labctl.lake.schemas import Schemas
from labctl.lake.view import COMMIT_TIME
from labctl.latency.ledger import Message, Version
from labctl.latency.targets import Target
from lakecontract.deletes import is_deleted
from lakecontract.wire import VALUE_HEADER, split
from sqlapi.table_format import Commit

__all__ = ["SilverFollower", "TopicFollower"]

_EVENT_HEADER = "__ts_us"
"""Header with Debezium's time of the event; the connectors' `add.headers` adds it."""
_BATCH = 2_000
_CONSUME_SECONDS = 0.05
_TIMEOUT = 10.0
_LOOK_SECONDS = 0.02
"""Seconds between two looks at a timeline while a change is in flight and no commits are
reported."""
_QUIET_SECONDS = 0.5
"""The same while commits are reported."""
_OFFSET = "__kafka_offset"


class TopicFollower(Background):
    """A thread that reads the topics of `targets` from their end at the time of construction."""

    def __init__(
        self,
        endpoints: Endpoints,
        targets: Sequence[Target],
        first_keys: Mapping[str, int],
        received: queue.SimpleQueue[Message],
    ) -> None:
        super().__init__("topics")
        self._targets = {target.table.topic: target for target in targets}
        self._first_keys = first_keys
        self._received = received
        self._schemas = Schemas(endpoints.registry)
        self._consumer = Consumer(
            {
                **client_settings(endpoints.kafka),
                "group.id": f"labctl-{uuid.uuid4()}",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 50,
                # An outage of the broker can be part of the scenario: wait for it to return.
                "reconnect.backoff.max.ms": 500,
                "log_level": 0,
            }
        )
        self.timestamp_type: int | None = None
        """Kind of timestamps, as in confluent_kafka: 1 if the producer set them, 2 if the broker
        did; None before the first record."""
        self._assign()

    def _assign(self) -> None:
        known = self._consumer.list_topics(timeout=_TIMEOUT).topics
        if missing := [topic for topic in self._targets if topic not in known]:
            raise LabError(
                f"There is no topic {missing[0]} yet",
                hint="labctl seed fills the sources and starts their connectors",
            )
        starts = []
        for topic in self._targets:
            ranges = partition_ranges(
                self._consumer, topic, known[topic].partitions, seconds=_TIMEOUT
            )
            starts += [TopicPartition(topic, number, end) for number, (_, end) in ranges.items()]
        self._consumer.assign(starts)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                for record in self._consumer.consume(_BATCH, timeout=_CONSUME_SECONDS):
                    self._take(record)
        finally:
            self._consumer.close()

    def _take(self, record: Record) -> None:
        if error := record.error():
            if error.retriable() or error.code() in _AWAY:
                return
            raise KafkaException(error)
        headers = dict(record.headers() or ())
        if (content := record.value()) is None:
            return
        schema, body = split(_bytes(headers.get(VALUE_HEADER)), content)
        if schema is None:
            return
        value = self._schemas.decoder(int.from_bytes(schema, "big")).decode(body)
        target = self._targets[record.topic() or ""]
        key = int(value[target.key])
        if key < self._first_keys[target.silver]:
            return
        kind, millis = record.timestamp()
        self.timestamp_type = kind
        event = headers.get(_EVENT_HEADER)
        self._received.put(
            Message(
                table=target.silver,
                key=key,
                number=_number(value[target.number]),
                deleted=is_deleted(value),
                captured=None if event is None else int(event) / 1_000_000,
                appended=None if kind == TIMESTAMP_NOT_AVAILABLE else millis / 1_000,
                partition=record.partition() or 0,
                offset=record.offset() or 0,
            )
        )


def _bytes(header: Any) -> bytes | None:
    """Return a header's value as bytes; the client's types also allow text. None stays None."""
    return None if header is None else bytes(header)


_AWAY = (KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT, KafkaError._TIMED_OUT)


def _number(value: Any) -> int | None:
    """Convert the value of the number's column to int; return None if it is no number."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


class SilverFollower(Background):
    """A thread that watches one silver table's timeline and reads the rows of each commit.

    It reads a commit at once when `told` reports it. Otherwise it looks at the timeline only while
    a change `is_awaited`: seldom if `is_told` returns that commits are reported, else constantly.
    """

    def __init__(
        self,
        lake: Lake,
        target: Target,
        first_key: int,
        is_awaited: Callable[[], bool],
        is_told: Callable[[], bool],
        shown: queue.SimpleQueue[tuple[str, list[Version]]],
    ) -> None:
        super().__init__(f"silver {target.silver}")
        self._target = target
        self._first_key = first_key
        self._is_awaited = is_awaited
        self._is_told = is_told
        self._told: queue.SimpleQueue[Commit] = queue.SimpleQueue()
        self._shown = shown
        table = lake.table(target.silver)
        self._table = table
        if _OFFSET not in table.schema().names:
            raise LabError(
                f"{target.silver} has no column {_OFFSET}, which says how far it is",
                hint="a table written by the lab's own Spark application has it",
            )
        self._watch = Watch(table)
        self.failures = 0
        """Number of failed looks: the object store may be unavailable for a while."""

    def told(self, path: str) -> None:
        """Note that an object was written to the lake. Safe to call from any thread."""
        _, _, inside = path.partition(f"/{self._table.path}/")
        if write := self._table.stored.write_of(inside):
            self._told.put(write)

    def _run(self) -> None:
        while not self._stop.is_set():
            done = self._done()
            if not done and not self._is_awaited():
                continue
            try:
                rows = self._watch.take(done) if done else self._watch.poll()
            except (LabError, OSError):
                self.failures += 1
                continue
            if rows is not None:
                self._tell(rows, time.time())

    def _done(self) -> list[Commit]:
        """Wait briefly for reported commits and return them; none if none came in time."""
        done: list[Commit] = []
        with suppress(queue.Empty):
            done.append(
                self._told.get(timeout=_QUIET_SECONDS if self._is_told() else _LOOK_SECONDS)
            )
            while True:
                done.append(self._told.get_nowait())
        return done

    def _tell(self, rows: pa.Table, seen: float) -> None:
        key = self._target.key
        rows = rows.select([key, _OFFSET, COMMIT_TIME])
        rows = rows.filter(pc.field(key) >= self._first_key)
        completed = {k: v.timestamp() for k, v in self._watch.completions.items()}
        columns = (rows.column(name).to_pylist() for name in rows.column_names)
        versions = [
            Version(int(row), int(offset), completed.get(str(instant)), seen)
            for row, offset, instant in zip(*columns, strict=True)
        ]
        self._shown.put((self._target.silver, versions))
