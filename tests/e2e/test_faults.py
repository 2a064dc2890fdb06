"""Faults in the middle of a write load: all services come back, no row is lost."""

from __future__ import annotations

import time

import pytest

from labctl.lab.lifecycle.up import up
from labctl.lab.observe.pipeline_state import read_pipeline
from labctl.lab.observe.service_status import ServiceStatus, read_status
from labctl.runtimes.native.native_runtime import NativeRuntime
from labctl.testing.reporter import TerminalReporter
from tests.e2e.fault_trial import RECOVERY_SECONDS, Trial

PIPELINE = ("kafka", "connect", "silver")
"""What every change goes through. `test_soak.py` kills some of the others, at random."""


@pytest.mark.long
def test_no_row_is_lost_by_faults_one_after_the_other(trial: Trial) -> None:
    """In one load, each fault once every database takes rows again after the one before."""
    trial.begin()
    for name in PIPELINE:
        _kill(trial, name)
    print("kafka stands still")
    trial.interrupt("kafka", trial.faults.paused("kafka"))
    trial.end()


def test_every_service_is_killed_at_once(trial: Trial, request: pytest.FixtureRequest) -> None:
    """`up` brings all of them back."""
    trial.begin()
    trial.faults.power_cut()
    if isinstance(trial.lab.runtime, NativeRuntime):
        assert not trial.lab.running
    up(trial.lab, TerminalReporter(request.config))
    assert read_status(trial.lab).ready
    trial.wait_for_connectors()
    trial.go_on()
    trial.end()
    # Those that took nothing in meanwhile know it from their timelines.
    assert all(table.last_commit_at for table in read_pipeline(trial.lab).tables)


@pytest.mark.soak
def test_every_service_is_killed_in_turn(trial: Trial) -> None:
    """Each once what was written after the one before is in silver."""
    trial.begin()
    for service in trial.lab.services:
        _kill(trial, service.name)
        print(f"silver has caught up after {trial.arrival():.1f} s")
    trial.end()


def _kill(trial: Trial, name: str) -> None:
    """Kill a service; wait until it has come back by itself, and every database takes rows."""

    def ready() -> ServiceStatus:
        now = trial.status(name)
        assert now.state == "ready", now
        return now

    # It may not have got over the death of another one yet.
    before = trial.eventually(ready, seconds=RECOVERY_SECONDS)
    print(f"{name} is killed with rows {sorted(trial.last_numbers().values())} committed")
    trial.faults.kill(name)
    begun = time.monotonic()

    def back() -> ServiceStatus | None:
        now = ready()
        assert now.restarts > before.restarts, now
        return now if now.pid != before.pid else None

    after = trial.eventually(back, seconds=RECOVERY_SECONDS)
    assert after is not None
    assert (after.last_death_at or 0) > (before.last_death_at or 0)
    trial.go_on()
    print(f"{name}: all goes on {time.monotonic() - begun:.1f} s after its death")
