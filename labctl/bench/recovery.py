"""How soon changes flow again after a database was killed: `python -m labctl.bench.recovery FILE`.

Wants a running lab with the three databases, Kafka, the registry and Connect, seeded; notes in FILE
(JSON), for each database, the seconds from the moment it took a change again until that change was
in its topic.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from labctl.bench.environment import Environment, describe
from labctl.cli.output import to_json
from labctl.config.model import SourceEngine
from labctl.errors import LabError
from labctl.lab.lab import Lab
from labctl.lab.status import service_versions
from labctl.lake.topics import Topics
from labctl.sources import connect

__all__ = ["Recovery", "RecoveryFigures", "measure_recovery"]

ROUNDS = 2
ARRIVAL_SECONDS = 180.0
PAUSE = 0.05
CHANGES: dict[SourceEngine, tuple[str, str, str]] = {
    "postgres": ("UPDATE ems.category SET catdesc = %s WHERE catid = 1", "category", "catdesc"),
    "mysql": ("UPDATE ecomm.date SET qtr = %s WHERE dateid = 1827", "date", "qtr"),
    "sqlserver": ("UPDATE crm.[user] SET city = %s WHERE userid = 1", "user", "city"),
}
"""By engine: a change, its table, and the column that it writes."""


@dataclass(frozen=True)
class Recovery:
    """One database killed with `kill -9`. Seconds."""

    killed: str
    followed: str
    """The source whose change was followed: PostgreSQL keeps the data of SQL Server's stand-in."""
    away: float
    """From the kill until a change was committed."""
    until_in_topic: float
    """From that commit until the change was in its topic."""


@dataclass(frozen=True)
class RecoveryFigures:
    environment: Environment
    recoveries: list[Recovery]
    slowest: float


def measure_recovery(lab: Lab) -> RecoveryFigures:
    """Kill each database in turn, `ROUNDS` times, and follow a change after each."""
    load = os.getloadavg()
    versions = service_versions(lab)
    pairs: list[tuple[str, SourceEngine]] = [
        ("mysql", "mysql"),
        ("sqlserver", "sqlserver"),
        ("postgres", "postgres"),
        ("postgres", "sqlserver"),
    ]
    # One reader: schemas that it has seen it need not ask the registry for, whose store is killed.
    topics = Topics(lab.endpoints.kafka, lab.endpoints.registry)
    found = [
        _recover(lab, topics, service, engine) for _ in range(ROUNDS) for service, engine in pairs
    ]
    slowest = max(one.until_in_topic for one in found)
    return RecoveryFigures(describe(lab.project, versions, load), found, slowest)


def _recover(lab: Lab, topics: Topics, service: str, engine: SourceEngine) -> Recovery:
    mark = secrets.token_hex(2)
    _change(lab, engine, f"{mark}b")
    _await(lab, topics, engine, f"{mark}b")  # streams before the kill
    lab.runtime.kill(service)
    killed = time.monotonic()
    mark = f"{mark}a"
    while True:
        try:
            _change(lab, engine, mark)
            break
        except LabError:
            if time.monotonic() - killed > ARRIVAL_SECONDS:
                raise
            time.sleep(PAUSE)
    committed = time.monotonic()
    _await(lab, topics, engine, mark)
    arrived = time.monotonic()
    one = Recovery(service, engine, round(committed - killed, 2), round(arrived - committed, 2))
    print(one, flush=True)
    return one


def _change(lab: Lab, engine: SourceEngine, mark: str) -> None:
    statement, _, _ = CHANGES[engine]
    with connect(lab.endpoints, engine) as source:
        if not source.affect(statement, (mark,)):
            raise LabError(f"{engine} has no row to change", hint="labctl seed")


def _await(lab: Lab, topics: Topics, engine: SourceEngine, mark: str) -> None:
    _, table, column = CHANGES[engine]
    deadline = time.monotonic() + ARRIVAL_SECONDS
    topic = lab.table(table).topic
    while not _has(topics, topic, column, mark):
        if time.monotonic() > deadline:
            raise LabError(f"A change of {engine} is not in its topic", hint="labctl status")
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
