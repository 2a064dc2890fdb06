"""Change records as Debezium's unwrapping connectors write them: bare Avro, schema id beside it."""

from __future__ import annotations

import io
import json
import struct
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import fastavro
import requests
from confluent_kafka import Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    NewPartitions,
    NewTopic,
)

from labctl.config.endpoints import Kafka
from labctl.config.kafka_clients import client_settings
from lakecontract.deletes import TRUNCATED
from lakecontract.wire import VALUE_HEADER

__all__ = ["DECIMAL", "MICRO_TIMESTAMP", "Topics", "column", "debezium", "nullable"]

META = [
    {"name": "__op", "type": ["null", "string"], "default": None},
    {"name": "__deleted", "type": ["null", "string"], "default": None},
]


def nullable(kind: Any) -> list[Any]:
    return ["null", kind]


def column(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": kind} | ({"default": None} if isinstance(kind, list) else {})


def debezium(name: str, base: str) -> dict[str, Any]:
    """A type with a Debezium meaning: `time.Date`, `data.Json`, …"""
    return {"type": base, "connect.version": 1, "connect.name": f"io.debezium.{name}"}


def decimal(precision: int, scale: int) -> dict[str, Any]:
    return {
        "type": "bytes",
        "scale": scale,
        "precision": precision,
        "connect.version": 1,
        "connect.parameters": {
            "scale": str(scale),
            "connect.decimal.precision": str(precision),
        },
        "connect.name": "org.apache.kafka.connect.data.Decimal",
        "logicalType": "decimal",
    }


DECIMAL = decimal(8, 2)
MICRO_TIMESTAMP = debezium("time.MicroTimestamp", "long")


def _optional(kind: Any) -> Any:
    return kind if isinstance(kind, list) else nullable(kind)


@dataclass
class Topics:
    """Makes topics, registers schemas and writes records."""

    kafka: Kafka
    registry_url: str
    _ids: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._producer = Producer({**client_settings(self.kafka), "acks": "all", "linger.ms": 5})

    def create(self, *names: str, partitions: int = 1) -> None:
        admin = AdminClient(client_settings(self.kafka))
        for made in admin.create_topics([NewTopic(n, partitions, 1) for n in names]).values():
            made.result()

    def grow(self, name: str, partitions: int) -> None:
        """Give a topic more partitions, `partitions` in all."""
        admin = AdminClient(client_settings(self.kafka))
        for grown in admin.create_partitions([NewPartitions(name, partitions)]).values():
            grown.result()
        while len(admin.list_topics(name, timeout=10).topics[name].partitions) < partitions:
            time.sleep(0.1)
        # The producer that is there asks for a topic's partitions every few minutes.
        self.__post_init__()

    def remake(self, name: str) -> None:
        """Delete a topic, and make one of the same name again."""
        admin = AdminClient(client_settings(self.kafka))
        for deleted in admin.delete_topics([name]).values():
            deleted.result()
        while name in admin.list_topics(timeout=10).topics:
            time.sleep(0.1)
        self.create(name)

    def write(
        self,
        topic: str,
        columns: Sequence[Mapping[str, Any]],
        rows: Iterable[Mapping[str, Any]],
        *,
        key: str = "id",
        partition: int = 0,
        timestamp_ms: int | None = None,
        confluent: bool = False,
    ) -> None:
        """Write `rows` of `columns`; `__op` is `c` unless a row says otherwise.

        `confluent`: the schema's id is in front of the value, and in no header.
        """
        for row in rows:
            schema_id, value = self.encoded(topic, columns, row)
            self.write_raw(
                topic,
                b"\x00" + struct.pack(">i", schema_id) + value if confluent else value,
                key=str(row[key]),
                schema_id=None if confluent else schema_id,
                partition=partition,
                timestamp_ms=timestamp_ms,
            )
        self.flush()

    def encoded(
        self, topic: str, columns: Sequence[Mapping[str, Any]], row: Mapping[str, Any]
    ) -> tuple[int, bytes]:
        """A row as it goes into the topic: the id of its schema, and its value."""
        schema = {
            "type": "record",
            "name": "Value",
            "namespace": topic,
            "fields": [*columns, *META],
            "connect.name": f"{topic}.Value",
        }
        text = json.dumps(schema)
        operation = row.get("__op", "c")
        full = {"__op": operation, "__deleted": str(operation == "d").lower()} | dict(row)
        value = io.BytesIO()
        fastavro.schemaless_writer(value, fastavro.parse_schema(json.loads(text)), full)
        return self._register(topic, text), value.getvalue()

    def truncate(self, topic: str, columns: Sequence[Mapping[str, Any]]) -> None:
        """Write what `labctl.TruncateStays` makes of a TRUNCATE of a table with these columns."""
        empty = [column(one["name"], _optional(one["type"])) for one in columns]
        mark = column(TRUNCATED, nullable("string"))
        row = {"__op": "t", "__deleted": "true", TRUNCATED: "true"}
        schema_id, value = self.encoded(topic, [*empty, mark], row)
        self.write_raw(topic, value, key=None, schema_id=schema_id)
        self.flush()

    def write_raw(
        self,
        topic: str,
        value: bytes | None,
        *,
        key: str | None = "0",
        schema_id: int | None = None,
        partition: int = 0,
        timestamp_ms: int | None = None,
    ) -> None:
        """Write any bytes; without `schema_id` there is no header."""
        headers: list[tuple[str, str | bytes | None]] = (
            [] if schema_id is None else [(VALUE_HEADER, struct.pack(">q", schema_id))]
        )
        while True:
            try:
                self._producer.produce(
                    topic,
                    value=value,
                    key=None if key is None else key.encode(),
                    headers=headers,
                    partition=partition,
                    timestamp=timestamp_ms or 0,
                )
                return
            except BufferError:
                self._producer.poll(1)

    def flush(self) -> None:
        assert self._producer.flush(120) == 0

    def schema_id(self, topic: str) -> int:
        """The id of the schema that was registered for `topic` last."""
        return self._ids[topic]

    def _register(self, topic: str, schema: str) -> int:
        if schema not in self._ids:
            response = requests.post(
                f"{self.registry_url}/apis/registry/v2/groups/default/artifacts",
                params={"ifExists": "RETURN_OR_UPDATE"},
                headers={
                    "X-Registry-ArtifactId": f"{topic}-value",
                    "X-Registry-ArtifactType": "AVRO",
                    "Content-Type": "application/json",
                },
                data=schema,
                timeout=30,
            )
            response.raise_for_status()
            self._ids[schema] = response.json()["globalId"]
        self._ids[topic] = self._ids[schema]
        return self._ids[schema]
