"""Services are killed in the middle of a write load: all come back, no row is lost."""

from __future__ import annotations

import pytest

from labctl.lab.status import ServiceStatus, read_status
from labctl.lab.up import up
from labctl.runtimes.native.runtime import NativeRuntime
from labctl.services import SERVICES
from labctl.testing.reporter import TerminalReporter
from tests.e2e.fault_trial import RECOVERY_SECONDS, Trial


@pytest.mark.parametrize("name", [service.name for service in SERVICES])
def test_a_killed_service_comes_back_and_no_row_is_lost(name: str, trial: Trial) -> None:
    trial.begin()
    before = trial.status(name)
    trial.faults.kill(name)

    def back() -> ServiceStatus | None:
        now = trial.status(name)
        assert now.state == "ready", now
        assert now.restarts > before.restarts, now
        return now if now.pid != before.pid else None

    after = trial.eventually(back, seconds=RECOVERY_SECONDS)
    assert after is not None
    assert (after.last_death_at or 0) > (before.last_death_at or 0)
    trial.go_on()
    trial.end()


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
