"""What is registered in Hive's metastore, and what Spark reads by it over JDBC's protocol."""

from __future__ import annotations

import json
import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from pyhive import hive as pyhive

from labctl.artifacts import ArtifactStore
from labctl.config.lab_config import LabConfig, MetastoreSettings, ThriftServerSettings
from labctl.engines.postgres import postgres_service as postgres
from labctl.hive.metastore_client import databases, tables
from labctl.lake import Lake, LakeStorage
from labctl.lake.spark_queries import SparkEngine
from labctl.lake.table_source import LakeSource
from labctl.services import metastore_service, thriftserver_service
from labctl.services.lab_services import SERVICES
from labctl.services.local_endpoints import loopback_endpoints
from labctl.services.metastore_service import Metastore
from labctl.services.service import Context, Service
from labctl.services.thriftserver_service import ThriftServer, log_in
from lakecontract.options import HIVE
from sqlapi.catalog.table_inputs import names_of, table_input
from tests import quick_start
from tests.ports import free_port
from tests.unit.service_context import PROJECT, SECRET, context_of

pytestmark = pytest.mark.long

COW, MOR = "moma_cow.artists", "moma_mor.artists"
SCHEMA = (
    "artist_id int, name string, nationality string, born timestamp, share decimal(9,2), "
    "__op string, __deleted string, __kafka_partition int, __kafka_offset bigint"
)
WIDER = SCHEMA.replace("share decimal(9,2)", "share decimal(9,2), gender string")
ODD = "a/b ü"
"""A partition whose folder has another name than its value."""
WAIT_SECONDS = 300.0
POLL_SECONDS = 0.2
WRITER = "tests.integration.hive.writer"


def artist(key: int, nationality: str | None, offset: int, *, name: str = "") -> list[Any]:
    return [key, name or f"artist {key}", nationality, None, None, "r", "false", 0, offset]


@dataclass
class Writer:
    """The process that commits and tells."""

    process: subprocess.Popen[str]

    def step(self, table: str, rows: Sequence[Sequence[Any]] = (), schema: str = SCHEMA) -> None:
        """A commit of `rows`, if there are any; returns once the metastore was told."""
        self._write({"table": table, "rows": rows, "schema": schema})
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the writer died"
        status = json.loads(line)
        assert (status["due"], status["error"]) == (False, None)

    def begin(self, settings: dict[str, Any]) -> None:
        self._write(settings)

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> LakeStorage:
    return LakeStorage.local(tmp_path_factory.mktemp("lake"))


