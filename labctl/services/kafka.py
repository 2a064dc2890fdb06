"""Kafka: one KRaft node, broker and controller in one process."""

from __future__ import annotations

import base64
import subprocess
import uuid

from confluent_kafka.admin import AdminClient

from labctl.errors import LabError
from labctl.lab.state import write_private
from labctl.services.jvm import java, write_log4j
from labctl.services.model import Context, NativeService, Process, Service

__all__ = ["HEAP", "QUIET", "SERVICE", "SETTINGS"]

HEAP = "320m"
QUIET = ("org.apache.kafka", "kafka", "state.change.logger")
"""Loggers that speak only of warnings."""
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "num.partitions": "1",
    "default.replication.factor": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # A topic comes from a connector's own settings, never from a mistyped name.
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    # A lab's topics stay whole, so that silver can be replayed from their start.
    "log.retention.ms": "-1",
    "log.segment.bytes": str(128 * 1024 * 1024),
}
"""What holds in every runtime; addresses and folders differ."""


def _properties(context: Context) -> str:
    broker, controller = context.ports["broker"], context.ports["controller"]
    values = {
        **SETTINGS,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{broker}",
        "log.dirs": str(context.data),
    }
    return "".join(f"{key}={value}\n" for key, value in values.items())


def _prepare(context: Context) -> None:
    properties = context.conf / "server.properties"
    write_private(properties, _properties(context))
    if (context.data / "meta.properties").is_file():
        return
    context.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    cluster = uuid.uuid5(uuid.NAMESPACE_DNS, context.lab).bytes
    done = subprocess.run(
        [
            *java(context, heap="128m", classpath=context.artifacts.path("kafka")),
            write_log4j(context),
            "kafka.tools.StorageTool",
            "format",
            "--cluster-id",
            _kafka_uuid(cluster),
            "--config",
            str(properties),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        output = (done.stdout + done.stderr).strip().splitlines()
        raise LabError("Kafka's storage could not be formatted", details=tuple(output[-8:]))


def _kafka_uuid(raw: bytes) -> str:
    """A UUID as Kafka writes it: 22 characters of URL-safe base 64."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _process(context: Context) -> Process:
    return Process(
        argv=(
            *java(context, heap=HEAP, classpath=context.artifacts.path("kafka")),
            write_log4j(context, quiet=QUIET),
            "kafka.Kafka",
            str(context.conf / "server.properties"),
        ),
        stop_seconds=30,
    )


def _probe(context: Context) -> str:
    client = AdminClient(
        {
            "bootstrap.servers": context.endpoints.kafka.bootstrap_servers,
            "socket.timeout.ms": 2000,
            "log_level": 0,
        }
    )
    metadata = client.list_topics(timeout=2)
    if not metadata.brokers:
        raise ConnectionError("no broker has registered yet")
    return f"Kafka {context.build()}"


SERVICE = Service(
    name="kafka",
    title="Apache Kafka",
    ports={"broker": 9092, "controller": 9093},
    native=NativeService(artifacts=("jre", "kafka"), prepare=_prepare, process=_process),
    probe=_probe,
    urls=lambda endpoints, _ports: {"bootstrap": endpoints.kafka.bootstrap_servers},
)
