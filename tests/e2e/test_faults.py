"""Services are killed in the middle of a write load: all come back, no row is lost."""

from __future__ import annotations

import time

import pytest

from labctl.lab.pipeline import read_pipeline
from labctl.lab.status import ServiceStatus, read_status
from labctl.lab.up import up
from labctl.runtimes.native.runtime import NativeRuntime
from labctl.testing.reporter import TerminalReporter
from tests.e2e.fault_trial import RECOVERY_SECONDS, Trial

PIPELINE = ("kafka", "connect", "silver")
"""What every change goes through. `test_soak.py` kills some of the others, at random."""


@pytest.mark.parametrize("which", ["pipeline", pytest.param("all", marks=pytest.mark.soak)])
def test_killed_services_come_back_and_no_row_is_lost(which: str, trial: Trial) -> None:
    """One after the other, each once the one before is back and every database takes rows."""
    trial.begin()
    services = [service.name for service in trial.lab.services]
    for name in services if which == "all" else PIPELINE:
        begun = time.monotonic()
        _kill(trial, name)
        trial.go_on()
        print(f"{name}: all goes on {time.monotonic() - begun:.1f} s after its death")
    trial.end()
    # Those that took nothing in meanwhile know it from their timelines.
    assert all(table.last_commit_at for table in read_pipeline(trial.lab).tables)


def _kill(trial: Trial, name: str) -> None:
    """Kill a service, and wait until it has come back by itself."""

    def ready() -> ServiceStatus:
        now = trial.status(name)
        assert now.state == "ready", now
        return now

    # It may not have got over the death of another one yet.
    before = trial.eventually(ready, seconds=RECOVERY_SECONDS)
    print(f"{name} is killed with rows {sorted(trial.last_numbers().values())} committed")
    trial.faults.kill(name)

    def back() -> ServiceStatus | None:
        now = ready()
        assert now.restarts > before.restarts, now
        return now if now.pid != before.pid else None

    after = trial.eventually(back, seconds=RECOVERY_SECONDS)
    assert after is not None
    assert (after.last_death_at or 0) > (before.last_death_at or 0)


def test_everything_is_killed_at_once(trial: Trial, request: pytest.FixtureRequest) -> None:
    trial.begin()
    trial.faults.power_cut()
    if isinstance(trial.lab.runtime, NativeRuntime):
        assert not trial.lab.running
    up(trial.lab, TerminalReporter(request.config))
    assert read_status(trial.lab).ready
    trial.wait_for_connectors()
    trial.go_on()
    trial.end()
