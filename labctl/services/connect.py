"""Kafka Connect in distributed mode, with Debezium's connectors and the Avro converter."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex

from pydantic import SecretStr

from labctl.config.endpoints import Connect
from labctl.config.kafka_clients import LOGIN_KEYS
from labctl.home.secrets import SECRET_PREFIX
from labctl.home.state import write_private
from labctl.services.jvm import java, write_log4j
from labctl.services.model import (
    Container,
    Context,
    NativeService,
    Process,
    Recipe,
    Service,
    Site,
)
from labctl.shipped import own_or_shipped
from labctl.sources import ENGINES
from lakehouse.references import reference

__all__ = [
    "CONVERTER",
    "CONVERTER_MANIFEST",
    "INTERNAL_TOPICS",
    "PLUGIN",
    "PLUGINS",
    "PLUGIN_JAR",
    "QUIET",
    "SERVICE",
    "USER",
    "WORKER",
    "WORKER_FILE",
    "rest_jaas",
    "rest_users",
    "worker_settings",
]

USER = "labctl"
"""Whom the REST interface lets in."""
PLUGINS = tuple(engine.plugin for engine in ENGINES.values())
CONVERTER = "apicurio-converter"
CONVERTER_MANIFEST = Path(__file__).parents[1] / "kafkaconnect" / "converter" / "manifest.jar"
"""By which Connect finds the converter: its own jars do not name it."""
PLUGIN = Path(__file__).parents[1] / "kafkaconnect" / "plugin"
"""Classes of labctl's own, with their sources: what answers references, a transform, and a
converter of columns."""
WORKER_FILE = "connectors/worker.properties"
"""What is the same for the worker wherever it runs."""
PLUGIN_JAR = PLUGIN / "labctl-connect.jar"
JAAS = "rest.jaas"
LOGIN_MODULE = "org.apache.kafka.connect.rest.basic.auth.extension.PropertyFileLoginModule"
INTERNAL_TOPICS = {
    "config": "connect-configs",
    "offset": "connect-offsets",
    "status": "connect-status",
}
"""What Connect keeps in Kafka. It makes these topics when it starts, and never again."""

WORKER = {
    # By manifests: a look at every class of every plugin takes ten seconds of each start.
    "plugin.discovery": "service_load",
    "config.providers": "secretManager",
    "config.providers.secretManager.class": "labctl.SecretsFolder",
    # The worker's own clients, its tasks' producers and its tasks' consumers. Those for topics that
    # a connector makes log in as the worker does.
    **{
        f"{client}{key}": reference(f"{SECRET_PREFIX}/kafka", key)
        for client in ("", "producer.", "consumer.")
        for key in LOGIN_KEYS
    },
    **{
        f"{kind}.storage.{key}": value
        for kind, topic in INTERNAL_TOPICS.items()
        for key, value in (("topic", topic), ("replication.factor", "1"))
    },
    "offset.storage.partitions": "1",
    "status.storage.partitions": "1",
    "scheduled.rebalance.max.delay.ms": "0",
    "rest.extension.classes": (
        "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"
    ),
}
"""What every local runtime adds to `connectors/worker.properties`, beside addresses."""
QUIET = (
    "org.apache.kafka.clients",
    "org.apache.kafka.common",
    "org.apache.kafka.connect.runtime.isolation",
    "org.apache.kafka.connect.runtime.rest.RestServer",
    "org.eclipse.jetty",
    "org.reflections",
)
"""Loggers that speak only of warnings."""


def _prepare(context: Context) -> None:
    _link_plugins(context)
    portable = own_or_shipped(context.project, WORKER_FILE).read_text(encoding="utf-8")
    # Another one at each start: in the group of before, a worker that was killed, or that is in a
    # snapshot, would be waited for until its session is over. What the group did is in topics.
    local = worker_settings(context) | {"group.id": f"connect-{context.lab}-{token_hex(4)}"}
    lines = "".join(f"{key}={value}\n" for key, value in local.items())
    write_private(context.conf / "worker.properties", f"{portable}\n{lines}")
    users = context.conf / "rest-users"
    write_private(users, rest_users(context.passwords))
    write_private(context.conf / JAAS, rest_jaas(users))


def rest_users(passwords: Mapping[str, str]) -> str:
    """The file of those whom the REST interface lets in. An empty one lets in everyone."""
    return f"{USER}={passwords['connect']}\n"


def rest_jaas(users: Path) -> str:
    """The JVM's login configuration, which names that file."""
    # The same escapes as in JSON.
    file = json.dumps(str(users), ensure_ascii=False)
    return f"KafkaConnect {{\n  {LOGIN_MODULE} required\n  file={file};\n}};\n"


