"""How many change records of a table are in its topic but not yet in silver."""

from __future__ import annotations

import requests
from confluent_kafka import Consumer, KafkaException, TopicPartition

from labctl.config.model import SourceEngine
from labctl.config.tables import LabTable
from labctl.errors import LabError
from labctl.kafkaconnect.client import RebalanceError
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors import is_running
from labctl.lab.lab import Lab
from labctl.lab.pipeline import silver_status
from labctl.lake.kafka import client_settings

__all__ = ["in_flight_records"]

SECONDS = 5.0


def in_flight_records(lab: Lab, table: LabTable) -> int | None:
    """Records of the topic that silver has not committed; None when that cannot be told.

    At least one while the first load has not reached the topic, or a source connector does not
    run: what the source holds then is still to come.
    """
    try:
        committed: dict[str, int] = silver_status(lab)["tables"][table.name]["offsets"]
        ends = _end_offsets(lab, table.topic)
    except (requests.RequestException, KeyError, KafkaException):
        return None
    if not ends or not _captured(lab, table.engine):
        return 1
    return sum(max(0, end - committed.get(str(p), 0)) for p, end in ends.items())


def _captured(lab: Lab, engine: SourceEngine) -> bool:
    """Whether the source's connector runs; true for one that was never applied."""
    connector = lab.config.sources[engine].connector
    client = connect_client(lab.endpoints.connect)
    try:
        return connector not in client.names() or is_running(client.status(connector))
    except (LabError, RebalanceError):
        return False


def _end_offsets(lab: Lab, topic: str) -> dict[int, int]:
    """The offset after the last record, by partition."""
    consumer = Consumer({**client_settings(lab.endpoints.kafka), "group.id": "labctl"})
    try:
        partitions = consumer.list_topics(topic, timeout=SECONDS).topics[topic].partitions
        return {
            partition: consumer.get_watermark_offsets(
                TopicPartition(topic, partition), timeout=SECONDS
            )[1]
            for partition in partitions
        }
    finally:
        consumer.close()
