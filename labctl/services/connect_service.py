"""Kafka Connect in distributed mode, with Debezium's connectors and the Avro converter."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex

from pydantic import SecretStr

from labctl.config.endpoints import Connect
from labctl.config.kafka_clients import LOGIN_KEYS
from labctl.services.container import (
    LAB_FOLDER,
    LAB_NAME,
    SECRETS,
    ComposeService,
    Container,
    Image,
    Recipe,
    answers_http,
    mounted,
    written_file,
)
from labctl.services.jvm import LOG4J_FILE, container_flags, java, log4j_text, write_log4j
from labctl.services.kafka_service import INTERNAL_PORT
from labctl.services.service import Context, NativeService, Process, Service, Site, Stop
from labctl.shipped import own_or_shipped
from labctl.sources import ENGINES
from labctl.state.lab_secrets import SECRET_PREFIX
from labctl.state.lab_state import write_private
from lakecontract.references import reference

__all__ = [
    "CONVERTER",
    "CONVERTER_MANIFEST",
    "INTERNAL_TOPICS",
    "PASSING_ERRORS",
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

_PORT, _HEAP = 8083, "640m"
USER = "labctl"
"""The only login that the REST interface accepts."""
PLUGINS = tuple(engine.plugin for engine in ENGINES.values())
CONVERTER = "apicurio-converter"
CONVERTER_MANIFEST = Path(__file__).parents[1] / "kafkaconnect" / "converter" / "manifest.jar"
"""Jar with which Connect finds the converter: the converter's own jars do not name it."""
PLUGIN = Path(__file__).parents[1] / "kafkaconnect" / "plugin"
"""Folder of labctl's own classes and their sources: the provider that resolves references,
transforms, converters of columns, and a class that replaces one of Debezium's."""
WORKER_FILE = "connectors/worker.properties"
"""File of the worker's settings that are the same wherever it runs."""
PLUGIN_JAR = PLUGIN / "0-labctl-connect.jar"
JAAS, REST_USERS = "rest.jaas", "rest-users"
PASSING_ERRORS = "passing-errors"
"""File with the first words of the sources' passing errors, one in each line."""
LOGIN_MODULE = "org.apache.kafka.connect.rest.basic.auth.extension.PropertyFileLoginModule"
INTERNAL_TOPICS = {
    "config": "connect-configs",
    "offset": "connect-offsets",
    "status": "connect-status",
}
"""Topics in which Connect keeps its state. It creates them only when it starts."""

