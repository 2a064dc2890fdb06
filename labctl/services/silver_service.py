"""The Spark application, which writes bronze files and all silver Hudi tables in one process."""

from __future__ import annotations

import hashlib
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from pydantic import SecretStr

from labctl.application import APPLICATION, application_files, own_jar
from labctl.config.endpoints import Silver
from labctl.config.kafka_clients import java_settings
from labctl.config.lab_config import LabConfig
from labctl.counted import counted
from labctl.hive.jars import spark_home
from labctl.services.container import (
    LAB_FILE,
    LAB_NAME,
    SILVER_IMAGE,
    ComposeService,
    Container,
    Recipe,
    answers_http,
    mounted,
)
from labctl.services.jvm import FLAGS, busy_compiler
from labctl.services.metastore_service import Metastore
from labctl.services.service import (
    Context,
    NativeService,
    Process,
    Service,
    Site,
    Stop,
    Suspension,
)
from labctl.shipped import own_or_shipped, shipped
from labctl.sinks import sink_files, used_sinks
from labctl.state.lab_state import write_private
from labctl.tables import GOLD, lab_tables
from lakecontract.gold_definition import written_definitions
from lakecontract.options import KAFKA_CONF_PREFIX, Options, submit_argv

__all__ = [
    "LOG4J2",
    "SERVICE",
    "SPARK_DEFAULTS",
    "gold_text",
    "options",
    "process",
    "session_settings",
    "spark_settings",
    "submit_environment",
]

SPARK_DEFAULTS = "spark/spark-defaults.conf"
"""File of the session's settings. A project may replace it, and the one below, too."""
LOG4J2 = "spark/log4j2.properties"
LOOPBACK = "127.0.0.1"
TOKEN = "status-token"  # noqa: S105 - a file's name
_GOLD = "gold.json"
_STARTED_BY = "started-by"
"""File with the digest of the code and settings with which the running process was started."""
_SUSPEND_SECONDS = 20.0
"""Seconds that running work may take to end; then it is killed, which loses nothing more."""


def _prepare(context: Context) -> None:
    context.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    # In a container it is the folder of temporary files, and a killed process leaves some.
    shutil.rmtree(context.data / "scratch", ignore_errors=True)
    write_private(context.conf / "spark.properties", _session_properties(context))
    write_private(context.conf / TOKEN, context.passwords["silver"])
    write_private(context.conf / _STARTED_BY, _session_digest(context))
    if context.config.gold.materialised:
        write_private(context.conf / _GOLD, gold_text(context.project, context.config))


def _session_properties(context: Context) -> str:
    """Return the text of Spark's properties file. It holds secrets."""
    shared = own_or_shipped(context.project, SPARK_DEFAULTS).read_text(encoding="utf-8")
    jars = (f"{context.artifacts.path('spark-packages')}/*", own_jar(context.project))
    class_path = {"spark.driver.extraClassPath": ":".join(map(str, jars))}
    local = spark_settings(context) | class_path
    lines = "".join(f"{key} {value}\n" for key, value in local.items())
    return f"{shared}\n{lines}"


def _session_digest(context: Context) -> str:
    """Return the digest of what the process reads only at its start: code and session settings."""
    digest = hashlib.sha256(_session_properties(context).encode())
    for word in (context.passwords["silver"], *options(context).argv()):
        digest.update(b"\0" + word.encode())
    project = context.project
    others = (own_jar(project), own_or_shipped(project, LOG4J2))
    for file in (*application_files(project), *others):
        digest.update(b"\0" + file.read_bytes())
    if context.config.gold.materialised:
        digest.update(b"\0" + gold_text(context.project, context.config).encode())
    return digest.hexdigest()


def gold_text(project: Path, config: LabConfig) -> str:
    """Return the materialised views' definitions, for the application. Raises LabError (USAGE)."""
    # Import here: these modules load Athena's SQL, and most labs have no materialised view.
    from labctl.lake.gold import load_views
    from labctl.lake.materialised import definitions

    found = definitions(
        config.gold.materialised,
        load_views(project / GOLD),
        [table.name for table in lab_tables(project, config)],
    )
    return written_definitions(found)


def _compose_variables(project: Path, config: LabConfig) -> dict[str, str]:
    # Docker would create a missing folder, owned by root. This folder exists and has no views.
    gold = project / GOLD
    return {"LAB_GOLD": str(gold if gold.is_dir() else shipped("compose") / "probes")}


