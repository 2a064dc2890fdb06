# ruff: noqa: S311 - chance, not secrets
"""Benchmarks of the stand-in: `python -m tests.integration.sqlserver.bench [seconds of faults]`.

Prints one JSON object, kept as docs/benchmarks/sqlserver-stand-in.json.
"""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from labctl.artifacts import ArtifactStore
from labctl.config.lab_config import find_project
from labctl.latency.environment import describe
from tests.integration.sqlserver import test_debezium as debezium
from tests.integration.sqlserver.conftest import (
    Postgres,
    Sql,
    StandIn,
    eventually,
    postgres_binaries,
)
from tests.integration.sqlserver.kafka import Cluster
from tests.ports import free_port

_USERS = 49_990
_CHANGES = 60
_IDLE_SECONDS = 10.0
_CONNECTIONS = 200
_FURTHER_SNAPSHOTS = 4


def main() -> None:
    """Run everything and print the figures."""
    load = os.getloadavg()
    store = ArtifactStore()
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o711)
    postgres = Postgres(postgres_binaries(), folder / "data", free_port())
    cluster = Cluster(
        store.java(), store.path("kafka"), store.path("debezium-sqlserver"), folder / "kafka",
        is_short_lived=False,
    )  # fmt: skip
    cluster.folder.mkdir()
    standin = StandIn(postgres, "bench", folder)
    try:
        postgres.create()
        postgres.start()
        postgres.sql("CREATE DATABASE bench")
        standin.start()
        cluster.start()
        print(json.dumps(_measure(postgres, standin, cluster, load), indent=2))
    finally:
        cluster.stop()
        standin.stop()
        postgres.stop()


def _measure(
    postgres: Postgres, standin: StandIn, cluster: Cluster, load: tuple[float, float, float]
) -> dict[str, Any]:
    sql = Sql(standin.connect())
    _tables(sql, postgres)
    process = psutil.Process(standin.process.pid if standin.process else 0)
    versions = {"sqlserver": sql("SELECT @@VERSION")[0][0].splitlines()[0]}
    project = find_project(Path(__file__))
    found: dict[str, Any] = {"environment": asdict(describe(project, versions, load))}

    begin = time.monotonic()
    rows = len(sql("SELECT * FROM crm.[user]"))
    found["select_rows_per_s"] = round(rows / (time.monotonic() - begin))

    before = sum(process.cpu_times()[:2])
    watch = debezium.Watch(sql, standin, cluster, **{"driver.encrypt": "false"})
    eventually(lambda: _read(watch) >= _USERS, "snapshot in Kafka", 180)
    found["snapshot_rows"] = _USERS
    found["snapshot_standin_cpu_s"] = round(sum(process.cpu_times()[:2]) - before, 2)
    for _ in range(_FURTHER_SNAPSHOTS):
        again = debezium.Watch(sql, standin, cluster, **{"driver.encrypt": "false"})
        eventually(partial(_has_all, again), "snapshot in Kafka", 180)
        again.close()
    # The first by a worker that has just started, the others by a warm one.
    found["snapshots_rows_per_s"] = [
        round(_USERS / _seconds(line.split("total duration")[-1].strip(" '\n")))
        for line in (cluster.folder / "connect.log").read_text().splitlines()
        if "Finished exporting" in line and str(_USERS) in line
    ]
    found["commit_to_kafka_ms"] = _latency(sql, watch)

    before = sum(process.cpu_times()[:2])
    time.sleep(_IDLE_SECONDS)
    busy = sum(process.cpu_times()[:2]) - before
    found["streaming_idle_cpu_percent"] = round(100 * busy / _IDLE_SECONDS, 2)
    found["memory_mb"] = round(process.memory_info().rss / 1e6)

    connections = [standin.connect("bench") for _ in range(_CONNECTIONS)]
    found["connections"] = sum(Sql(c)("SELECT 1") == [(1,)] for c in connections)
    found["memory_mb_with_connections"] = round(process.memory_info().rss / 1e6)
    for connection in connections:
        connection.close()
    watch.close()
    if len(sys.argv) > 1:
        found["faults"] = _faults(postgres, standin, cluster, float(sys.argv[1]))
    return found


