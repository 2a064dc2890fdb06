"""Hive's metastore (docs/hive.md). Its state is in the lab's PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape

from pydantic import SecretStr

from labctl.config.endpoints import Database, Endpoint
from labctl.errors import LabError
from labctl.hive.jars import LOG4J2, metastore_classpath, schema_file
from labctl.hive.metastore_client import databases
from labctl.hive.metastore_schema import ensure_schema
from labctl.services.container import (
    LAB_FILE,
    LAB_NAME,
    SILVER_IMAGE,
    ComposeService,
    Container,
    Health,
)
from labctl.services.jvm import java
from labctl.services.service import Context, NativeService, Process, Service, Site
from labctl.services.state_database import STATE_SERVICE, state_server
from labctl.state.lab_state import write_private
from labctl.state.sockets import LOOPBACK

__all__ = ["SERVICE", "SITE", "Metastore", "process", "settings", "site_text"]

SITE = "metastore-site.xml"
"""The file of its settings; the metastore finds it by this name on its class path."""
_SCHEMES = ("file", "hdfs", "s3", "s3a", "s3n")


class Metastore(Endpoint):
    """The metastore's address; it speaks Thrift's protocol."""

    host: str
    port: int

    @property
    def uri(self) -> str:
        """The address in the form that Hive's clients expect."""
        return f"thrift://{self.host}:{self.port}"

    @property
    def variables(self) -> Mapping[str, str]:
        return {"HIVE_METASTORE_URI": self.uri}


def settings(database: Database, bucket: str) -> dict[str, str]:
    """Return Hive's own settings. They hold a secret."""
    return {
        "javax.jdo.option.ConnectionURL": (
            f"jdbc:postgresql://{database.host}:{database.port}/{database.database}"
        ),
        "javax.jdo.option.ConnectionDriverName": "org.postgresql.Driver",
        "javax.jdo.option.ConnectionUserName": database.user,
        "javax.jdo.option.ConnectionPassword": database.password.get_secret_value(),
        # This applies to each of two pools.
        "datanucleus.connectionPool.maxPoolSize": "4",
        "metastore.warehouse.dir": f"s3a://{bucket}/warehouse",
        # The defaults name classes of Hive that the standalone metastore lacks.
        "metastore.expression.proxy": (
            "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy"
        ),
        "metastore.task.threads.always": (
            "org.apache.hadoop.hive.metastore.events.EventCleanerTask"
        ),
        # Statistics would be gathered from files, to which it has no access.
        "metastore.stats.auto.gather": "false",
        **{f"fs.{scheme}.impl": "labctl.NoFiles" for scheme in _SCHEMES},
    }


def _database(context: Context) -> Database:
    """Return the metastore's own database, with the role that owns it as the login."""
    server = state_server(context.endpoints)
    return Database(
        host=server.host,
        port=server.port,
        user=SERVICE.name,
        password=SecretStr(context.passwords[SERVICE.name]),
        database=SERVICE.name,
    )


def _prepare(context: Context) -> None:
    import psycopg2

    database = _database(context)
    try:
        ensure_schema(database, schema_file(context.artifacts))
    except psycopg2.Error as error:
        raise LabError(f"The tables of Hive's metastore cannot be made: {error}") from None
    values = settings(database, context.endpoints.objectstore.bucket)
    write_private(context.conf / SITE, site_text(values))


def site_text(values: Mapping[str, str]) -> str:
    """Return the settings as XML, in the form of Hive's own file."""
    properties = "".join(
        f"<property><name>{key}</name><value>{escape(value)}</value></property>\n"
        for key, value in values.items()
    )
    return f"<configuration>\n{properties}</configuration>\n"


def process(context: Context, *, host: str = LOOPBACK) -> Process:
    """Return the metastore as a process. On loopback it accepts only its own user's connections."""
    clients = "same-user" if host == LOOPBACK else "anyone"
    class_path = ":".join([str(context.conf), *metastore_classpath(context.artifacts)])
    return Process(
        argv=(
            *java(context),
            f"-Dlog4j2.configurationFile={LOG4J2}",
            *("-cp", class_path),
            *("labctl.Metastore", host, str(context.ports["thrift"]), clients),
        ),
        cwd=context.conf,
    )


def _probe(context: Context) -> str:
    endpoint = context.endpoints.others[SERVICE.name]
    assert isinstance(endpoint, Metastore)  # noqa: S101 - this service's own endpoint
    databases(endpoint.host, endpoint.port)
    return f"Hive metastore {context.artifacts.lock.artifacts['hive-metastore'].version}"


def _endpoint(site: Site) -> Metastore:
    host, _, port = site.address("metastore", "thrift").rpartition(":")
    return Metastore(host=host, port=int(port))


_PORT = 9083
_CONTAINER = ComposeService(
    "metastore",
    SILVER_IMAGE,
    memory="384m",
    comment="Hive's metastore and Spark's Thrift server (docs/hive.md), in the same image. labctl"
    " starts them where lab.toml switches them on. By hand, with the same lines: `docker compose"
    " --profile metastore up`.",
    comments={"tmpfs": "Instead of the image's volume: what it keeps is in PostgreSQL."},
    command=("python", "-m", "labctl.runtimes.compose.hive_container", "metastore"),
    environment={"LAB_NAME": LAB_NAME},
    mounts=(LAB_FILE,),
    temporary=("/run/lab:mode=1777", "/data"),
    health=Health(
        (
            "CMD",
            "python",
            "-c",
            f"from labctl.hive.metastore_client import databases; databases('127.0.0.1', {_PORT})",
        )
    ),
    profiles=("metastore", "thriftserver"),
)

SERVICE = Service(
    name="metastore",
    title="Hive metastore",
    ports={"thrift": _PORT},
    native=NativeService(
        artifacts=("jre", "hive-metastore"), memory_mib=230, prepare=_prepare, process=process
    ),
    probe=_probe,
    endpoint=_endpoint,
    passwords=("metastore",),
    own_database=True,
    heap="192m",
    container=Container(_CONTAINER),
    enabled=lambda config: config.metastore.enabled,
    depends_on=(STATE_SERVICE,),
    urls=lambda _endpoints, ports: {"thrift": f"thrift://127.0.0.1:{ports['thrift']}"},
)
