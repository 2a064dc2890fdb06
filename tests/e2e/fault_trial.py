"""A trial by faults: a numbered load that goes on, and nothing of it lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

import pytest

from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.connector_states import is_running, source_files
from labctl.lab.lab import Lab
from labctl.lab.observe.service_status import ServiceStatus, read_status
from labctl.lake import Lake
from labctl.testing.eventually import Eventually
from labctl.testing.lab_faults import Faults
from tests.e2e.bronze_check import check_bronze
from tests.e2e.numbered_load import TARGETS, Load, Target

__all__ = ["RECOVERY_SECONDS", "Trial", "Verify"]

Verify = Callable[..., None]
ROWS = 50
"""Rows that each database takes before a fault, and again after it."""
RECOVERY_SECONDS = 300.0
WAITING = {
    "postgres": ("event", "user"),  # the stand-in for SQL Server keeps its data in PostgreSQL
    "mysql": ("sale",),
    "sqlserver": ("user",),
}
"""Silver tables whose source cannot be written to while a service is away."""


@dataclass(frozen=True)
class Trial:
    """A lab under a write load, and what may happen to it."""

    lab: Lab
    faults: Faults
    load: Load
    ends: Mapping[str, Mapping[int, int]]
    """By topic and partition, where it ended before the load began."""
    lake: Lake
    verify_equal: Verify
    eventually: Eventually

    def begin(self) -> None:
        """Wait until the load is well under way."""
        self._wait_written({}, but=(), seconds=RECOVERY_SECONDS)

    def go_on(self, *, but: Collection[str] = (), seconds: float = RECOVERY_SECONDS) -> None:
        """Wait until every database takes rows again, but those of the silver tables `but`."""
        self._wait_written(dict(self.load.committed), but=but, seconds=seconds)

    def skip_without(self, service: str) -> None:
        """Skip the test in a lab that `--lab` names and that does not have the service."""
        if all(one.name != service for one in self.lab.services):
            pytest.skip(f"the lab has no {service}")

    def status(self, service: str) -> ServiceStatus:
        return next(s for s in read_status(self.lab).services if s.name == service)

    def wait_for_connectors(self) -> None:
        """Wait until every source connector runs."""
        client = connect_client(self.lab.endpoints.connect)
        names = [file.name for file in source_files(self.lab)]
        self.eventually(
            lambda: all(is_running(client.status(name)) for name in names),
            seconds=RECOVERY_SECONDS,
        )

    def interrupt(self, name: str, fault: AbstractContextManager[None]) -> None:
        """Have a fault for as long as the databases it leaves alone take to write on.

        Afterwards all of them are written to again.
        """
        with fault:
            self.go_on(but=WAITING.get(name, ()))
        self.wait_for_connectors()
        self.go_on()

    def last_numbers(self) -> dict[Target, int]:
        """The row that each source committed last."""
        return {target: self.load.numbers(target)[-1] for target in TARGETS}

    def arrived(self, target: Target, number: int) -> bool:
        """Return whether silver has the row of that number."""
        query = f'SELECT 1 FROM "{target.silver}" WHERE {target.key} = {number}'
        return bool(self.lake.query(query).num_rows)

    def arrival(self, *, seconds: float = RECOVERY_SECONDS) -> float:
        """Seconds until silver has what each source has committed by now."""
        begun = time.monotonic()
        for target, number in self.last_numbers().items():
            self.eventually(
                partial(self.arrived, target, number),
                seconds=seconds,
                row=(target.silver, {target.key: number}),
            )
        return time.monotonic() - begun

    def end(self) -> None:
        """Stop the load. All it committed must be in silver as in the source, and in bronze."""
        self.load.stop()
        for target in TARGETS:
            last = {target.key: self.load.numbers(target)[-1]}
            self.eventually(
                partial(self._is_complete, target),
                seconds=RECOVERY_SECONDS,
                row=(target.silver, last),
            )
        self.verify_equal(*(target.silver for target in TARGETS))
        self.eventually(self._is_in_bronze, seconds=RECOVERY_SECONDS)

    def _wait_written(
        self, so_far: Mapping[str, int], *, but: Collection[str], seconds: float
    ) -> None:
        def written() -> bool:
            return all(
                count >= so_far.get(table, 0) + ROWS
                for table, count in self.load.committed.items()
                if table not in but
            )

        self.eventually(written, seconds=seconds)

    def _is_complete(self, target: Target) -> bool:
        numbers = self.load.numbers(target)
        rows = self.lake.query(
            f'SELECT {target.key} FROM "{target.silver}" '
            f"WHERE {target.key} >= {numbers.start} AND {target.key} < {numbers.stop}"
        )
        lost = sorted({*numbers} - {int(str(row)) for row in rows.column(0).to_pylist()})
        assert not lost, f"{len(lost)} rows of {target.table} are missing, first {lost[:5]}"
        return True

    def _is_in_bronze(self) -> bool:
        for topic, since in self.ends.items():
            check_bronze(self.lab.endpoints, topic, dict(since))
        return True
