"""This program's own Kafka clients: their settings (librdkafka's names), and where topics end."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from labctl.errors import ExitCode, LabError

if TYPE_CHECKING:
    from labctl.config.endpoints import Kafka

__all__ = ["NO_LOG", "EndOffsets", "client_settings", "delete_records", "end_offsets"]

EndOffsets = dict[str, dict[int, int]]
"""The offset after the last record, by topic and partition; no partition of a topic not there."""

NO_LOG = logging.getLogger(f"{__name__}.librdkafka")
"""Takes librdkafka's own lines: what matters of them comes as an error too."""
NO_LOG.addHandler(logging.NullHandler())
NO_LOG.propagate = False

_SECONDS = 5.0


def end_offsets(kafka: Kafka, topics: Iterable[str]) -> EndOffsets:
    """Where topics end now. Raises LabError (NOT_READY) when Kafka does not answer."""
    consumer = Consumer({**client_settings(kafka), "group.id": "labctl", "logger": NO_LOG})
    try:
        known = consumer.list_topics(timeout=_SECONDS).topics
        return {
            topic: {
                partition: consumer.get_watermark_offsets(
                    TopicPartition(topic, partition), timeout=_SECONDS
                )[1]
                for partition in (known[topic].partitions if topic in known else ())
            }
            for topic in topics
        }
    except KafkaException as error:
        raise LabError(
            f"Kafka at {kafka.bootstrap_servers} does not answer: {error.args[0].str()}",
            hint="`labctl status` shows whether it runs",
            exit_code=ExitCode.NOT_READY,
        ) from None
    finally:
        consumer.close()


def delete_records(kafka: Kafka, topics: Iterable[str]) -> None:
    """Empty topics of the records they have now; offsets go on. Raises LabError (NOT_READY)."""
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


def client_settings(kafka: Kafka) -> dict[str, Any]:
    """Addresses and login. Raises LabError for a SCRAM login without user or password."""
    settings: dict[str, Any] = {"bootstrap.servers": kafka.bootstrap_servers}
    if kafka.authentication == "tls":
        return settings | {"security.protocol": "SSL"}
    if kafka.authentication == "scram":
        if kafka.user is None or kafka.password is None:
            raise LabError(
                "The brokers want a user and a password, and the profile names no secret for them",
                hint="set endpoints.kafka.secret in the profile",
                exit_code=ExitCode.USAGE,
            )
        return settings | {
            "security.protocol": "SASL_SSL",
            "sasl.mechanisms": "SCRAM-SHA-512",
            "sasl.username": kafka.user,
            "sasl.password": kafka.password.get_secret_value(),
        }
    if kafka.authentication == "iam":
        region = kafka.region or "us-east-1"
        return settings | {
            "security.protocol": "SASL_SSL",
            "sasl.mechanisms": "OAUTHBEARER",
            "oauth_cb": lambda _config: _iam_token(region),
        }
    return settings


def _iam_token(region: str) -> tuple[str, float]:
    """A login as the default AWS credentials; the token, and when it ends (seconds since 1970)."""
    from aws_msk_iam_sasl_signer import MSKAuthTokenProvider

    token, expires_ms = MSKAuthTokenProvider.generate_auth_token(region)
    return token, expires_ms / 1000
