# ruff: noqa: S311 - chance, not secrets
"""Debezium's SQL Server connector, unmodified, against the stand-in."""

from __future__ import annotations

import contextlib
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.sqlserver.conftest import (
    PASSWORD,
    Postgres,
    Sql,
    StandIn,
    eventually,
)
from tests.integration.sqlserver.kafka import Cluster, Topic
from tests.ports import free_port

pytestmark = pytest.mark.long

_SECONDS = 240.0
_ROWS = 300


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Kafka and Connect from the lab's cache of parts; skipped when they were not fetched."""
    from labctl.artifacts import ArtifactStore
    from labctl.errors import LabError

    store = ArtifactStore()
    try:
        java, jars, plugins = store.java(), store.path("kafka"), store.path("debezium-sqlserver")
    except LabError as error:
        pytest.skip(f"Kafka, Connect and Debezium are not fetched: {error}")
    made = Cluster(java, jars, plugins, Path(tmp_path_factory.mktemp("kafka")))
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture
def source(sql: Sql) -> Sql:
    """A database with a captured `crm.user` of some rows and a signal table."""
    flags = ", ".join(f"like{n} bit" for n in range(10))
    sql("CREATE SCHEMA crm")
    sql(
        "CREATE TABLE crm.[user] (userid int PRIMARY KEY, username char(8), city varchar(30), "
        f"note nvarchar(max), seen datetime2(6), spent decimal(8,2), {flags})"
    )
    sql(
        "CREATE TABLE crm.signal (id varchar(42) PRIMARY KEY, type varchar(32), data varchar(2048))"
    )
    sql(
        "DECLARE @n int = 1 WHILE @n <= 3 BEGIN "
        "INSERT INTO crm.[user] (userid, username, city, note, spent, like1) "
        f"SELECT value + (@n - 1) * {_ROWS // 3}, CONCAT('u', value), 'Łódź', N'nö', 1.25, "
        f"value % 2 FROM GENERATE_SERIES(1, {_ROWS // 3}) AS g(value) SET @n += 1 END"
    )
    sql("EXEC sys.sp_cdc_enable_db")
    for table in ("user", "signal"):
        sql(f"EXEC sys.sp_cdc_enable_table N'crm', N'{table}', @role_name = NULL")
    return sql


def _config(
    source: Sql, standin: StandIn, name: str, cluster: Cluster, **extra: str
) -> dict[str, str]:
    database = source("SELECT DB_NAME()")[0][0]
    return {
        "connector.class": "io.debezium.connector.sqlserver.SqlServerConnector",
        "database.hostname": "127.0.0.1",
        "database.port": str(standin.port),
        "database.user": "sa",
        "database.password": PASSWORD,
        "database.names": database,
        "topic.prefix": name,
        "table.include.list": "crm.user",
        "schema.history.internal.kafka.bootstrap.servers": f"127.0.0.1:{cluster.broker}",
        "schema.history.internal.kafka.topic": f"history-{name}",
        "poll.interval.ms": "100",
        "tombstones.on.delete": "false",
        "decimal.handling.mode": "string",
        "driver.encrypt": "true",
        "driver.trustServerCertificate": "true",
        "signal.data.collection": f"{database}.crm.signal",
        "incremental.snapshot.chunk.size": "100",
        "retriable.restart.connector.wait.ms": "500",
        **extra,
    }


