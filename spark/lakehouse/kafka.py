"""Kafka's topics, partitions and offsets, read through the client that Spark uses."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from lakecontract.errors import in_one_line
from lakecontract.options import KAFKA_CONF_PREFIX
from lakehouse.batch_limit import LogSize, Spans
from lakehouse.topic_identity import TopicIdentity, TopicState

__all__ = ["RECORD", "Kafka", "Topics"]

_log = logging.getLogger(__name__)

_EARLIEST = -2
RECORD = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "timestampType int, headers array<struct<key: string, value: binary>>"
)
"""The Kafka source's columns, in Spark's DDL."""
_CLIENT_OPTIONS = {
    # Wait for a broker that is away for a minute; the client finds it again within a second.
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
    """The topics that a stream reads."""

    names: str
    """A topic's name, or a regular expression for whole names."""
    is_pattern: bool

    def include(self, topic: str) -> bool:
        return bool(re.fullmatch(self.names, topic)) if self.is_pattern else topic == self.names

    def source_option(self) -> tuple[str, str]:
        """Return the Kafka source's option.

        A name costs less than a pattern: with a pattern, each poll for new records asks for all
        topics first. Spark searches for a pattern within names, so that `tickit[.].+` would match
        the topic `history.tickit.crm` too: the option therefore marks where names begin and end.
        """
        if self.is_pattern:
            return "subscribePattern", f"^(?:{self.names})$"
        return "subscribe", self.names


class Kafka:
    """The cluster behind `bootstrap_servers`."""

    def __init__(self, spark: SparkSession, bootstrap_servers: str) -> None:
        self._spark = spark
        jvm: Any = spark.sparkContext._jvm
        # Looked up once: py4j searches a hundred jars for each part of such a name, at each use.
        self._properties = jvm.java.util.Properties
        self._map = jvm.java.util.HashMap
        self._list = jvm.java.util.ArrayList
        self._join = jvm.java.lang.String.join
        self._partition = jvm.org.apache.kafka.common.TopicPartition
        spec = jvm.org.apache.kafka.clients.admin.OffsetSpec
        self._latest, self._earliest = spec.latest, spec.earliest
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
        self._connecting = threading.Lock()

    def source_options(self) -> dict[str, str]:
        """Return the options with which every Kafka stream is read."""
        options = self._client | _CONSUMER_OPTIONS
        return {
            **{f"kafka.{key}": value for key, value in options.items()},
            "includeHeaders": "true",
            "failOnDataLoss": "true",
        }

    def partitions(self, topics: Topics) -> dict[str, list[int]]:
        """Return the partitions of those of `topics` that exist."""
        admin = self._connected()
        # Joined in Java: the end of an iteration over a Java collection is a Java exception, for
        # which PySpark asks the JVM fifty things.
        found = self._join("\n", admin.listTopics().names().get()).splitlines()
        names = sorted(name for name in found if topics.include(name))
        if not names:
            return {}
        described = admin.describeTopics(names).allTopicNames().get()
        return {name: list(range(described[name].partitions().size())) for name in names}

    def states(self, partitions: Mapping[str, list[int]]) -> dict[str, TopicState]:
        """Return the current states of the topics of `partitions`, by name."""
        found = self.identities(partitions)
        ends = self._offsets(partitions, self._latest())
        starts = self.earliest(partitions)
        return {
            name: TopicState(one.id, ends[name], starts[name], one.partitions)
            for name, one in found.items()
        }

    def identities(self, topics: Iterable[str]) -> dict[str, TopicIdentity]:
        """Return the identities of `topics`, by name. Raises Java's error if one is missing."""
        names = list(topics)
        if not names:
            return {}
        described = self._connected().describeTopics(names).allTopicNames().get()
        return {
            name: TopicIdentity(
                str(described[name].topicId().toString()), int(described[name].partitions().size())
            )
            for name in names
        }

    def records(self, partitions: Mapping[str, list[int]]) -> int:
        """Return how many records `partitions`, by topic, have received so far."""
        ends = self._offsets(partitions, self._latest())
        return sum(end for numbers in ends.values() for end in numbers.values())

    def log_sizes(self, partitions: Mapping[str, list[int]]) -> dict[str, LogSize]:
        """Return the sizes of the topics, by name; nothing if the brokers do not give them.

        This needs the right to describe the cluster, which a managed cluster may not grant.
        """
        admin = self._connected()
        try:
            ids = self._list()
            for broker in admin.describeCluster().nodes().get().toArray():
                ids.add(broker.id())
            brokers = _values(admin.describeLogDirs(ids).allDescriptions().get())
            folders = [folder for broker in brokers for folder in _values(broker)]
            sizes = {
                name: sum(self._size(folders, self._partition(name, n)) for n in numbers)
                for name, numbers in partitions.items()
            }
        except Py4JError as error:
            _log.warning("the sizes of topics are not available: %s", in_one_line(error))
            return {}
        ends = self._offsets(partitions, self._latest())
        starts = self.earliest(partitions)
        return {
            name: LogSize(sum(ends[name].values()) - sum(starts[name].values()), size)
            for name, size in sizes.items()
        }

    @staticmethod
    def _size(folders: Iterable[Any], partition: Any) -> int:
        """Return the bytes of a partition's largest replica."""
        replicas = (folder.replicaInfos().get(partition) for folder in folders)
        return max((int(replica.size()) for replica in replicas if replica is not None), default=0)

    def earliest(self, partitions: Mapping[str, list[int]]) -> dict[str, dict[int, int]]:
        """Return the first offset that is still there, by topic and partition."""
        return self._offsets(partitions, self._earliest())

    def read(self, spans: Spans) -> DataFrame:
        """Return the records of `spans` as Kafka source rows. Spark fails if some are gone."""
        wanted = {topic: numbers for topic, numbers in spans.items() if numbers}
        if not wanted:
            return self._spark.createDataFrame([], RECORD)
        return (
            self._spark.read.format("kafka")
            .options(**self.source_options())
            .option("assign", json.dumps({t: sorted(numbers) for t, numbers in wanted.items()}))
            .option("startingOffsets", _ends_of(wanted, "start"))
            .option("endingOffsets", _ends_of(wanted, "stop"))
            .load()
        )

    def _offsets(self, partitions: Mapping[str, list[int]], spec: Any) -> dict[str, dict[int, int]]:
        wanted = {
            (name, number): self._partition(name, number)
            for name, numbers in partitions.items()
            for number in numbers
        }
        asked = self._map()
        for partition in wanted.values():
            asked[partition] = spec
        found = self._connected().listOffsets(asked).all().get()
        offsets: dict[str, dict[int, int]] = {name: {} for name in partitions}
        for (name, number), partition in wanted.items():
            offsets[name][number] = int(found[partition].offset())
        return offsets

    def close(self) -> None:
        with self._connecting:
            if self._admin is not None:
                self._admin.close()
                self._admin = None

    def _connected(self) -> Any:
        """Return the one client of all workers, which start at the same time."""
        with self._connecting:
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
        """Return Spark's `startingOffsets`: the next offset where it is known, else the earliest.

        Spark fails when it finds partitions that are not named, such as those of a topic made a
        moment ago. While no offset is known, as in a first load, they need not be named.
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


def _values(java_map: Any) -> list[Any]:
    return [java_map[key] for key in java_map.keySet().toArray()]


def _ends_of(spans: Spans, end: Literal["start", "stop"]) -> str:
    return json.dumps(
        {
            topic: {str(number): getattr(span, end) for number, span in numbers.items()}
            for topic, numbers in spans.items()
        }
    )
