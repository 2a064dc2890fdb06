"""Kafka as one KRaft node: broker and controller in one process."""

from __future__ import annotations

import base64
import subprocess
import uuid
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from labctl.config.endpoints import Endpoints, Kafka
from labctl.config.kafka_clients import client_settings, java_settings, plain_module
from labctl.errors import LabError
from labctl.services.container import (
    LAB_FOLDER,
    LAB_NAME,
    ComposeService,
    Container,
    Files,
    Health,
    Image,
    Port,
    Recipe,
    mounted,
    published,
    written_file,
)
from labctl.services.data_folder import is_made, made_whole
from labctl.services.jvm import LOG4J_FILE, container_flags, java, log4j_text, write_log4j
from labctl.services.service import Context, NativeService, Process, Service, Site, Stop
from labctl.state.lab_secrets import properties_text
from labctl.state.lab_state import write_private

__all__ = ["MESSAGE_BYTES", "QUIET", "SERVICE", "SETTINGS", "USER", "cluster_id", "login_settings"]

USER = "labctl"
"""The only login that broker and controller accept."""
LISTENERS = ("INTERNAL", "EXTERNAL", "CONTROLLER")
"""Names of the listeners. INTERNAL exists only in containers, for clients among them."""
QUIET = ("org.apache.kafka", "kafka", "state.change.logger")
"""Loggers that log only warnings and errors."""
MESSAGE_BYTES = 8_388_608
"""The largest message that the brokers accept, in every profile, as in MSK Serverless. Kafka's own
default is 1 MiB, less than a row with a large text. `connectors/worker.properties` repeats it."""
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": ",".join(f"{name}:SASL_PLAINTEXT" for name in LISTENERS),
    "sasl.enabled.mechanisms": "PLAIN",
    "sasl.mechanism.inter.broker.protocol": "PLAIN",
    "sasl.mechanism.controller.protocol": "PLAIN",
    "num.partitions": "1",
    "default.replication.factor": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # Topics are created only by a connector's settings, never by a mistyped name.
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    # A lab's topics keep all records, so that silver can be replayed from their start.
    "log.retention.ms": "-1",
    "message.max.bytes": str(MESSAGE_BYTES),
    "replica.fetch.max.bytes": str(MESSAGE_BYTES),
    "log.segment.bytes": str(128 * 1024 * 1024),
    # No other broker has a message that is lost in a power cut, and Debezium would not send it
    # again: sync it to disk before acknowledging it (docs/reliability.md).
    "log.flush.interval.messages": "1",
    # Until this session expires, the controller rejects a broker that was killed, or restored from
    # a snapshot, as a duplicate.
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "500",
}
"""Settings that are the same in every runtime, without addresses, folders and `login_settings`."""


BROKER_PORT, CONTROLLER_PORT = 9092, 9093
INTERNAL_PORT = 29092
"""Port of the listener INTERNAL."""
_HEAP = "320m"


def login_settings(passwords: Mapping[str, str]) -> dict[str, str]:
    """Return each listener's login settings. They hold the password."""
    module = plain_module(USER, passwords["kafka"])
    return {
        f"listener.name.{listener.lower()}.plain.sasl.jaas.config": module for listener in LISTENERS
    }


def _properties(context: Context, data: Path) -> str:
    broker, controller = context.ports["broker"], context.ports["controller"]
    values = {
        **SETTINGS,
        **_listeners(f"EXTERNAL://127.0.0.1:{broker}", "EXTERNAL", controller),
        # The address that clients use: a test may have put a proxy there, before the broker.
        "advertised.listeners": f"EXTERNAL://{context.endpoints.kafka.bootstrap_servers}",
        "log.dirs": str(data),
        **login_settings(context.passwords),
    }
    return properties_text(values)


def _listeners(listeners: str, between_brokers: str, controller: int) -> dict[str, str]:
    """Return the settings of where it listens: for clients, for brokers, and as controller."""
    return {
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"{listeners},CONTROLLER://127.0.0.1:{controller}",
        "inter.broker.listener.name": between_brokers,
    }


def _prepare(context: Context) -> None:
    if not is_made(context.data, "meta.properties"):
        with made_whole(context.data) as data:
            _format(context, data)
    write_private(context.conf / "server.properties", _properties(context, context.data))


