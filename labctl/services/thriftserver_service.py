"""Spark's Thrift server (docs/hive.md): SQL over the tables of Hive's metastore, for JDBC."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from pydantic import SecretStr

from labctl.application import own_jar
from labctl.config.endpoints import Endpoint
from labctl.hive.jars import LAB_JAR, spark_home
from labctl.services.container import (
    LAB_FILE,
    LAB_NAME,
    SILVER_IMAGE,
    ComposeService,
    Container,
    Health,
    mounted,
)
from labctl.services.metastore_service import Metastore
from labctl.services.service import Context, NativeService, Process, Service, Site, Stop
from labctl.services.silver_service import (
    SPARK_DEFAULTS,
    session_settings,
    submit_environment,
)
from labctl.shipped import own_or_shipped
from labctl.state.lab_state import write_private
from labctl.state.sockets import LOOPBACK

__all__ = ["SERVICE", "USER", "ThriftServer", "log_in", "process"]

USER = "labctl"
_PROPERTIES, _PASSWORD = "spark.properties", "password"
_CLASS = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
_TIMEOUT_SECONDS = 5.0
_START, _OK, _COMPLETE = 1, 2, 5
"""Status of a login message, in Thrift's framing of SASL."""


class ThriftServer(Endpoint):
    """The server's address and login."""

    host: str
    port: int
    user: str
    password: SecretStr

    @property
    def variables(self) -> Mapping[str, str]:
        return {
            "THRIFTSERVER_HOST": self.host,
            "THRIFTSERVER_PORT": str(self.port),
            "THRIFTSERVER_USER": self.user,
        }

    @property
    def secrets(self) -> Mapping[str, str]:
        return {"THRIFTSERVER_PASSWORD_FILE": self.password.get_secret_value()}


def _prepare(context: Context) -> None:
    context.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(context.conf / _PASSWORD, context.passwords[SERVICE.name])
    shared = own_or_shipped(context.project, SPARK_DEFAULTS).read_text(encoding="utf-8")
    lines = "".join(f"{key} {value}\n" for key, value in _settings(context).items())
    write_private(context.conf / _PROPERTIES, f"{shared}\n{lines}")


def _settings(context: Context) -> dict[str, str]:
    """Return the settings that it adds to `spark/spark-defaults.conf`. They hold secrets."""
    metastore = context.endpoints.others["metastore"]
    assert isinstance(metastore, Metastore)  # noqa: S101 - `after` names it
    settings = session_settings(context)
    password = {"user": USER, "password-file": f'"{context.conf / _PASSWORD}"'}
    options = [f"-Dlabctl.thriftserver.{key}={value}" for key, value in password.items()]
    return settings | {
        "spark.driver.extraJavaOptions": " ".join(
            (settings["spark.driver.extraJavaOptions"], *options)
        ),
        "spark.driver.extraClassPath": f"{context.artifacts.path('spark-packages')}/*:{LAB_JAR}:"
        f"{own_jar(context.project)}",
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": metastore.uri,
    }


def process(context: Context, *, host: str = LOOPBACK) -> Process:
    """Return the server as a process: `spark-submit` with a class of Spark."""
    hive = {
        "hive.server2.thrift.bind.host": host,
        "hive.server2.thrift.port": str(context.ports["jdbc"]),
        "hive.server2.authentication": "CUSTOM",
        "hive.server2.custom.authentication.class": "labctl.PasswordFile",
        # All sessions run as this process's user, whatever user a client names.
        "hive.server2.enable.doAs": "false",
        "hive.exec.scratchdir": str(context.temp / "hive"),
        "hive.exec.local.scratchdir": str(context.temp / "hive-local"),
        "hive.downloaded.resources.dir": str(context.temp / "hive-resources"),
        "hive.querylog.location": str(context.temp / "hive-log"),
        "hive.server2.logging.operation.log.location": str(context.temp / "hive-operations"),
    }
    return Process(
        argv=(
            str(spark_home() / "bin" / "spark-submit"),
            f"--properties-file={context.conf / _PROPERTIES}",
            *("--class", _CLASS, "spark-internal"),
            *(word for key, value in hive.items() for word in ("--hiveconf", f"{key}={value}")),
        ),
        env=submit_environment(context),
        cwd=context.data,
    )


def log_in(endpoint: ThriftServer) -> None:
    """Log in and disconnect. Raises OSError, also if the server refuses the login.

    This is only a SASL PLAIN negotiation: the pipeline needs no full client.
    """
    login = f"\0{endpoint.user}\0{endpoint.password.get_secret_value()}".encode()
    with socket.create_connection((endpoint.host, endpoint.port), _TIMEOUT_SECONDS) as connection:
        connection.sendall(_framed(_START, b"PLAIN") + _framed(_OK, login))
        with connection.makefile("rb") as stream:
            head = stream.read(5)
            said = stream.read(int.from_bytes(head[1:], "big")) if len(head) == 5 else b""
    if head[:1] != bytes([_COMPLETE]):
        raise ConnectionError(said.decode(errors="replace") or "the server closed the connection")


def _framed(status: int, payload: bytes) -> bytes:
    return bytes([status]) + len(payload).to_bytes(4, "big") + payload


def _probe(context: Context) -> str:
    from importlib.metadata import version

    endpoint = context.endpoints.others[SERVICE.name]
    assert isinstance(endpoint, ThriftServer)  # noqa: S101 - this service's own endpoint
    log_in(endpoint)
    return f"Spark Thrift server {version('pyspark')}"


def _endpoint(site: Site) -> ThriftServer:
    host, _, port = site.address("thriftserver", "jdbc").rpartition(":")
    password = SecretStr(site.passwords["thriftserver"])
    return ThriftServer(host=host, port=int(port), user=USER, password=password)


_PORT = 10_000
_CONTAINER = ComposeService(
    "thriftserver",
    SILVER_IMAGE,
    memory="1280m",
    comments={
        "healthcheck": "That it listens: a login each few seconds would fill its log.",
    },
    command=("python", "-m", "labctl.runtimes.compose.hive_container", "thriftserver"),
    environment={"LAB_NAME": LAB_NAME},
    mounts=(
        LAB_FILE,
        mounted("${LAB_PROJECT:-..}/spark", "/lab/spark"),
    ),
    temporary=("/run/lab:mode=1777", "/data"),
    health=Health(
        (
            "CMD",
            "python",
            "-c",
            f"import socket; socket.create_connection(('127.0.0.1', {_PORT}), 3)",
        )
    ),
    profiles=("thriftserver",),
)

SERVICE = Service(
    name="thriftserver",
    title="Spark Thrift server",
    ports={"jdbc": _PORT},
    native=NativeService(
        artifacts=("jre", "spark-packages"), memory_mib=900, prepare=_prepare, process=process
    ),
    probe=_probe,
    endpoint=_endpoint,
    passwords=("thriftserver", "objectstore"),
    heap="512m",
    stop=Stop(seconds=30),
    container=Container(_CONTAINER),
    enabled=lambda config: config.thriftserver.enabled,
    depends_on=("metastore", "objectstore"),
    ephemeral=True,
    urls=lambda _endpoints, ports: {"jdbc": f"jdbc:hive2://127.0.0.1:{ports['jdbc']}/"},
    ready_seconds=120,
)
