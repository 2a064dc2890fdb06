"""What Kafka has: topics, partitions and offsets, asked through the client Spark uses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

__all__ = ["KAFKA_CONF_PREFIX", "Kafka", "Topics"]

KAFKA_CONF_PREFIX = "spark.lakehouse.kafka."
"""Spark properties with this prefix are given to every Kafka client (`security.protocol`, …)."""

_EARLIEST = -2
_CLIENT_OPTIONS = {
    # A broker that is away for a minute is waited for; the client finds it again within a second.
    "reconnect.backoff.max.ms": "1000",
    "request.timeout.ms": "10000",
    "default.api.timeout.ms": "30000",
}
_CONSUMER_OPTIONS = {
    # Spark asks for offsets it knows to be there; waiting for more of them only delays the batch.
    "fetch.max.wait.ms": "10",
    "max.poll.records": "5000",
}


@dataclass(frozen=True, slots=True)
class Topics:
    """Which topics a stream reads."""

    names: str
    """One topic's name, or a regular expression for whole names."""
    is_pattern: bool

    def include(self, topic: str) -> bool:
        return bool(re.fullmatch(self.names, topic)) if self.is_pattern else topic == self.names

    def source_option(self) -> tuple[str, str]:
        """The Kafka source's option. A name costs less than a pattern: with a pattern, each look
        for new records asks for all topics first."""
        return "subscribePattern" if self.is_pattern else "subscribe", self.names


class Kafka:
    """The cluster behind `bootstrap_servers`."""

    def __init__(self, spark: SparkSession, bootstrap_servers: str) -> None:
        jvm: Any = spark.sparkContext._jvm
        # Looked up once: py4j searches a hundred jars for each part of such a name, at each use.
        self._properties = jvm.java.util.Properties
        self._map = jvm.java.util.HashMap
        self._join = jvm.java.lang.String.join
        self._partition = jvm.org.apache.kafka.common.TopicPartition
        self._latest = jvm.org.apache.kafka.clients.admin.OffsetSpec.latest
        self._create_admin = jvm.org.apache.kafka.clients.admin.Admin.create
        conf = spark.sparkContext.getConf().getAll()
        self._client = {
            "bootstrap.servers": bootstrap_servers,
            **_CLIENT_OPTIONS,
            **{
                key.removeprefix(KAFKA_CONF_PREFIX): value
                for key, value in conf
                if key.startswith(KAFKA_CONF_PREFIX)
            },
        }
        self._admin: Any = None

    def source_options(self) -> dict[str, str]:
        """Options every Kafka stream is read with."""
        options = self._client | _CONSUMER_OPTIONS
        return {
            **{f"kafka.{key}": value for key, value in options.items()},
            "includeHeaders": "true",
            "failOnDataLoss": "true",
        }

    def partitions(self, topics: Topics) -> dict[str, list[int]]:
        """Partitions of those of `topics` that exist."""
        admin = self._connected()
        # Not walked over from here: the end of a Java collection is a Java exception, of which
        # PySpark asks the JVM fifty things.
        found = self._join("\n", admin.listTopics().names().get()).splitlines()
        names = sorted(name for name in found if topics.include(name))
        if not names:
            return {}
        described = admin.describeTopics(names).allTopicNames().get()
        return {name: list(range(described[name].partitions().size())) for name in names}

    def records(self, partitions: Mapping[str, list[int]]) -> int:
        """How many records `partitions`, by topic, have been given so far."""
        wanted = [
            self._partition(name, number)
            for name, numbers in partitions.items()
            for number in numbers
        ]
        asked = self._map()
        for partition in wanted:
            asked[partition] = self._latest()
        ends = self._connected().listOffsets(asked).all().get()
        return sum(int(ends[partition].offset()) for partition in wanted)

    def close(self) -> None:
        if self._admin is not None:
            self._admin.close()
            self._admin = None

    def _connected(self) -> Any:
        if self._admin is None:
            properties = self._properties()
            for key, value in self._client.items():
                properties.setProperty(key, value)
            self._admin = self._create_admin(properties)
        return self._admin

    @staticmethod
    def starting_offsets(
        partitions: Mapping[str, list[int]], next_offsets: Mapping[str, Mapping[int, int]]
    ) -> str:
        """Spark's `startingOffsets`: where known, the next offset, else the earliest there is.

        Spark fails when it finds partitions that are not among them, such as those of a topic made
        a moment ago. While nothing is known, as in a first load, they need not be named.
        """
        if not any(next_offsets.values()):
            return "earliest"
        return json.dumps(
            {
                topic: {
                    str(number): next_offsets.get(topic, {}).get(number, _EARLIEST)
                    for number in numbers
                }
                for topic, numbers in partitions.items()
            }
        )
