"""Measuring how soon changes flow again after a database was killed.

`python -m labctl.latency.recovery FILE` needs a running, seeded lab with the three databases,
Kafka, the registry and Connect. It writes to FILE (JSON), for each database, the seconds from its
first commit after the kill until that change was in its topic.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from labctl.datasets import TextColumn
from labctl.errors import LabError
from labctl.json_text import to_json
from labctl.kafka.topic_records import Topics
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.seeding import lab_data_sets
from labctl.lab.observe.service_status import service_versions
from labctl.latency.environment import Environment, describe
from labctl.services.state_database import STATE_SERVICE
from labctl.sources import ENGINES, TableRef, connect

__all__ = ["Recovery", "RecoveryFigures", "measure_recovery"]

ROUNDS = 2
ARRIVAL_SECONDS = 180.0
PAUSE = 0.05


@dataclass(frozen=True)
class Recovery:
    """A database killed with `kill -9`. Seconds."""

    killed: str
    followed: str
    """Source whose change was followed: PostgreSQL holds the data of SQL Server's stand-in."""
    away: float
    """Time from the kill until a change was committed."""
    until_in_topic: float
    """Time from that commit until the change was in its topic."""


@dataclass(frozen=True)
class RecoveryFigures:
    environment: Environment
    recoveries: list[Recovery]
    slowest: float


def measure_recovery(lab: Lab) -> RecoveryFigures:
    """Kill each database in turn, `ROUNDS` times, and follow a change after each."""
    load = os.getloadavg()
    versions = service_versions(lab)
    columns = {
        engine: column
        for one in lab_data_sets(lab)
        for engine, column in one.text_columns.items()
        if lab.config.sources_of(engine)
    }
    pairs = [(str(engine), column) for engine, column in columns.items()]
    # The server that holds the state of others: of a stand-in, too.
    needs = {engine: ENGINES[engine].service().depends_on for engine in columns}
    pairs += [(STATE_SERVICE, columns[name]) for name, on in needs.items() if STATE_SERVICE in on]
    # Use one reader, which keeps schemas: the registry's own database is killed, too.
    topics = Topics(lab.endpoints.kafka, lab.endpoints.registry)
    found = [
        _recover(lab, topics, service, column) for _ in range(ROUNDS) for service, column in pairs
    ]
    slowest = max(one.until_in_topic for one in found)
    return RecoveryFigures(describe(lab.project, versions, load), found, slowest)


def _recover(lab: Lab, topics: Topics, service: str, column: TextColumn) -> Recovery:
    mark = secrets.token_hex(2)
    _change(lab, column, f"{mark}b")
    _await(lab, topics, column, f"{mark}b")  # streams before the kill
    lab.runtime.faults.kill(service)
    killed = time.monotonic()
    mark = f"{mark}a"
    while True:
        try:
            _change(lab, column, mark)
            break
        except LabError:
            if time.monotonic() - killed > ARRIVAL_SECONDS:
                raise
            time.sleep(PAUSE)
    committed = time.monotonic()
    _await(lab, topics, column, mark)
    arrived = time.monotonic()
    one = Recovery(
        service,
        lab.table_of(column.table).engine,
        round(committed - killed, 2),
        round(arrived - committed, 2),
    )
    print(one, flush=True)
    return one


def _change(lab: Lab, column: TextColumn, mark: str) -> None:
    table = lab.table_of(column.table)
    with connect(lab.endpoints, table.source) as source:
        place = source.qualified(TableRef(table.db_schema, table.source_name))
        statement = (
            f"UPDATE {place} SET {source.quote(column.column)} = %s"  # noqa: S608
            f" WHERE {source.quote(column.key)} = %s"
        )
        if not source.affect(statement, (mark, column.value)):
            raise LabError(f"{column.table} has no row to change", hint="labctl seed")


def _await(lab: Lab, topics: Topics, column: TextColumn, mark: str) -> None:
    deadline = time.monotonic() + ARRIVAL_SECONDS
    topic = lab.table_of(column.table).topic
    while not _has(topics, topic, column.column, mark):
        if time.monotonic() > deadline:
            raise LabError(f"A change of {column.table} is not in its topic", hint="labctl status")
        time.sleep(PAUSE)


def _has(topics: Topics, topic: str, column: str, mark: str) -> bool:
    try:
        return any((record.value or {}).get(column) == mark for record in topics.tail(topic))
    except LabError:
        # The registry may be without its database for a moment.
        return False


if __name__ == "__main__":
    figures = measure_recovery(Lab.find())
    Path(sys.argv[1]).write_text(to_json(figures) + "\n", encoding="utf-8")
