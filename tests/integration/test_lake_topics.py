"""Reading topics of a real broker with schemas of a real registry."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fastavro
import pytest
import requests
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from tenacity import Retrying, stop_after_delay, wait_fixed

from labctl.artifacts import ArtifactStore
from labctl.config.endpoints import Kafka, Registry
from labctl.errors import ExitCode, LabError
from labctl.kafka.offsets import end_offsets, offset_ranges
from labctl.kafka.topic_records import Topics
from tests.ports import free_port

pytestmark = pytest.mark.long

KEY = {"type": "record", "name": "Key", "fields": [{"name": "salesid", "type": "int"}]}
VALUE: dict[str, Any] = {
    "type": "record",
    "name": "Value",
    "fields": [
        {"name": "salesid", "type": "int"},
        {"name": "qtysold", "type": "int"},
        {
            "name": "saletime",
            "type": {"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"},
        },
    ],
}


def _ready(check: Any, process: subprocess.Popen[bytes], log: Path) -> None:
    for attempt in Retrying(stop=stop_after_delay(300), wait=wait_fixed(0.2), reraise=True):
        with attempt:
            assert process.poll() is None, log.read_text()
            check()


@pytest.fixture(scope="module")
def artifacts() -> ArtifactStore:
    store = ArtifactStore()
    store.fetch(["jre", "kafka", "apicurio-registry"])
    return store


@pytest.fixture(scope="module")
def kafka(artifacts: ArtifactStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    folder = tmp_path_factory.mktemp("kafka")
    broker, controller = free_port(), free_port()
    properties = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": folder / "data",
        "offsets.topic.replication.factor": 1,
        "auto.create.topics.enable": "false",
    }
    config = folder / "server.properties"
    config.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    java = [str(artifacts.java()), "-Xmx256m", "-cp", f"{artifacts.path('kafka')}/*"]
    format_log = ["kafka.tools.StorageTool", "format", "--cluster-id", "AAAAAAAAAAAAAAAAAAAAAQ"]
    subprocess.run([*java, *format_log, "--config", str(config)], check=True, capture_output=True)
    log = folder / "log"
    with log.open("wb") as out:
        server = subprocess.Popen([*java, "kafka.Kafka", str(config)], stdout=out, stderr=out)
    try:
        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{broker}", "log_level": 0})
        _ready(lambda: admin.list_topics(timeout=2), server, log)
        yield Kafka(bootstrap_servers=f"127.0.0.1:{broker}")
    finally:
        server.terminate()
        server.wait(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def registry(
    artifacts: ArtifactStore, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Registry]:
    folder = tmp_path_factory.mktemp("registry")
    jar = next(artifacts.path("apicurio-registry").rglob("*-runner.jar"))
    port = free_port()
    log = folder / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [str(artifacts.java()), "-Xmx256m", "-jar", str(jar)],
            env={"QUARKUS_HTTP_HOST": "127.0.0.1", "QUARKUS_HTTP_PORT": str(port)},
            cwd=folder,
            stdout=out,
            stderr=out,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        search = f"{url}/apis/registry/v2/search/artifacts"
        _ready(lambda: requests.get(search, timeout=2).raise_for_status(), server, log)
        yield Registry(url=url)
    finally:
        server.terminate()
        server.wait(timeout=60)


class Writer:
    """Writes changes to a topic of its own, as the Avro converter does."""

    def __init__(self, kafka: Kafka, registry: Registry, partitions: int) -> None:
        self.topic = f"tickit.ecomm.sale-{uuid.uuid4().hex[:8]}"
        self._registry = registry
        self.schema_ids = {name: self._register(s) for name, s in (("key", KEY), ("value", VALUE))}
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
        _create(admin, self.topic, partitions)
        self._producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})

    def change(self, salesid: int, qtysold: int, partition: int = 0) -> None:
        value = {"salesid": salesid, "qtysold": qtysold, "saletime": 1_199_145_600_000_001}
        self._producer.produce(
            self.topic,
            key=_avro(KEY, {"salesid": salesid}),
            value=_avro(VALUE, value),
            headers=[
                (f"apicurio.{part}.globalId", id_.to_bytes(8, "big"))
                for part, id_ in self.schema_ids.items()
            ],
            partition=partition,
        )

    def tombstone(self, salesid: int) -> None:
        header = ("apicurio.key.globalId", self.schema_ids["key"].to_bytes(8, "big"))
        key = _avro(KEY, {"salesid": salesid})
        self._producer.produce(self.topic, key=key, value=None, headers=[header])

    def raw(
        self, value: bytes | None, headers: dict[str, str | bytes | None] | None = None
    ) -> None:
        self._producer.produce(self.topic, key=b"k", value=value, headers=headers or {})

    def flush(self) -> None:
        assert self._producer.flush(30) == 0

    def _register(self, schema: dict[str, Any]) -> int:
        response = requests.post(
            f"{self._registry.url}/apis/registry/v2/groups/default/artifacts",
            data=json.dumps(schema),
            headers={"Content-Type": "application/json", "X-Registry-ArtifactType": "AVRO"},
            timeout=10,
        )
        response.raise_for_status()
        return int(response.json()["globalId"])


def _create(admin: AdminClient, topic: str, partitions: int) -> None:
    """Returns when the broker lists the topic; its partitions may have no leader yet."""
    admin.create_topics([NewTopic(topic, partitions)])[topic].result(30)
    for attempt in Retrying(stop=stop_after_delay(30), wait=wait_fixed(0.01), reraise=True):
        with attempt:
            assert topic in admin.list_topics(timeout=5).topics


def _avro(schema: dict[str, Any], value: dict[str, Any]) -> bytes:
    data = io.BytesIO()
    fastavro.schemaless_writer(data, fastavro.parse_schema(schema), value)
    return data.getvalue()


def test_the_last_records_come_decoded(kafka: Kafka, registry: Registry) -> None:
    writer = Writer(kafka, registry, partitions=1)
    for number in range(50):
        writer.change(200 + number, number)
    writer.flush()
    records = Topics(kafka, registry).tail(writer.topic, 3)
    assert [r.offset for r in records] == [47, 48, 49]
    assert records[-1].key == {"salesid": 249}
    assert records[-1].value == {
        "salesid": 249,
        "qtysold": 49,
        "saletime": datetime(2008, 1, 1, 0, 0, 0, 1, UTC),
    }
    assert records[-1].timestamp is not None


def test_the_last_change_is_found_beneath_its_tombstone(kafka: Kafka, registry: Registry) -> None:
    writer = Writer(kafka, registry, partitions=1)
    writer.change(1, 5)
    writer.tombstone(1)
    writer.flush()
    topics = Topics(kafka, registry)
    (newest,) = topics.find(writer.topic, {"salesid": 1})
    assert newest.value is None
    (change,) = topics.find(writer.topic, {"salesid": 1}, tombstones=False)
    assert change.value["qtysold"] == 5


def test_the_newest_records_of_a_key_are_found(kafka: Kafka, registry: Registry) -> None:
    """Over more than one search window, and over partitions."""
    writer = Writer(kafka, registry, partitions=2)
    for number in range(12_000):
        writer.change(number % 6_000, number, partition=number % 2)
    writer.flush()
    topics = Topics(kafka, registry)
    found = topics.find(writer.topic, {"salesid": "201"}, limit=5)
    assert [r.value["qtysold"] for r in found] == [6_201, 201]
    assert [r.partition for r in found] == [1, 1]
    assert [r.value["qtysold"] for r in topics.find(writer.topic, {"salesid": 0})] == [6_000]
    assert topics.find(writer.topic, {"salesid": -1}) == []
    (info,) = [t for t in topics.topics() if t.name == writer.topic]
    assert (info.partitions, info.records) == (2, 12_000)


def test_new_records_are_followed(kafka: Kafka, registry: Registry) -> None:
    writer = Writer(kafka, registry, partitions=1)
    writer.change(1, 1)
    writer.flush()
    followed = Topics(kafka, registry).follow(writer.topic)
    stop = threading.Event()

    def write() -> None:
        while not stop.wait(0.1):
            writer.change(2, 2)
            writer.flush()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert next(followed).value["salesid"] == 2
    finally:
        stop.set()
        thread.join()
        followed.close()  # type: ignore[attr-defined]


def test_what_no_registry_knows_is_shown_as_it_is(kafka: Kafka, registry: Registry) -> None:
    writer = Writer(kafka, registry, partitions=1)
    for value in (b'{"a": 1}', "ü".encode(), b"\xff\x00", None):
        writer.raw(value)
    writer.flush()
    values = [r.value for r in Topics(kafka, registry).tail(writer.topic)]
    assert values == [{"a": 1}, "ü", "ff00", None]


def test_an_empty_topic_has_no_records(kafka: Kafka, registry: Registry) -> None:
    writer = Writer(kafka, registry, partitions=3)
    topics = Topics(kafka, registry)
    assert topics.tail(writer.topic) == []
    assert topics.find(writer.topic, {"salesid": 1}) == []


def test_a_topic_can_be_read_at_once_after_it_is_made(kafka: Kafka) -> None:
    """Its partitions have no leader yet for a few milliseconds."""
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    names = [f"just_made_{number}" for number in range(10)]
    for name in names:
        _create(admin, name, 20)
        assert offset_ranges(kafka, [name]) == {name: dict.fromkeys(range(20), (0, 0))}
        ends = {name: dict.fromkeys(range(20), 0), "absent": {}}
        assert end_offsets(kafka, [name, "absent"]) == ends
    for deleted in admin.delete_topics(names).values():
        deleted.result()


def test_what_cannot_be_decoded_is_named(kafka: Kafka, registry: Registry) -> None:
    writer = Writer(kafka, registry, partitions=1)
    known = writer.schema_ids["value"]
    writer.raw(b"\x02", {"apicurio.value.globalId": known.to_bytes(8, "big")})
    writer.flush()
    with pytest.raises(LabError, match="partition 0, offset 0"):
        Topics(kafka, registry).tail(writer.topic)
    writer.raw(b"\x02", {"apicurio.value.globalId": (987_654).to_bytes(8, "big")})
    writer.flush()
    with pytest.raises(LabError, match="987654"):
        Topics(kafka, registry).tail(writer.topic, 1)


def test_an_unknown_topic_and_an_absent_broker_are_told(kafka: Kafka, registry: Registry) -> None:
    with pytest.raises(LabError, match="'nosuch'") as unknown:
        Topics(kafka, registry).tail("nosuch")
    assert unknown.value.exit_code is ExitCode.USAGE
    nowhere = Kafka(bootstrap_servers=f"127.0.0.1:{free_port()}")
    with pytest.raises(LabError, match=nowhere.bootstrap_servers) as absent:
        Topics(nowhere, registry).topics()
    assert absent.value.exit_code is ExitCode.NOT_READY