class Watch:
    """A connector, its topic, and the comparison of the topic's state with the table."""

    def __init__(self, source: Sql, standin: StandIn, cluster: Cluster, **extra: str) -> None:
        self.source, self.standin, self.cluster = source, standin, cluster
        self.name = f"t{time.time_ns()}"
        self.database = source("SELECT DB_NAME()")[0][0]
        cluster.apply(self.name, _config(source, standin, self.name, cluster, **extra))
        self.topic = Topic(cluster, f"{self.name}.{self.database}.crm.user", "userid")

    def table(self) -> dict[int, tuple[Any, ...]]:
        rows = self.source(
            "SELECT userid, username, city, note, CAST(spent AS varchar(20)), like1 FROM crm.[user]"
        )
        return {row[0]: row for row in rows}

    def rebuilt(self) -> dict[int, tuple[Any, ...]]:
        names = ("userid", "username", "city", "note", "spent", "like1")
        return {key: tuple(row[n] for n in names) for key, row in self.topic.rows.items()}

    def agrees(self) -> bool:
        self.topic.read()
        state = self.cluster.state(self.name)
        if state.startswith("FAILED"):
            self.cluster.restart(self.name)
        return self.rebuilt() == self.table()

    def wait(self) -> None:
        eventually(self.agrees, f"{self.name}: topic and table agree", _SECONDS)

    def close(self) -> None:
        self.topic.close()
        self.cluster.delete(self.name)


@pytest.mark.parametrize(
    ("isolation", "query", "encrypt"),
    [
        ("repeatable_read", "function", "true"),
        ("read_committed", "direct", "false"),
        ("snapshot", "function", "true"),
        ("exclusive", "direct", "true"),
        ("read_uncommitted", "function", "true"),
    ],
)
def test_snapshot_and_streaming(
    source: Sql, standin: StandIn, cluster: Cluster, isolation: str, query: str, encrypt: str
) -> None:
    watch = Watch(
        source, standin, cluster,
        **{"snapshot.isolation.mode": isolation, "data.query.mode": query,
           "driver.encrypt": encrypt},
    )  # fmt: skip
    with contextlib.closing(watch):
        watch.wait()
        assert watch.topic.operations == ["r"] * _ROWS
        source("INSERT INTO crm.[user] (userid, city) VALUES (9001, 'new'), (9002, NULL)")
        source("UPDATE crm.[user] SET city = 'x', like1 = NULL WHERE userid <= 5")
        source("UPDATE crm.[user] SET userid = 9003 WHERE userid = 9001")
        source("DELETE FROM crm.[user] WHERE userid BETWEEN 10 AND 12")
        watch.wait()
        streamed = watch.topic.operations[_ROWS:]
        assert streamed == ["c", "c", *["u"] * 5, "d", "c", *["d"] * 3]


def test_without_snapshot(source: Sql, standin: StandIn, cluster: Cluster) -> None:
    watch = Watch(source, standin, cluster, **{"snapshot.mode": "no_data"})
    with contextlib.closing(watch):

        def first_event() -> bool:
            source("UPDATE crm.[user] SET spent += 1 WHERE userid = 1")
            watch.topic.read()
            return bool(watch.topic.operations)

        eventually(first_event, "streaming begins", _SECONDS)
        assert set(watch.topic.operations) == {"u"}


def test_incremental_snapshot(source: Sql, standin: StandIn, cluster: Cluster) -> None:
    watch = Watch(source, standin, cluster)
    with contextlib.closing(watch):
        watch.wait()
        data = f'{{"data-collections": ["{watch.database}.crm.user"], "type": "incremental"}}'
        source(f"INSERT INTO crm.signal VALUES ('s1', 'execute-snapshot', '{data}')")

        def all_read_again() -> bool:
            watch.topic.read()
            return watch.topic.operations.count("r") >= 2 * _ROWS

        eventually(all_read_again, "the incremental snapshot is complete", _SECONDS)
        watch.wait()


def test_schema_change_with_a_second_instance(
    source: Sql, standin: StandIn, cluster: Cluster
) -> None:
    watch = Watch(source, standin, cluster)
    with contextlib.closing(watch):
        watch.wait()
        source("ALTER TABLE crm.[user] ADD phone varchar(20) NULL")
        source("EXEC sys.sp_cdc_enable_table N'crm', N'user', @role_name = NULL, "
               "@capture_instance = N'crm_user_v2'")  # fmt: skip
        source("UPDATE crm.[user] SET phone = '555' WHERE userid = 7")

        def phone_arrived() -> bool:
            watch.topic.read()
            return watch.topic.rows.get(7, {}).get("phone") == "555"

        eventually(phone_arrived, "the new column arrives", _SECONDS)
        source("EXEC sys.sp_cdc_disable_table N'crm', N'user', N'crm_user'")
        source("UPDATE crm.[user] SET phone = '777' WHERE userid = 8")
        watch.wait()