class Servers:
    """Services run from their records, without a lab around them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        switched_on = {
            "metastore": MetastoreSettings(enabled=True),
            "thriftserver": ThriftServerSettings(enabled=True),
            "services": quick_start.SETTINGS,
        }
        self._config = LabConfig.load(PROJECT / "lab.toml").model_copy(update=switched_on)
        self._ports = {
            service.name: {endpoint: free_port() for endpoint in service.ports}
            for service in SERVICES
        }
        self._endpoints = loopback_endpoints(self._config, self._ports, SECRET)

    def context(self, service: Service) -> Context:
        common = context_of(service, self._config, self._folder / service.name)
        return replace(common, ports=self._ports[service.name], endpoints=self._endpoints)

    @property
    def metastore(self) -> tuple[str, int]:
        endpoint = self._endpoints.others["metastore"]
        assert isinstance(endpoint, Metastore)
        return endpoint.host, endpoint.port

    @property
    def thrift(self) -> ThriftServer:
        endpoint = self._endpoints.others["thriftserver"]
        assert isinstance(endpoint, ThriftServer)
        return endpoint

    @contextmanager
    def running(self, service: Service) -> Iterator[None]:
        context = self.context(service)
        context.artifacts.fetch(service.native_form.artifacts)
        context.conf.mkdir(parents=True)
        service.native_form.prepare(context)
        process = service.native_form.process(context)
        with (
            (context.conf / "log").open("wb") as log,
            subprocess.Popen(
                process.argv,
                # Names of local files are text to Java by this alone.
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", **process.env},
                cwd=process.cwd,
                stdout=log,
                stderr=subprocess.STDOUT,
            ) as running,
        ):
            try:
                self._wait(service, context, running)
                service.setup(context)
                yield
            finally:
                running.send_signal(getattr(signal, f"SIG{service.stop.signal}"))
                running.wait(WAIT_SECONDS)

    @staticmethod
    def _wait(service: Service, context: Context, running: subprocess.Popen[bytes]) -> None:
        def is_usable() -> bool:
            assert running.poll() is None, (context.conf / "log").read_text()[-4000:]
            with suppress(Exception):
                return bool(service.probe(context))
            return False

        deadline = time.monotonic() + WAIT_SECONDS
        while not is_usable():
            assert time.monotonic() < deadline, (context.conf / "log").read_text()[-4000:]
            time.sleep(POLL_SECONDS)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """PostgreSQL and the metastore; the Thrift server once the tables are there."""
    servers = Servers(tmp_path_factory.mktemp("servers"))
    with servers.running(postgres.SERVICE), servers.running(metastore_service.SERVICE):
        yield servers


@contextmanager
def writing(servers: Servers, lake: LakeStorage, folder: Path) -> Iterator[Writer]:
    artifacts = ArtifactStore()
    artifacts.fetch(["spark-packages", "jre"])
    engine = SparkEngine(jars=artifacts.spark_jars(), java=artifacts.java())
    properties = PROJECT / "spark" / "properties" / "moma"
    host, port = servers.metastore
    uri = f"thrift://{host}:{port}"
    environment = {
        **os.environ,
        "JAVA_HOME": str(artifacts.java().resolve().parent.parent),
        "LC_ALL": "C.UTF-8",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    with subprocess.Popen(
        [sys.executable, "-m", WRITER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment,
    ) as process:
        writer = Writer(process)
        writer.begin(
            {
                "conf": {**engine.conf(folder), "spark.hadoop.hive.metastore.uris": uri},
                "properties": [str(properties / f"{name}.properties") for name in (COW, MOR)],
                "base": f"{lake.spark_uri}/silver",
                # By its address, and as EMR's is found.
                "catalogs": {COW: uri, MOR: HIVE},
            }
        )
        yield writer


@pytest.fixture(scope="module")
def told(servers: Servers, lake: LakeStorage, tmp_path_factory: pytest.TempPathFactory) -> Servers:
    """The same with two tables, of which the metastore was told after each commit."""
    at = servers.metastore
    with writing(servers, lake, tmp_path_factory.mktemp("writer")) as writer:
        assert databases(*at) == ["default"]
        for name in (COW, MOR):
            writer.step(name, [artist(1, "German", 1), artist(2, None, 2)])
        assert tables(*at, "moma_cow") == ["artists"]
        assert sorted(tables(*at, "moma_mor")) == ["artists", "artists_ro", "artists_rt"]
        for name in (COW, MOR):
            writer.step(name, [artist(1, "German", 3, name="another"), artist(3, ODD, 4)])
            first = artist(4, "German", 5)
            writer.step(name, [[*first[:5], "female", *first[5:]]], WIDER)
            writer.step(name)
    return servers


@pytest.fixture(scope="module")
def server(told: Servers) -> Iterator[ThriftServer]:
    with told.running(thriftserver_service.SERVICE):
        yield told.thrift


@dataclass
class Session:
    """What a client over the Thrift server's port reads."""

    cursor: Any

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        self.cursor.execute(sql)
        return [tuple(row) for row in self.cursor.fetchall()]


@pytest.fixture(scope="module")
def session(server: ThriftServer) -> Iterator[Session]:
    with pyhive.connect(
        host=server.host,
        port=server.port,
        username=server.user,
        password=server.password.get_secret_value(),
        auth="CUSTOM",
        database="moma_mor",
    ) as connection:
        yield Session(connection.cursor())


def test_every_name_of_a_table_is_listed(session: Session) -> None:
    assert {name for _, name, _ in session.rows("SHOW TABLES")} == {
        *("artists", "artists_ro", "artists_rt")
    }
    assert [name for _, name, _ in session.rows("SHOW TABLES IN moma_cow")] == ["artists"]


def test_real_time_names_have_what_is_not_compacted_and_the_read_optimized_has_not(
    session: Session,
) -> None:
    query = "SELECT artist_id, name, nationality FROM {} ORDER BY artist_id"
    rows = [
        (1, "another", "German"),
        (2, "artist 2", None),
        (3, "artist 3", ODD),
        (4, "artist 4", "German"),
    ]
    assert session.rows(query.format("moma_cow.artists")) == rows
    assert session.rows(query.format("artists")) == rows
    assert session.rows(query.format("artists_rt")) == rows
    # A new row of a bucket with a base file is in its log, one of a new bucket in a base file.
    assert session.rows(query.format("artists_ro")) == [(1, "artist 1", "German"), *rows[1:3]]