WORKER = {
    # Find plugins by their manifests: scanning every class takes ten seconds of each start.
    "plugin.discovery": "service_load",
    "config.providers": "secretManager",
    "config.providers.secretManager.class": "labctl.SecretsFolder",
    # The worker's own clients, its tasks' producers and its tasks' consumers. The clients that
    # create a connector's topics use the worker's login.
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
"""Settings that every local runtime adds to `connectors/worker.properties`, without addresses."""
QUIET = (
    "org.apache.kafka.clients",
    "org.apache.kafka.common",
    "org.apache.kafka.connect.runtime.isolation",
    "org.apache.kafka.connect.runtime.rest.RestServer",
    "org.eclipse.jetty",
    "org.reflections",
)
"""Loggers that log only warnings and errors."""


def _prepare(context: Context) -> None:
    _place_plugins(context)
    portable = own_or_shipped(context.project, WORKER_FILE).read_text(encoding="utf-8")
    # Use a new group at each start: the previous group would wait for a worker that was killed, or
    # that is in a snapshot, until its session expires. The group's state is in topics.
    local = worker_settings(context) | {"group.id": f"connect-{context.lab}-{token_hex(4)}"}
    lines = "".join(f"{key}={value}\n" for key, value in local.items())
    write_private(context.conf / "worker.properties", f"{portable}\n{lines}")
    users = context.conf / REST_USERS
    write_private(users, rest_users(context.passwords))
    write_private(context.conf / JAAS, rest_jaas(users))
    passing = [error for engine in ENGINES.values() for error in engine.connector.passing_errors]
    write_private(context.conf / PASSING_ERRORS, "".join(f"{error}\n" for error in passing))


def rest_users(passwords: Mapping[str, str]) -> str:
    """Return the text of the REST interface's login file. An empty file would admit everyone."""
    return f"{USER}={passwords['connect']}\n"


def rest_jaas(users: Path) -> str:
    """Return the JVM's login configuration, which names the login file."""
    # The escapes are the same as in JSON.
    file = json.dumps(str(users), ensure_ascii=False)
    return f"KafkaConnect {{\n  {LOGIN_MODULE} required\n  file={file};\n}};\n"


def worker_settings(context: Context) -> dict[str, str]:
    """Return the settings that this runtime adds to `connectors/worker.properties`."""
    return _added(
        brokers=context.endpoints.kafka.bootstrap_servers,
        listener=f"http://127.0.0.1:{context.ports['rest']}",
        name="127.0.0.1",
        plugins=context.conf / "plugins",
        secrets=context.secrets,
    )


def _added(
    *, brokers: str, listener: str, name: str, plugins: Path, secrets: Path
) -> dict[str, str]:
    return {
        "bootstrap.servers": brokers,
        "listeners": listener,
        "rest.advertised.host.name": name,
        "plugin.path": str(plugins),
        "config.providers.secretManager.param.folder": str(secrets / SECRET_PREFIX),
        **WORKER,
    }


def _place_plugins(context: Context) -> None:
    """Put each plugin into its own folder: Connect gives each folder its own class loader."""
    plugins = context.conf / "plugins"
    shutil.rmtree(plugins, ignore_errors=True)
    plugins.mkdir(parents=True, mode=0o700)
    # Debezium finds a column converter only among its own jars. Connect sorts jars by the paths
    # that links lead to; labctl's is to come before Debezium's, one of whose classes it replaces.
    beside = {CONVERTER: CONVERTER_MANIFEST} | dict.fromkeys(PLUGINS, PLUGIN_JAR)
    for name, jar in beside.items():
        folder = plugins / name
        folder.mkdir(mode=0o700)
        shutil.copytree(context.artifacts.path(name), folder / "jars", copy_function=_linked)
        shutil.copy(jar, folder)
    (plugins / "labctl").symlink_to(PLUGIN, target_is_directory=True)


def _linked(source: str, target: str) -> None:
    """Make a second name for a file, or a copy of it on another file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


def _process(context: Context) -> Process:
    return Process(
        argv=(
            # A first load allocates some 100 KB per record, most of it short-lived.
            *java(context, classpath=context.artifacts.path("kafka"), busy=True),
            write_log4j(context, quiet=QUIET),
            f"-Djava.security.auth.login.config={context.conf / JAAS}",
            "org.apache.kafka.connect.cli.ConnectDistributed",
            str(context.conf / "worker.properties"),
        ),
        # References in connectors, such as `demo/mysql`, are paths below this folder.
        cwd=context.secrets,
    )


def _probe(context: Context) -> str:
    import requests

    connect = context.endpoints.connect
    root = requests.get(connect.url, auth=connect.login, timeout=5)
    root.raise_for_status()
    # The worker answers this only once it has joined its group and read its configuration.
    names = requests.get(f"{connect.url}/connectors", auth=connect.login, timeout=5)
    names.raise_for_status()
    return f"Kafka Connect {root.json()['version']}"


def _endpoint(site: Site) -> Connect:
    return Connect(
        url=f"http://{site.address('connect', 'rest')}",
        user=USER,
        password=SecretStr(site.passwords["connect"]),
    )


_PLUGIN_PATH = Path("/tmp/plugins")  # noqa: S108 - of the container
_CONTAINER = ComposeService(
    "connect",
    Image(
        "connect",
        "labctl/connect:{version}",
        artifact=PLUGINS[0],
        build={
            "context": "images/connect",
            "args": {
                "CONNECT_BASE": "${CONNECT_BASE:-quay.io/debezium/connect:{version}}",
                "SINK_HUB_IMAGE": "${SINK_HUB_IMAGE:-confluentinc/cp-kafka-connect-base:7.9.0}",
            },
        },
        is_built_here=True,
    ),
    memory="960m",
    comments={
        "working_dir": "References in connectors, such as `demo/kafka`, are paths below"
        " this folder.",
        "healthcheck": "Answered only once the worker has joined its group and read its"
        " configuration.",
    },
    entrypoint=("bash", f"{LAB_FOLDER}/connect/start.sh"),
    working_dir=str(SECRETS),
    environment={
        "LAB_NAME": LAB_NAME,
        "LAB_PLUGINS": " ".join(PLUGINS),
        "LAB_PLUGIN_PATH": str(_PLUGIN_PATH),
        "KAFKA_HEAP_OPTS": f"-Xmx{_HEAP}",
        "KAFKA_JVM_PERFORMANCE_OPTS": container_flags(busy=True),
        "KAFKA_LOG4J_OPTS": f"-Dlog4j2.configurationFile={LAB_FOLDER}/connect/{LOG4J_FILE}",
        "KAFKA_OPTS": f"-Djava.security.auth.login.config={LAB_FOLDER}/connect/{JAAS}",
    },
    mounts=(
        mounted("${LAB_WORKER:-../connectors/worker.properties}", "/lab/worker.properties"),
        mounted("./connect", LAB_FOLDER / "connect"),
        mounted("${LAB_SOURCES:-..}/labctl/kafkaconnect/plugin", "/lab/plugin"),
        mounted("${LAB_SOURCES:-..}/labctl/kafkaconnect/converter", "/lab/converter"),
    ),
    files={
        "connect/worker.properties": written_file(
            "".join(
                f"{key}={value}\n"
                for key, value in _added(
                    brokers=f"kafka:{INTERNAL_PORT}",
                    listener=f"http://0.0.0.0:{_PORT}",
                    name="connect",
                    plugins=_PLUGIN_PATH,
                    secrets=SECRETS,
                ).items()
            ),
            "start.sh adds group.id, which holds the lab's name.",
        ),
        f"connect/{LOG4J_FILE}": written_file(log4j_text(QUIET)),
        f"connect/{JAAS}": rest_jaas(SECRETS / REST_USERS),
    },
    health=answers_http(_PORT, "/connectors", str(SECRETS / REST_USERS)),
)

SERVICE = Service(
    name="connect",
    title="Kafka Connect",
    ports={"rest": _PORT},
    native=NativeService(
        artifacts=("jre", "kafka", *PLUGINS, CONVERTER),
        memory_mib=950,
        prepare=_prepare,
        process=_process,
    ),
    probe=_probe,
    endpoint=_endpoint,
    passwords=("connect",),
    heap=_HEAP,
    stop=Stop(seconds=30),
    container=Container(
        _CONTAINER,
        recipes=(
            Recipe(
                "connect-base",
                "local/connect-base",
                PLUGINS[0],
                artifacts=("kafka", *PLUGINS, CONVERTER),
                shared=("kafka-bin",),
            ),
            # The base has no client of Confluent's hub, so the image lacks the S3 sink connector.
            Recipe(
                "connect",
                "connect",
                PLUGINS[0],
                {"CONNECT_BASE": "connect-base", "SINK_HUB_IMAGE": "base"},
            ),
        ),
        reads_references=True,
        secrets=lambda _, passwords: {"connect": {REST_USERS: rest_users(passwords)}},
    ),
    depends_on=("kafka",),
    starts_beside=True,
    urls=lambda endpoints, _ports: {"rest": endpoints.connect.url},
    ready_seconds=120,
)