def worker_settings(context: Context) -> dict[str, str]:
    """What this runtime adds to `connectors/worker.properties`."""
    return {
        "bootstrap.servers": context.endpoints.kafka.bootstrap_servers,
        "listeners": f"http://127.0.0.1:{context.ports['rest']}",
        "rest.advertised.host.name": "127.0.0.1",
        "plugin.path": str(context.conf / "plugins"),
        "config.providers.secretManager.param.folder": str(context.secrets / SECRET_PREFIX),
        **WORKER,
    }


def _link_plugins(context: Context) -> None:
    """One folder a plugin: Connect gives each a class loader of its own."""
    plugins = context.conf / "plugins"
    shutil.rmtree(plugins, ignore_errors=True)
    plugins.mkdir(parents=True, mode=0o700)
    # Debezium finds a converter of columns only among its own jars.
    beside = {CONVERTER: CONVERTER_MANIFEST} | dict.fromkeys(PLUGINS, PLUGIN_JAR)
    for name, jar in beside.items():
        folder = plugins / name
        folder.mkdir(mode=0o700)
        (folder / "jars").symlink_to(context.artifacts.path(name), target_is_directory=True)
        (folder / jar.name).symlink_to(jar)
    (plugins / "labctl").symlink_to(PLUGIN, target_is_directory=True)


def _process(context: Context) -> Process:
    return Process(
        argv=(
            # Some 100 KB per record in a first load, of which little lives.
            *java(context, classpath=context.artifacts.path("kafka"), busy=True),
            write_log4j(context, quiet=QUIET),
            f"-Djava.security.auth.login.config={context.conf / JAAS}",
            "org.apache.kafka.connect.cli.ConnectDistributed",
            str(context.conf / "worker.properties"),
        ),
        # References in connectors, `demo/mysql` and such, are paths below this folder.
        cwd=context.secrets,
        stop_seconds=30,
    )


def _probe(context: Context) -> str:
    import requests

    connect = context.endpoints.connect
    root = requests.get(connect.url, auth=connect.login, timeout=5)
    root.raise_for_status()
    # Answered only once the worker has joined its group and read its configuration.
    names = requests.get(f"{connect.url}/connectors", auth=connect.login, timeout=5)
    names.raise_for_status()
    return f"Kafka Connect {root.json()['version']}"


def _endpoint(site: Site) -> Connect:
    return Connect(
        url=f"http://{site.address('connect', 'rest')}",
        user=USER,
        password=SecretStr(site.passwords["connect"]),
    )


SERVICE = Service(
    name="connect",
    title="Kafka Connect",
    ports={"rest": 8083},
    native=NativeService(
        artifacts=("jre", "kafka", *PLUGINS, CONVERTER),
        memory_mib=950,
        prepare=_prepare,
        process=_process,
    ),
    probe=_probe,
    endpoint=_endpoint,
    passwords=("connect",),
    heap="640m",
    container=Container(
        recipes=(
            Recipe(
                "connect-base",
                "local/connect-base",
                "debezium-postgres",
                artifacts=("kafka", *PLUGINS, CONVERTER),
                shared=("kafka-bin",),
            ),
            # The base has no client of Confluent's hub: an image without the S3 sink connector.
            Recipe(
                "connect",
                "connect",
                "debezium-postgres",
                {"CONNECT_BASE": "connect-base", "SINK_HUB_IMAGE": "base"},
            ),
        ),
        reads_references=True,
        secrets=lambda _, passwords: {"connect": {"rest-users": rest_users(passwords)}},
    ),
    after=("kafka",),
    starts_beside=True,
    urls=lambda endpoints, _ports: {"rest": endpoints.connect.url},
    ready_seconds=120,
)
