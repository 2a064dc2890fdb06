"""The command that generates tables: its report is right, and the lab is as before afterwards."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from labctl.config.kafka_clients import client_settings
from labctl.conformance.conformance_report import ConformanceReport
from labctl.errors import ExitCode
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import silver_status
from labctl.lake.objectstore import s3_client
from labctl.sources import connect, connect_server
from labctl.testing.eventually import Eventually

Labctl = Callable[..., "subprocess.CompletedProcess[str]"]
Verify = Callable[..., None]
OWN = "conformance"
RUN_SECONDS = 1800.0
ENGINES = ["postgres", "mysql", "sqlserver"]
DATABASES = {
    "postgres": "SELECT datname FROM pg_database",
    "mysql": "SELECT schema_name FROM information_schema.schemata",
    "sqlserver": "SELECT name FROM sys.databases",
}
SLOTS = "SELECT slot_name FROM pg_replication_slots"
_SCHEMAS = "schemas/"
"""The registry deletes none, so neither does the lake."""


@dataclass(frozen=True)
class LabFacts:
    """What of a lab a run could change, and leave so."""

    project: str
    files: dict[str, str]
    connectors: dict[str, dict[str, str]]
    topics: frozenset[str]
    databases: dict[str, frozenset[str]]
    slots: frozenset[str]
    tables: frozenset[str]
    own: frozenset[str]
    """Names below the lab's folder, and in the lake, that have the run's own name in them."""


def facts_of(lab: Lab) -> LabFacts:
    endpoints = lab.endpoints
    databases = {}
    for engine, statement in DATABASES.items():
        opened = (
            connect(endpoints, engine) if engine == "mysql" else connect_server(endpoints, engine)
        )
        with opened as server:
            databases[engine] = frozenset(str(name) for (name,) in server.execute(statement))
    with connect_server(endpoints, "postgres") as server:
        slots = frozenset(str(name) for (name,) in server.execute(SLOTS))
    topics = AdminClient(client_settings(endpoints.kafka)).list_topics(timeout=30).topics
    return LabFacts(
        project=str(lab.state.load()["project"]),
        files={
            str(path.relative_to(lab.project)): sha256(path.read_bytes()).hexdigest()
            for path in lab.project.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        },
        connectors=connect_client(endpoints.connect).configs(),
        topics=frozenset(topics),
        databases=databases,
        slots=slots,
        tables=frozenset(silver_status(lab)["tables"]),
        own=frozenset(_own_names(lab)),
    )


def _own_names(lab: Lab) -> Iterator[str]:
    store = lab.endpoints.objectstore
    pages = s3_client(store).get_paginator("list_objects_v2").paginate(Bucket=store.bucket)
    for page in pages:
        for entry in page.get("Contents", []):
            if OWN in entry["Key"] and not entry["Key"].startswith(_SCHEMAS):
                yield entry["Key"]
    for name in ("silver", "connect"):
        folder = lab.state.data(name)
        yield from (str(path) for path in folder.rglob(f"*{OWN}*"))
    yield from (str(path) for path in lab.state.secrets.rglob(f"*{OWN}*"))


@pytest.fixture
def unchanged(lab: Lab, verify_equal: Verify) -> Iterator[None]:
    """The lab and its own tables are afterwards as they were."""
    before = facts_of(lab)
    yield
    assert facts_of(lab) == before
    verify_equal()


def report_of(done: subprocess.CompletedProcess[str], file: Path) -> ConformanceReport:
    assert done.returncode == ExitCode.OK, f"{done.stdout}\n{done.stderr}"
    report = ConformanceReport.load(file)
    assert report.failures == ()
    assert list(report.engines) == ENGINES
    return report


@pytest.mark.usefixtures("unchanged")
def test_sixty_tables_are_equal_or_named(lab: Lab, labctl: Labctl, tmp_path: Path) -> None:
    _run_sixty(lab, labctl, tmp_path / "report.json", first=0)


@pytest.mark.soak
@pytest.mark.usefixtures("unchanged")
def test_sixty_tables_at_random_are_equal_or_named(
    lab: Lab, labctl: Labctl, tmp_path: Path
) -> None:
    start = random.randrange(2**31)  # noqa: S311 - not a secret
    print(f"first random seed {start}")
    _run_sixty(lab, labctl, tmp_path / "report.json", first=start)


def _run_sixty(lab: Lab, labctl: Labctl, file: Path, first: int) -> None:
    arguments = ("--start", str(first), "--seeds", "60", "--json", str(file))
    done = labctl("test", "conformance", "--lab", lab.name, *arguments, seconds=RUN_SECONDS)
    report = report_of(done, file)
    assert (report.first_seed, report.tables) == (first, 60)
    counted = [sum(counts.model_dump().values()) for counts in report.engines.values()]
    assert counted == [20, 20, 20]
    assert sum(counts.equal + counts.uncompared for counts in report.engines.values()) > 40


@pytest.mark.long
@pytest.mark.usefixtures("unchanged")
def test_tables_are_equal_or_named_though_services_are_killed(
    lab: Lab, labctl: Labctl, tmp_path: Path
) -> None:
    file = tmp_path / "report.json"
    arguments = ("--start", "5", "--seeds", "6", "--shrink", "0", "--faults", "--json", str(file))
    deaths = lab.state.count_deaths()
    done = labctl("test", "conformance", "--lab", lab.name, *arguments, seconds=RUN_SECONDS)
    report = report_of(done, file)
    assert (report.tables, report.faults) == (6, True)
    assert lab.state.count_deaths() > deaths


@pytest.mark.long
@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("number", "place"),
    [
        (signal.SIGINT, "the databases are made"),
        (signal.SIGTERM, "the connectors run"),
        (signal.SIGINT, "silver has a table"),
    ],
)
def test_an_interrupted_run_removes_what_it_made(
    lab: Lab, lab_project: Path, number: signal.Signals, place: str, eventually: Eventually
) -> None:
    command = [
        sys.executable,
        "-m",
        "labctl",
        "test",
        "conformance",
        "--lab",
        lab.name,
        "--seeds",
        "30",
    ]
    run = subprocess.Popen(command, cwd=lab_project, stderr=subprocess.PIPE, text=True)
    try:
        eventually(lambda: _has_come(lab, place), seconds=RUN_SECONDS)
        assert run.poll() is None
        run.send_signal(number)
        # Impatience changes nothing.
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=RUN_SECONDS)
    finally:
        run.kill()
    assert run.returncode == 130, said


def _has_come(lab: Lab, place: str) -> bool:
    if place == "the databases are made":
        with connect_server(lab.endpoints, "postgres") as server:
            return (OWN,) in server.execute(DATABASES["postgres"])
    if place == "the connectors run":
        statuses = connect_client(lab.endpoints.connect).statuses()
        return any(OWN in name for name in statuses)
    store = lab.endpoints.objectstore
    listed = s3_client(store).list_objects_v2(Bucket=store.bucket, Prefix=f"silver/{OWN}/")
    return bool(listed.get("Contents"))