def _has_all(watch: debezium.Watch) -> bool:
    return _read(watch) >= _USERS


def _seconds(duration: str) -> float:
    """Of `hours:minutes:seconds`."""
    hours, minutes, seconds = map(float, duration.split(":"))
    return (hours * 60 + minutes) * 60 + seconds


def _tables(sql: Sql, postgres: Postgres) -> None:
    flags = ", ".join(f"like{n} bit" for n in range(10))
    for text in (
        "CREATE DATABASE bench", "USE bench", "CREATE SCHEMA crm",
        "CREATE TABLE crm.[user] (userid int PRIMARY KEY, username char(8), city varchar(30), "
        f"note nvarchar(100), email varchar(100), phone char(14), spent decimal(8,2), {flags})",
        "CREATE TABLE crm.signal (id varchar(42) PRIMARY KEY, type varchar(32), data varchar(99))",
        "INSERT INTO crm.[user] (userid, username, city, note, email, phone, like0, like1, like2) "
        "SELECT value, CONCAT('u', value), 'Springfield', N'Łódź', CONCAT(value, '@example.com'), "
        f"'(555) 555-1234', 1, 0, 1 FROM GENERATE_SERIES(1, {_USERS}) AS g(value)",
        "EXEC sys.sp_cdc_enable_db",
        "EXEC sys.sp_cdc_enable_table N'crm', N'user', @role_name = NULL",
    ):  # fmt: skip
        sql(text)


def _read(watch: debezium.Watch) -> int:
    watch.topic.read()
    return len(watch.topic.operations)


def _latency(sql: Sql, watch: debezium.Watch) -> dict[str, float]:
    """From the commit's return to the event being read from Kafka."""
    taken = []
    for number in range(_CHANGES):
        sql(f"UPDATE crm.[user] SET city = 'c{number}' WHERE userid = 1")
        begin = time.monotonic()
        while watch.topic.rows[1]["city"] != f"c{number}":
            watch.topic.read(0.005)
        taken.append(1000 * (time.monotonic() - begin))
        time.sleep(random.uniform(0.05, 0.2))
    return {
        "p50": round(statistics.median(taken), 1),
        "p95": round(statistics.quantiles(taken, n=20)[-1], 1),
    }


def _faults(
    postgres: Postgres, standin: StandIn, cluster: Cluster, seconds: float
) -> dict[str, Any]:
    """Concurrent writers with kills all along; does the topic amount to the table?"""
    sql = Sql(standin.connect())
    debezium.prepare_fault_database(sql)
    seed = random.randrange(2**32)
    finished = threading.Event()
    writers = [
        threading.Thread(target=debezium.write, args=(standin, seed + n, finished))
        for n in range(4)
    ]
    watch = debezium.Watch(sql, standin, cluster, **{"driver.encrypt": "false"})
    for writer in writers:
        writer.start()
    kills = {"standin": 0, "postgres": 0, "connector": 0}
    chance, end = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < end:
        debezium.wait_for_events(watch, chance.randrange(50, 400))
        victim = chance.choice(sorted(kills))
        if victim == "standin":
            standin.stop(signal.SIGKILL)
            standin.start()
        elif victim == "postgres":
            postgres.stop(signal.SIGKILL)
            postgres.start()
        else:
            cluster.restart(watch.name)
        kills[victim] += 1
    finished.set()
    for writer in writers:
        writer.join()
    watch.source = Sql(standin.connect("f"))
    watch.wait()
    events = len(watch.topic.operations)
    watch.close()
    return {"seed": seed, "seconds": seconds, "kills": kills, "events": events, "equal": True}


if __name__ == "__main__":
    main()