def spark_settings(context: Context) -> dict[str, str]:
    """Return the settings, without the jars, that this runtime adds to `spark/spark-defaults.conf`.

    They hold secrets.
    """
    login = java_settings(context.endpoints.kafka)
    return {
        **session_settings(context),
        **{f"{KAFKA_CONF_PREFIX}{key}": value for key, value in login.items()},
        # Spark's default for local checkpoints starts 24 processes per batch to look up links.
        "spark.sql.streaming.checkpointFileManagerClass": (
            "org.apache.spark.sql.execution.streaming.FileSystemBasedCheckpointFileManager"
        ),
    }


def session_settings(context: Context) -> dict[str, str]:
    """Return the settings that any Spark application on the lab's lake needs. They hold secrets."""
    store = context.endpoints.objectstore
    assert store.access_key is not None  # noqa: S101 - the native object store has keys
    assert store.secret_key is not None  # noqa: S101
    return {
        "spark.master": "local[*]",
        "spark.app.name": f"labctl-{context.lab}",
        "spark.driver.memory": context.heap,
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        # Any user of this machine can reach the driver's ports. Each start makes a new secret.
        "spark.authenticate": "true",
        # Spark's own expression, extended by the setting that holds Kafka's password.
        "spark.redaction.regex": "(?i)secret|password|token|access[.]?key|jaas[.]config",
        "spark.driver.extraJavaOptions": (
            f"{' '.join((*FLAGS, *busy_compiler(context)))} "
            # Spark loads 30,000 classes: each small growth step would cost a full collection.
            "-XX:MetaspaceSize=320m -XX:NewRatio=1 "
            # Quoted, because the project's path may contain a blank.
            f'-Dlog4j2.configurationFile="{own_or_shipped(context.project, LOG4J2)}"'
        ),
        "spark.local.dir": str(context.temp),
        "spark.sql.warehouse.dir": str(context.data / "warehouse"),
        "spark.hadoop.fs.s3a.endpoint": store.endpoint_url or "",
        "spark.hadoop.fs.s3a.endpoint.region": store.region,
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.hadoop.fs.s3a.access.key": store.access_key.get_secret_value(),
        "spark.hadoop.fs.s3a.secret.key": store.secret_key.get_secret_value(),
    }


def options(
    context: Context, *, status_host: str = LOOPBACK, writes_bronze: bool = True
) -> Options:
    """Return the application's command line options.

    Without `writes_bronze`, the sink connectors write the bronze files, and the application none.
    """
    tables = lab_tables(context.project, context.config)
    sinks = used_sinks(sink_files(context.project), tables)
    metastore = context.endpoints.others.get("metastore")
    bucket = f"s3a://{context.endpoints.objectstore.bucket}"
    return Options(
        properties=tuple(str(context.project / f) for f in context.config.silver.properties),
        bootstrap_servers=context.endpoints.kafka.bootstrap_servers,
        registry_url=context.endpoints.registry.url,
        target_base_path=f"{bucket}/silver",
        bronze_base_path=bucket,
        checkpoint_base_path=(context.data / "checkpoints").as_uri(),
        tables=tuple(table.name for table in tables),
        source=context.config.silver.source,
        sink_configs=tuple(str(sink.file.path) for sink in sinks) if writes_bronze else (),
        secrets_dir=str(context.secrets),
        status_host=status_host,
        status_port=context.ports["status"],
        status_token_file=str(context.conf / TOKEN),
        catalog=metastore.uri if isinstance(metastore, Metastore) else None,
        gold=str(context.conf / _GOLD) if context.config.gold.materialised else None,
        retention_seconds=context.config.lake.retention_seconds,
        hoodie_conf={},
    )


def process(
    context: Context, *, status_host: str = LOOPBACK, writes_bronze: bool = True
) -> Process:
    """Return the application as a process: `spark-submit` with this machine's Python and Java."""
    return Process(
        argv=tuple(
            submit_argv(
                options(context, status_host=status_host, writes_bronze=writes_bronze),
                spark_submit=(str(spark_home() / "bin" / "spark-submit"),),
                properties_file=str(context.conf / "spark.properties"),
                application=str(own_or_shipped(context.project, APPLICATION)),
            )
        ),
        env=submit_environment(context),
        # The data folder may be replaced while it runs.
        cwd=context.temp,
    )


