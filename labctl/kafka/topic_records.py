"""Change records as they are in Kafka's topics, decoded with the registry's schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    Message,
    TopicPartition,
)

from labctl.errors import ExitCode, LabError
from labctl.kafka.topic_messages import (
    TIMEOUT_SECONDS,
    is_record,
    messages_of,
    offset_bounds,
    topic_consumer,
)
from labctl.lake.instants import parse_instant
from labctl.lake.records import Record
from labctl.lake.schemas import Schemas, UnknownSchemaError
from lakecontract.wire import KEY_HEADER, VALUE_HEADER, split
from sqlapi.instants import to_datetime

if TYPE_CHECKING:
    from labctl.config.endpoints import Kafka, Registry

__all__ = ["Place", "TopicInfo", "Topics", "content_of", "parse_start"]

_SEARCH_WINDOW = 5_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class TopicInfo:
    """A topic and its size."""

    name: str
    partitions: int
    records: int
    """End offsets minus start offsets; offsets lost to compaction or transactions count too."""


@dataclass(frozen=True)
class Place:
    """A place in a topic. As text it is `PARTITION:OFFSET`."""

    partition: int
    offset: int

    @classmethod
    def parse(cls, text: str) -> Place | None:
        """Return the place that a text names, or None for another text."""
        found = re.fullmatch(r"(\d{1,9}):(\d{1,18})", text.strip())
        return cls(int(found[1]), int(found[2])) if found else None


def parse_start(text: str) -> datetime | Place:
    """Return the place or the moment that a text names.

    Raises LabError (USAGE) for a text that is neither.
    """
    return Place.parse(text) or to_datetime(parse_instant(text))


class Topics:
    """A reader of topics that leaves no trace: it commits no offsets and creates nothing."""

    def __init__(self, kafka: Kafka, registry: Registry) -> None:
        self._kafka = kafka
        self._schemas = Schemas(registry)

    def topics(self, *, internal: bool = False) -> list[TopicInfo]:
        """Return all topics, sorted by name; `internal` includes those named `__…`."""
        with topic_consumer(self._kafka) as consumer:
            names = sorted(consumer.list_topics(timeout=TIMEOUT_SECONDS).topics)
            return [
                _info(consumer, name) for name in names if internal or not name.startswith("__")
            ]

    def tail(self, topic: str, count: int = 10) -> list[Record]:
        """Return the last `count` records, oldest first."""
        with topic_consumer(self._kafka) as consumer:
            ranges = {
                partition: (max(low, high - count), high)
                for partition, (low, high) in offset_bounds(consumer, topic).items()
            }
            records = [self._record(message) for message in messages_of(consumer, topic, ranges)]
        return sorted(records, key=_when)[-count:]

    def since(self, topic: str, start: datetime | Place, count: int = 10) -> list[Record]:
        """Return up to `count` records from a moment or a place on, oldest first.

        Raises LabError (USAGE) for a partition that the topic does not have.
        """
        with topic_consumer(self._kafka) as consumer:
            bounds = offset_bounds(consumer, topic)
            if isinstance(start, Place) and start.partition not in bounds:
                raise LabError(
                    f"{topic} has no partition {start.partition}",
                    hint=f"its partitions: {', '.join(str(one) for one in sorted(bounds))}",
                    exit_code=ExitCode.USAGE,
                )
            starts = (
                _starts(consumer, topic, bounds, start)
                if isinstance(start, datetime)
                else {start.partition: start.offset}
            )
            records: list[Record] = []
            for partition, offset in starts.items():
                low, high = bounds[partition]
                ranges = {partition: (max(low, offset), high)}
                # Offsets have gaps, so that the last one is not known beforehand.
                first = islice(messages_of(consumer, topic, ranges), count)
                records += [self._record(message) for message in first]
        return sorted(records, key=_when)[:count]

    def find(
        self, topic: str, wanted: Mapping[str, object], *, limit: int = 1, tombstones: bool = True
    ) -> list[Record]:
        """Return the newest `limit` records with the `wanted` fields, newest first.

        Without `tombstones`, records without a value do not count.
        """
        found: list[Record] = []
        with topic_consumer(self._kafka) as consumer:
            bounds = offset_bounds(consumer, topic)
            while bounds and len(found) < limit:
                ranges = {
                    p: (max(low, high - _SEARCH_WINDOW), high) for p, (low, high) in bounds.items()
                }
                window = [self._record(m) for m in messages_of(consumer, topic, ranges)]
                matching = (r for r in window if r.matches(wanted))
                kept = (r for r in matching if tombstones or r.value is not None)
                found += sorted(kept, key=_when, reverse=True)
                bounds = {
                    p: (bounds[p][0], start)
                    for p, (start, _) in ranges.items()
                    if start > bounds[p][0]
                }
        return found[:limit]

    def follow(self, topic: str) -> Iterator[Record]:
        """Yield records as they arrive from now on, without end."""
        with topic_consumer(self._kafka) as consumer:
            bounds = offset_bounds(consumer, topic)
            consumer.assign([TopicPartition(topic, p, high) for p, (_, high) in bounds.items()])
            while True:
                message = consumer.poll(1.0)
                if message is not None and is_record(message):
                    yield self._record(message)

    def _record(self, message: Message) -> Record:
        headers = dict(message.headers() or ())
        kind, millis = message.timestamp()
        place = f"{message.topic()}, partition {message.partition()}, offset {message.offset()}"
        return Record(
            topic=message.topic() or "",
            partition=message.partition() or 0,
            offset=message.offset() or 0,
            timestamp=None
            if kind == TIMESTAMP_NOT_AVAILABLE
            else _EPOCH + timedelta(milliseconds=millis),
            key=content_of(message.key(), headers.get(KEY_HEADER), self._schemas, place),
            value=content_of(message.value(), headers.get(VALUE_HEADER), self._schemas, place),
        )


def content_of(data: Any, header: Any, schemas: Schemas, place: str) -> Any:
    """Return a decoded key or value; without a schema id, return it as JSON, text or hex digits.

    Without a header, data that begins with a zero byte need not have a schema id. If it does not
    fit that schema, it is returned undecoded. With a header, this raises LabError naming `place`.
    """
    if data is None:
        return None
    schema_id, body = split(header, data)
    if schema_id is None:
        return _text(data)
    try:
        return schemas.decoder(int.from_bytes(schema_id, "big")).decode(body)
    except UnknownSchemaError:
        if header is None:
            return _text(data)
        raise
    except (ValueError, EOFError, IndexError) as error:
        if header is None:
            return _text(data)
        raise LabError(f"{place} is not Avro of its schema: {error}") from None


def _info(consumer: Consumer, topic: str) -> TopicInfo:
    bounds = offset_bounds(consumer, topic).values()
    return TopicInfo(topic, len(bounds), sum(high - low for low, high in bounds))


def _starts(
    consumer: Consumer, topic: str, bounds: Mapping[int, tuple[int, int]], moment: datetime
) -> dict[int, int]:
    """Return the offset of each partition's first record since a moment."""
    # Kafka does not know the time before its epoch.
    millis = max(0, round((moment - _EPOCH) / timedelta(milliseconds=1)))
    asked = [TopicPartition(topic, partition, millis) for partition in bounds]
    found = consumer.offsets_for_times(asked, timeout=TIMEOUT_SECONDS)
    # A negative offset: there is no record as late.
    return {
        one.partition: one.offset if one.offset >= 0 else bounds[one.partition][1] for one in found
    }


def _when(record: Record) -> tuple[datetime, int, int]:
    return (record.timestamp or _EPOCH, record.partition, record.offset)


def _text(data: bytes) -> Any:
    """Return data that has no schema in the registry: as JSON, else text, else hex digits."""
    try:
        return json.loads(data)
    except ValueError:
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data.hex()