def test_kills_lose_and_duplicate_nothing(
    postgres: Postgres, certificate: Path, cluster: Cluster, tmp_path: Path
) -> None:
    """Writers go on while the stand-in, its PostgreSQL and the connector are killed."""
    own = Postgres(postgres.binaries, tmp_path / "data", free_port())
    for parent in tmp_path.parents:
        if parent.name.startswith("pytest-"):
            parent.chmod(0o711)
    tmp_path.chmod(0o711)
    own.create()
    own.start()
    own.sql("CREATE DATABASE faults")
    standin = StandIn(own, "faults", tmp_path, ["--tls-cert", str(certificate)])
    standin.start()
    try:
        _run_faults(own, standin, cluster)
    finally:
        standin.stop()
        own.stop()


def prepare_fault_database(sql: Sql) -> None:
    """A database `f` with a captured table for the writers."""
    for text in (
        "CREATE DATABASE f", "USE f", "CREATE SCHEMA crm",
        "CREATE TABLE crm.[user] (userid int PRIMARY KEY, username char(8), city varchar(30), "
        "note nvarchar(max), spent decimal(8,2), like1 bit)",
        "CREATE TABLE crm.signal (id varchar(42) PRIMARY KEY, type varchar(32), data varchar(99))",
        "INSERT INTO crm.[user] (userid) SELECT value FROM GENERATE_SERIES(1, 500) AS g(value)",
        "EXEC sys.sp_cdc_enable_db",
        "EXEC sys.sp_cdc_enable_table N'crm', N'user', @role_name = NULL",
    ):  # fmt: skip
        sql(text)


def _run_faults(own: Postgres, standin: StandIn, cluster: Cluster) -> None:
    sql = Sql(standin.connect())
    prepare_fault_database(sql)
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    finished = threading.Event()
    writers = [threading.Thread(target=write, args=(standin, seed + n, finished)) for n in range(3)]
    watch = Watch(sql, standin, cluster)
    with contextlib.closing(watch):
        for writer in writers:
            writer.start()
        wait_for_events(watch, 100)
        standin.stop(signal.SIGKILL)
        standin.start()
        wait_for_events(watch, 100)
        own.stop(signal.SIGKILL)
        own.start()
        wait_for_events(watch, 100)
        cluster.restart(watch.name)
        wait_for_events(watch, 100)
        finished.set()
        for writer in writers:
            writer.join()
        watch.source = Sql(standin.connect("f"))
        watch.wait()


def wait_for_events(watch: Watch, more: int) -> None:
    """Wait for so many streamed events, restarting a failed task as an operator would."""
    wanted = len(watch.topic.operations) + more

    def arrived() -> bool:
        if watch.cluster.state(watch.name).startswith("FAILED"):
            watch.cluster.restart(watch.name)
        watch.topic.read()
        return len(watch.topic.operations) >= wanted

    eventually(arrived, f"{more} more events", _SECONDS)


def write(standin: StandIn, seed: int, finished: threading.Event) -> None:
    import pymssql

    chance = random.Random(seed)
    run: Sql | None = None
    while not finished.is_set():
        key, city = chance.randrange(1, 1000), chance.randrange(10**6)
        change = chance.choice(
            [
                f"UPDATE crm.[user] SET city = 'c{city}', like1 = {city % 2} WHERE userid = {key}",
                f"DELETE FROM crm.[user] WHERE userid = {key}",
                f"IF NOT EXISTS (SELECT 1 FROM crm.[user] WHERE userid = {key}) "
                f"INSERT INTO crm.[user] (userid, note) VALUES ({key}, N'ł{city}')",
            ]
        )
        end = "COMMIT" if chance.random() < 0.9 else "ROLLBACK"
        try:
            run = run or Sql(standin.connect("f"))
            run(f"BEGIN TRAN {change} {end}")
        except pymssql.Error:
            run = None
            time.sleep(0.2)