def _format(context: Context, data: Path) -> None:
    """Format `data` as a folder from which Kafka can start."""
    properties = context.conf / "format.properties"
    write_private(properties, _properties(context, data))
    done = subprocess.run(
        [
            *java(context, heap="128m", classpath=context.artifacts.path("kafka")),
            write_log4j(context),
            "kafka.tools.StorageTool",
            "format",
            "--cluster-id",
            cluster_id(context.lab),
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


def cluster_id(lab: str) -> str:
    """Return a UUID derived from a lab's name, in Kafka's form: 22 characters of URL-safe base 64.

    The first bit is cleared, because Kafka's tools read a value that begins with a dash as an
    option.
    """
    first, *others = uuid.uuid5(uuid.NAMESPACE_DNS, lab).bytes
    return base64.urlsafe_b64encode(bytes([first & 0x7F, *others])).decode().rstrip("=")


def _process(context: Context) -> Process:
    return Process(
        argv=(
            *java(context, classpath=context.artifacts.path("kafka")),
            write_log4j(context, quiet=QUIET),
            "kafka.Kafka",
            str(context.conf / "server.properties"),
        ),
    )


def _probe(context: Context) -> str:
    from confluent_kafka.admin import AdminClient

    client = AdminClient(
        {
            **client_settings(context.endpoints.kafka),
            "socket.timeout.ms": 2000,
            "log_level": 0,
        }
    )
    metadata = client.list_topics(timeout=2)
    if not metadata.brokers:
        raise ConnectionError("no broker has registered yet")
    return f"Kafka {context.build()}"


def _endpoint(site: Site) -> Kafka:
    return Kafka(
        bootstrap_servers=site.address("kafka", "broker"),
        authentication="plain",
        user=USER,
        password=SecretStr(site.passwords["kafka"]),
    )


def _secrets(endpoints: Endpoints, passwords: Mapping[str, str]) -> dict[str, Files]:
    user, password = endpoints.connect.login or ("", "")
    cluster = "kafka.clusters[0]"
    user_interface = {
        f"{cluster}.name": "lab",
        f"{cluster}.bootstrapServers": endpoints.kafka.bootstrap_servers,
        **{f"{cluster}.properties.{k}": v for k, v in java_settings(endpoints.kafka).items()},
        f"{cluster}.kafkaConnect[0].name": "connect",
        f"{cluster}.kafkaConnect[0].address": endpoints.connect.url,
        f"{cluster}.kafkaConnect[0].username": user,
        f"{cluster}.kafkaConnect[0].password": password,
    }
    return {
        "kafka": {"login.properties": properties_text(login_settings(passwords))},
        "kafka-ui": {"application.properties": properties_text(user_interface)},
    }


_DATA = "/var/lib/kafka/data"
_PORT = published("kafka", "broker", BROKER_PORT)
_CONTAINER = ComposeService(
    "kafka",
    Image("kafka", "apache/kafka:{version}", artifact="kafka"),
    memory="640m",
    command=("bash", f"{LAB_FOLDER}/kafka/start.sh"),
    environment={
        "LAB_NAME": LAB_NAME,
        "LAB_INTERNAL_PORT": str(INTERNAL_PORT),
        _PORT.variable: _PORT.value,
        "KAFKA_HEAP_OPTS": f"-Xmx{_HEAP}",
        "KAFKA_JVM_PERFORMANCE_OPTS": container_flags(),
        "KAFKA_LOG4J_OPTS": f"-Dlog4j2.configurationFile={LAB_FOLDER}/kafka/{LOG4J_FILE}",
    },
    data=_DATA,
    mounts=(mounted("./kafka", LAB_FOLDER / "kafka"),),
    files={
        "kafka/server.properties": written_file(
            properties_text(
                {
                    **SETTINGS,
                    **_listeners(
                        f"INTERNAL://:{INTERNAL_PORT},EXTERNAL://:{BROKER_PORT}",
                        "INTERNAL",
                        CONTROLLER_PORT,
                    ),
                    "log.dirs": _DATA,
                }
            ),
            "start.sh adds the login, and advertised.listeners, which holds the published port.",
        ),
        f"kafka/{LOG4J_FILE}": written_file(log4j_text(QUIET)),
    },
    ports=(_PORT,),
    health=Health(("CMD", "bash", "/probes/kafka.sh", str(BROKER_PORT))),
)
_USER_INTERFACE = ComposeService(
    "kafka-ui",
    Image(
        "kafka_ui",
        "ghcr.io/kafbat/kafka-ui:v1.5.0"
        "@sha256:7cda86a33344160309fdb65146332e4da65db81a945614f2fe32e210803f6fd1",
    ),
    memory="352m",
    comments={
        "SPRING_CONFIG_ADDITIONALLOCATION": "Where the lab's services are, and their passwords.",
    },
    environment={
        "JAVA_OPTS": "-Xmx192m -XX:+UseSerialGC",
        "SPRING_CONFIG_ADDITIONALLOCATION": "file:/run/secrets/",
    },
    ports=(Port("KAFKA_UI_PORT", 8090, 8080),),
    depends_on=("kafka",),
    profiles=("tools",),
)

SERVICE = Service(
    name="kafka",
    title="Apache Kafka",
    ports={"broker": BROKER_PORT, "controller": CONTROLLER_PORT},
    native=NativeService(
        artifacts=("jre", "kafka"), memory_mib=430, prepare=_prepare, process=_process
    ),
    probe=_probe,
    endpoint=_endpoint,
    passwords=("kafka",),
    heap=_HEAP,
    stop=Stop(seconds=30),
    container=Container(
        _CONTAINER,
        beside=(_USER_INTERFACE,),
        recipes=(
            Recipe("kafka", "local/kafka", "kafka", artifacts=("kafka",), shared=("kafka-bin",)),
        ),
        secrets=_secrets,
    ),
    urls=lambda endpoints, _ports: {"bootstrap": endpoints.kafka.bootstrap_servers},
)
