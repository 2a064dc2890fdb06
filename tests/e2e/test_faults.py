"""Services are killed in the middle of a write load: all come back, no row is lost."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator, Mapping
from itertools import count

import psutil
import pytest

from labctl.kafkaconnect.client import ConnectClient
from labctl.lab.connectors import is_running, source_files
from labctl.lab.lab import Lab
from labctl.lab.status import ServiceStatus, read_status
from labctl.lab.up import up
from labctl.lake import Lake
from labctl.runtimes.native.supervisor import LAB_MARK
from labctl.services import SERVICES
from labctl.testing.eventually import Eventually
from labctl.testing.reporter import TerminalReporter
from tests.e2e.bronze_check import check_bronze, end_offsets
from tests.e2e.numbered_load import TARGETS, Load, Target, writing

Verify = Callable[..., None]
NewLoad = Callable[[], int]
Ends = dict[str, dict[int, int]]
ROWS_BEFORE = 100
"""Rows that each database takes before the fault, and again after it."""
RECOVERY_SECONDS = 120.0


@pytest.fixture(scope="module")
def first_number() -> Callable[[], int]:
    """Where a load begins to number its rows: a million apart."""
    numbers = count(10_000_000, 1_000_000)
    return lambda: next(numbers)


@pytest.fixture
def ends(lab: Lab) -> Ends:
    """Where the topics of the load's tables end before it begins."""
    topics = [lab.table(target.silver).topic for target in TARGETS]
    return {topic: end_offsets(lab.endpoints, topic) for topic in topics}


@pytest.fixture
def load(lab: Lab, first_number: NewLoad) -> Iterator[Load]:
    """A write load on all databases, well under way."""
    seed = random.randrange(2**32)  # noqa: S311 - not a secret
    with writing(lab.endpoints, first=first_number(), seed=seed) as running:
        yield running


def status_of(lab: Lab, name: str) -> ServiceStatus:
    return next(s for s in read_status(lab).services if s.name == name)


def written(load: Load, more_than: Mapping[str, int] | None = None) -> bool:
    """Whether every writer has committed `ROWS_BEFORE` rows (more than it had)."""
    before = more_than or {}
    return all(n >= before.get(t, 0) + ROWS_BEFORE for t, n in load.committed.items())


def connectors_run(lab: Lab) -> bool:
    client = ConnectClient(lab.endpoints.connect.url)
    return all(is_running(client.status(file.name)) for file in source_files(lab))


def missing(lake: Lake, load: Load, target: Target) -> list[int]:
    """Committed rows that silver does not have."""
    numbers = load.numbers(target)
    rows = lake.query(
        f'SELECT {target.key} FROM "{target.silver}" '
        f"WHERE {target.key} >= {numbers.start} AND {target.key} < {numbers.stop}"
    )
    return sorted({*numbers} - {int(str(row)) for row in rows.column(0).to_pylist()})


def check_nothing_lost(
    lab: Lab, lake: Lake, load: Load, ends: Ends, verify_equal: Verify, eventually: Eventually
) -> None:
    """All that was committed is in silver as it is in the source, and in bronze once."""
    for target in TARGETS:

        def complete(target: Target = target) -> bool:
            lost = missing(lake, load, target)
            assert not lost, f"{len(lost)} rows of {target.table} are missing, first {lost[:5]}"
            return True

        last = {target.key: load.numbers(target)[-1]}
        eventually(complete, seconds=RECOVERY_SECONDS, row=(target.silver, last))
    verify_equal(*(target.silver for target in TARGETS))

    def in_bronze() -> bool:
        for topic, since in ends.items():
            check_bronze(lab.endpoints, topic, since)
        return True

    eventually(in_bronze, seconds=RECOVERY_SECONDS)


@pytest.mark.parametrize("name", [service.name for service in SERVICES])
def test_a_killed_service_comes_back_and_no_row_is_lost(
    name: str,
    lab: Lab,
    ends: Ends,
    load: Load,
    lake: Lake,
    verify_equal: Verify,
    eventually: Eventually,
) -> None:
    eventually(lambda: written(load))
    before = status_of(lab, name)
    assert before.pid is not None
    os.kill(before.pid, signal.SIGKILL)

    def back() -> ServiceStatus | None:
        now = status_of(lab, name)
        assert now.state == "ready", now
        assert now.restarts > before.restarts, now
        return now if now.pid != before.pid else None

    after = eventually(back, seconds=RECOVERY_SECONDS)
    assert after is not None
    assert (after.last_death_at or 0) > (before.last_death_at or 0)
    so_far = dict(load.committed)
    eventually(lambda: written(load, more_than=so_far), seconds=RECOVERY_SECONDS)
    load.stop()
    check_nothing_lost(lab, lake, load, ends, verify_equal, eventually)


def test_everything_is_killed_at_once(
    lab: Lab,
    ends: Ends,
    load: Load,
    lake: Lake,
    verify_equal: Verify,
    eventually: Eventually,
    request: pytest.FixtureRequest,
) -> None:
    eventually(lambda: written(load))
    killed = processes_of(lab)
    for process in killed:
        process.kill()
    psutil.wait_procs(killed, timeout=RECOVERY_SECONDS)
    assert not lab.running
    up(lab, TerminalReporter(request.config))
    assert read_status(lab).ready
    eventually(lambda: connectors_run(lab), seconds=RECOVERY_SECONDS)
    so_far = dict(load.committed)
    eventually(lambda: written(load, more_than=so_far), seconds=RECOVERY_SECONDS)
    load.stop()
    check_nothing_lost(lab, lake, load, ends, verify_equal, eventually)


def processes_of(lab: Lab) -> list[psutil.Process]:
    """Every process of the lab, its supervisor first: nobody restarts the others then."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(LAB_MARK) == str(lab.state.folder):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return sorted(found, key=lambda process: process.create_time())