def submit_environment(context: Context) -> dict[str, str]:
    """Return the environment of `spark-submit`: this machine's Python and Java."""
    return {
        "SPARK_HOME": str(spark_home()),
        "JAVA_HOME": str(context.artifacts.java().resolve().parent.parent),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": LOOPBACK,
    }


def _probe(context: Context) -> str:
    import requests

    response = requests.get(f"{context.endpoints.silver.status_url}/status", timeout=5)
    response.raise_for_status()
    status = response.json()
    if status.get("suspended"):
        raise ConnectionError("it is suspended; `labctl up` resumes it")
    tables = status["tables"].values()
    # A table whose topic does not exist yet has no work: the lab is usable without it.
    opening = [t for t in tables if t["state"] == "starting" and t["waiting_for"] is None]
    if opening:
        raise ConnectionError(f"{counted(len(opening), 'table', 'are')} still being opened")
    return f"{status['application']}, {counted(len(tables), 'table')} from {status['source']}"


def _suspend(context: Context) -> None:
    if (context.conf / _STARTED_BY).read_text(encoding="utf-8") != _session_digest(context):
        raise ConnectionError("what it was started by is not what there is now")
    _post(context, "suspend", seconds=_SUSPEND_SECONDS)


def _resume(context: Context) -> None:
    import requests

    # A process that does not answer is just starting. If it stays suspended, its probe reports it.
    with suppress(requests.RequestException):
        _post(context, "resume", seconds=_SUSPEND_SECONDS)


def _post(context: Context, action: str, *, seconds: float) -> None:
    import requests

    silver = context.endpoints.silver
    url = f"{silver.status_url}/{action}"
    requests.post(url, headers=silver.headers, timeout=seconds).raise_for_status()


def _endpoint(site: Site) -> Silver:
    return Silver(
        status_url=f"http://{site.address('silver', 'status')}",
        token=SecretStr(site.passwords["silver"]),
    )


_PORT = 4041
_CONTAINER = ComposeService(
    "silver",
    SILVER_IMAGE,
    memory="2432m",
    comments={
        "LAB_SILVER": "Changes with lab.toml and the tables, so that Compose restarts the"
        " application: a file that an editor replaces stays what it was where it is mounted.",
        "LAB_SILVER_SOURCE": "kafka or bronze; empty: as lab.toml says.",
        "tmpfs": "Configuration written at every start; it holds secrets.",
    },
    command=("python", "-m", "labctl.runtimes.compose.silver_container"),
    environment={
        "LAB_NAME": LAB_NAME,
        "LAB_SILVER": "${LAB_SILVER:-}",
        "LAB_SILVER_SOURCE": "${LAB_SILVER_SOURCE:-}",
    },
    data="/data",
    mounts=(
        LAB_FILE,
        mounted("${LAB_PROJECT:-..}/connectors", "/lab/connectors"),
        mounted("${LAB_PROJECT:-..}/spark", "/lab/spark"),
        mounted("${LAB_GOLD:-../gold}", "/lab/gold"),
    ),
    temporary=("/run/lab:mode=1777",),
    health=answers_http(_PORT, "/status"),
)

SERVICE = Service(
    name="silver",
    title="Spark application",
    ports={"status": _PORT},
    native=NativeService(
        artifacts=("jre", "spark-packages"), memory_mib=2148, prepare=_prepare, process=process
    ),
    probe=_probe,
    endpoint=_endpoint,
    passwords=("connect", "kafka", "silver"),
    heap="1g",
    stop=Stop(seconds=60),
    container=Container(
        _CONTAINER,
        recipes=(
            Recipe(
                "silver-builder",
                "local/silver-builder",
                None,
                {"BASE": "base"},
                cached=("jre", "spark-packages", "hive-metastore"),
                wheels=True,
            ),
            Recipe(
                "silver",
                "silver",
                None,
                {"SILVER_BASE": "base", "SILVER_BUILDER": "silver-builder"},
                project=True,
            ),
        ),
        # At its start the application asks Connect whether the sink connector writes bronze.
        sidecars=("connect",),
        reads_references=True,
        variables=_compose_variables,
    ),
    depends_on=("kafka", "registry", "objectstore"),
    suspension=Suspension(_suspend, _resume),
    urls=lambda endpoints, _ports: {"status": f"{endpoints.silver.status_url}/status"},
    ready_seconds=120,
)
