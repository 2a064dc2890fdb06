"""Programs that are none of ours read the topics."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

from labctl.config.kafka_clients import client_settings
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.clients.client_environment import client_environment
from labctl.lab.lab import Lab
from labctl.sources import connect
from labctl.testing.eventually import Eventually
from lakecontract.wire import VALUE_HEADER
from tests.e2e.bronze_check import check_bronze, end_offsets
from tests.e2e.fault_trial import Verify

pytestmark = pytest.mark.long

PAGE = (Path(__file__).parents[2] / "docs" / "topics.md").read_text("utf-8")
CONNECTOR = "source_connector_mysql_kafka_avro_tickit"
TOPIC = "tickit.ecomm.sale"
SECONDS = 120.0


def test_the_reader_of_the_documentation_reads_every_row(lab: Lab) -> None:
    (script,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **client_environment(lab)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with connect(lab.endpoints, "postgres") as source:
        names = {row[0] for row in source.execute("SELECT venuename FROM ems.venue")}
    assert names <= set(re.findall(r"'venuename': (?:'|\")(.*?)(?:'|\"), '", done.stdout))


@pytest.fixture
def in_confluents_form(lab: Lab, verify_equal: Verify) -> Iterator[None]:
    """MySQL's connector writes as the documentation says that it can, during a test."""
    client = connect_client(lab.endpoints.connect)
    before = client.config(CONNECTOR)
    assert before
    settings = dict(re.findall(r'^    "(\w+\.converter\S+)": "(\S+)",$', PAGE, re.MULTILINE))
    assert len(settings) == 4
    client.put(CONNECTOR, before | settings)
    try:
        yield
    finally:
        client.put(CONNECTOR, before)
    # The one form behind the other, and the other again.
    with connect(lab.endpoints, "mysql") as source:
        source.execute("UPDATE ecomm.sale SET commission = commission + 1 WHERE salesid < 20")
    verify_equal("sale")


@pytest.fixture
def prefixed(lab: Lab, in_confluents_form: None, eventually: Eventually) -> Message:
    """A record whose schema is named in front of its value alone."""

    def written() -> Message | None:
        with connect(lab.endpoints, "mysql") as source:
            source.execute("UPDATE ecomm.sale SET commission = commission + 1 WHERE salesid = 11")
        newest = _newest(lab)
        return None if VALUE_HEADER in dict(newest.headers() or ()) else newest

    found = eventually(written, seconds=SECONDS)
    assert found is not None
    return found


def test_silver_and_bronze_have_what_is_in_confluents_form(
    lab: Lab, prefixed: Message, verify_equal: Verify, eventually: Eventually
) -> None:
    for content in (prefixed.key(), prefixed.value()):
        assert content
        assert content[0] == 0
    verify_equal("sale")

    def is_in_bronze() -> bool:
        check_bronze(lab.endpoints, TOPIC)
        return True

    # Bronze has a query of its own, which may take a record later than silver's.
    eventually(is_in_bronze, seconds=SECONDS)


def test_confluents_deserializer_reads_it(lab: Lab, prefixed: Message) -> None:
    url = f"{lab.endpoints.registry.url}/apis/ccompat/v7"
    with SchemaRegistryClient({"url": url}) as registry:
        read = AvroDeserializer(registry)
        key = read(prefixed.key(), SerializationContext(TOPIC, MessageField.KEY))
        value = read(prefixed.value(), SerializationContext(TOPIC, MessageField.VALUE))
    # Sales below 20 are updated in this form, one of them more than once.
    assert key["salesid"] < 20
    assert (value["salesid"], value["__op"], value["__table"]) == (key["salesid"], "u", "sale")


def _newest(lab: Lab) -> Message:
    consumer = Consumer({**client_settings(lab.endpoints.kafka), "group.id": "newest"})
    try:
        (end,) = end_offsets(lab.endpoints, TOPIC).values()
        consumer.assign([TopicPartition(TOPIC, 0, end - 1)])
        message = consumer.poll(SECONDS)
        assert message is not None
        return message
    finally:
        consumer.close()
