"""What a test of faults watches: a numbered load that goes on, and nothing of it lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from labctl.kafkaconnect.client import ConnectClient
from labctl.lab.connectors import is_running, source_files
from labctl.lab.lab import Lab
from labctl.lab.status import ServiceStatus, read_status
from labctl.lake import Lake
from labctl.testing.eventually import Eventually
from tests.e2e.bronze_check import check_bronze
from tests.e2e.numbered_load import TARGETS, Load, Target

__all__ = [
    "RECOVERY_SECONDS",
    "Ends",
    "Verify",
    "check_nothing_lost",
    "connectors_run",
    "status_of",
    "written",
]

Verify = Callable[..., None]
Ends = dict[str, dict[int, int]]
"""By topic and partition, where it ended before the load began."""
ROWS_BEFORE = 100
"""Rows that each database takes before the fault, and again after it."""
RECOVERY_SECONDS = 120.0


def status_of(lab: Lab, name: str) -> ServiceStatus:
    return next(s for s in read_status(lab).services if s.name == name)


def written(
    load: Load, more_than: Mapping[str, int] | None = None, but: Collection[str] = ()
) -> bool:
    """Whether every writer has committed `ROWS_BEFORE` rows (more than it had).

    Those whose silver tables are in `but` need not.
    """
    before = more_than or {}
    return all(
        n >= before.get(t, 0) + ROWS_BEFORE for t, n in load.committed.items() if t not in but
    )


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