def test_a_column_of_a_later_commit_is_known(session: Session) -> None:
    for table in ("moma_cow.artists", "artists", "artists_ro", "artists_rt"):
        columns = {name: kind for name, kind, *_ in session.rows(f"DESCRIBE {table}")}
        assert columns["gender"] == "string"
    assert session.rows("SELECT gender FROM artists_rt WHERE artist_id = 4") == [("female",)]


def test_partitions_are_known_and_read_alone(session: Session) -> None:
    for table in ("moma_cow.artists", "artists_ro", "artists_rt"):
        assert session.rows(f"SELECT artist_id FROM {table} WHERE nationality = '{ODD}'") == [(3,)]
        shown = {name for (name,) in session.rows(f"SHOW PARTITIONS {table}")}
        assert "nationality=German" in shown
        assert len(shown) == 3


@pytest.mark.parametrize("name", [COW, MOR])
def test_the_definitions_are_those_of_the_labs_own_catalog(
    told: Servers, session: Session, lake: LakeStorage, name: str
) -> None:
    """Hudi's sync wrote the one, the lab wrote the other: Athena and Glue have that."""
    source = LakeSource(Lake(lake))
    (table,) = (t for t in source.tables() if f"{t.database}.{t.name}" == name)
    for shown, view in names_of(table).items():
        ours = table_input(shown, table, view, source.schema(table))
        storage = ours["StorageDescriptor"]
        rows = session.rows(f"DESCRIBE EXTENDED {table.database}.{shown}")
        theirs = {key.strip(): (value or "").strip() for key, value, _ in rows}
        for column in [*storage["Columns"], *ours["PartitionKeys"]]:
            assert theirs[column["Name"]] == column["Type"], column
        assert theirs["InputFormat"] == storage["InputFormat"]
        assert theirs["OutputFormat"] == storage["OutputFormat"]
        assert theirs["Serde Library"] == storage["SerdeInfo"]["SerializationLibrary"]
        assert theirs["Provider"] == ours["Parameters"]["spark.sql.sources.provider"]
        assert theirs["Location"].removeprefix("file:").lstrip("/") == storage[
            "Location"
        ].removeprefix("file:").lstrip("/")
        optimized = storage["SerdeInfo"]["Parameters"]["hoodie.query.as.ro.table"]
        assert f"hoodie.query.as.ro.table={optimized}" in theirs["Storage Properties"]


def test_nobody_is_let_in_without_the_password(server: ThriftServer) -> None:
    log_in(server)
    for wrong in ({"password": SecretStr("guessed")}, {"user": "root"}):
        with pytest.raises(ConnectionError):
            log_in(server.model_copy(update=wrong))


def test_a_table_is_dropped_from_the_metastore_alone(
    told: Servers, session: Session, lake: LakeStorage
) -> None:
    """It has no file system: neither the lake's files nor this user's go with a table."""
    source = LakeSource(Lake(lake))
    before = source.tables()
    session.rows("SHOW TABLES")
    session.cursor.execute("DROP TABLE moma_cow.artists")
    assert tables(*told.metastore, "moma_cow") == []
    assert source.tables() == before


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_web_page_cannot_end_the_metastore(servers: Servers, method: str) -> None:
    """A browser runs as the lab's own user. The first bytes of its request are no length."""
    host, port = servers.metastore
    request = f"{method} / HTTP/1.1\r\nHost: page.example\r\nContent-Length: 5\r\n\r\nhello"
    with socket.create_connection((host, port), timeout=WAIT_SECONDS) as page:
        page.sendall(request.encode())
        with suppress(ConnectionResetError):
            assert page.recv(1) == b""
    assert databases(host, port)


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_another_user_of_the_machine_is_not_answered(servers: Servers) -> None:
    host, port = servers.metastore
    assert databases(host, port)
    other = pwd.getpwnam("nobody")
    name = "get_all_databases"
    call = rf"\x80\x01\x00\x01\x00\x00\x00\x{len(name):02x}{name}\x00\x00\x00\x00\x00"
    program = f"exec 3<>/dev/tcp/{host}/{port}; printf '{call}' >&3; timeout 5 cat <&3"
    answers = {}
    for user in (0, other.pw_uid):
        asked = subprocess.run(
            ["setpriv", f"--reuid={user}", "--clear-groups", "bash", "-c", program],
            capture_output=True,
            check=False,
        )
        answers[user] = asked.stdout
    assert b"default" in answers[0]
    assert answers[other.pw_uid] == b""
