"""Topics as the pages show them: what there is, records, and versions of their schemas.

The functions run in a process of `lake_workers`, as those of `table_reading` do.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labctl.ui.cell_text import cell_text

if TYPE_CHECKING:
    from labctl.kafka.schema_versions import SchemaVersion
    from labctl.kafka.topic_records import Topics
    from labctl.lab.lab import Lab
    from labctl.lake.records import Record

__all__ = [
    "MOST_RECORDS",
    "LetterLine",
    "PutAside",
    "RecordLine",
    "TopicLine",
    "TopicPart",
    "put_aside",
    "records",
    "schemas",
    "topics",
]

MOST_RECORDS = 50


@dataclass(frozen=True)
class TopicLine:
    """A topic."""

    name: str
    partitions: int
    records: int
    table: str | None
    """The silver table that it feeds."""


@dataclass(frozen=True)
class RecordLine:
    """A record."""

    place: str
    """`PARTITION:OFFSET`."""
    at: float | None
    """Kafka's timestamp, seconds since the epoch."""
    key: str
    cells: tuple[str | None, ...]
    """Its value's fields, None for null; empty if it has no value."""


@dataclass(frozen=True)
class TopicPart:
    """Some records of a topic."""

    columns: tuple[str, ...]
    records: tuple[RecordLine, ...]
    words: str
    """Words of the `labctl topics show` that shows the same."""


@dataclass(frozen=True)
class LetterLine:
    """A record that was put aside: a dead letter."""

    place: str
    """`PARTITION:OFFSET`."""
    at: float
    """When it was put aside, seconds since the epoch."""
    reason: str


@dataclass(frozen=True)
class PutAside:
    """The records of a topic that wait to be replayed."""

    table: str
    count: int
    letters: tuple[LetterLine, ...]
    """The first of them."""


def topics(lab: Lab) -> list[TopicLine]:
    """Return all topics but Kafka's own."""
    tables = {table.topic: table.name for table in lab.tables}
    return [
        TopicLine(one.name, one.partitions, one.records, tables.get(one.name))
        for one in _topics(lab).topics()
    ]


def records(lab: Lab, topic: str, start: str) -> TopicPart:
    """Return a topic's newest records, newest first; or those from a place or a time on.

    Raises LabError (USAGE) for a topic that does not exist and a text that is neither.
    """
    from labctl.kafka.topic_records import parse_start

    if not start:
        found = _topics(lab).tail(topic, MOST_RECORDS)[::-1]
        return _part(found, f"-n {MOST_RECORDS}")
    found = _topics(lab).since(topic, parse_start(start), MOST_RECORDS)
    return _part(found, f"--from {shlex.quote(start)} -n {MOST_RECORDS}")


def put_aside(lab: Lab, topic: str) -> PutAside | None:
    """Return the records that the topic's table did not accept; None if it feeds no table."""
    from labctl.lab.tables.table_requests import lab_dead_letters

    letters = lab_dead_letters(lab.require_running())
    table = next((one for one in lab.tables if one.topic == topic), None)
    if table is None:
        return None
    waiting = letters.of_topic(topic)
    lines = (
        LetterLine(f"{one.partition}:{one.offset}", one.put_aside_at.timestamp(), one.reason)
        for one in waiting[:MOST_RECORDS]
    )
    return PutAside(table.name, len(waiting), tuple(lines))


def schemas(lab: Lab, topic: str) -> list[SchemaVersion]:
    """Return the versions of a topic's schema, newest first. Raises LabError if it has none."""
    from labctl.kafka.schema_versions import SchemaVersions

    return SchemaVersions(lab.require_running().endpoints.registry).of_topic(topic)


def _topics(lab: Lab) -> Topics:
    from labctl.kafka.topic_records import Topics

    endpoints = lab.require_running().endpoints
    return Topics(endpoints.kafka, endpoints.registry)


def _part(found: Sequence[Record], words: str) -> TopicPart:
    values = [_fields(record.value) for record in found]
    columns = tuple(dict.fromkeys(name for value in values for name in value))
    return TopicPart(columns, tuple(map(_line, found, values, [columns] * len(found))), words)


def _line(record: Record, value: dict[str, Any], columns: Sequence[str]) -> RecordLine:
    cells = tuple(cell_text(value.get(name)) for name in columns)
    return RecordLine(
        f"{record.partition}:{record.offset}",
        record.timestamp.timestamp() if record.timestamp else None,
        _key_text(record.key),
        () if record.value is None else cells,
    )


def _key_text(key: Any) -> str:
    if not isinstance(key, dict):
        return "" if key is None else str(key)
    return ", ".join(f"{name} {cell_text(value)}" for name, value in key.items())


def _fields(value: Any) -> dict[str, Any]:
    """Return a value's fields; a value without fields is one of the name `value`."""
    if value is None or isinstance(value, dict):
        return value or {}
    return {"value": value if isinstance(value, str) else json.dumps(value)}
