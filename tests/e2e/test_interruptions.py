"""Services stand still, are cut off or away for a while in a write load: no row is lost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from labctl.runtimes.native.native_runtime import NativeRuntime
from labctl.services.lab_services import SERVICES
from tests.e2e.fault_trial import RECOVERY_SECONDS, Trial

pytestmark = pytest.mark.long

PAUSED = ("postgres", "objectstore")
REVOKED = "Revoking previous assignment"
"""In Connect's log, at the moment it stops tasks because it does not reach Kafka."""
LOG_LINES = 5000


@pytest.mark.soak
def test_services_that_stood_still_go_on_and_no_row_is_lost(trial: Trial) -> None:
    """Kafka stands still in `test_faults.py`."""
    trial.begin()
    for name in PAUSED:
        print(f"{name} stands still")
        trial.interrupt(name, trial.faults.paused(name))
        trial.arrival()
    trial.end()


@pytest.mark.parametrize("name", [service.name for service in SERVICES])
def test_a_service_that_was_cut_off_comes_back_and_no_row_is_lost(name: str, trial: Trial) -> None:
    if isinstance(trial.lab.runtime, NativeRuntime):
        pytest.skip("all native services are on one loopback interface")
    trial.skip_without(name)
    trial.begin()
    trial.interrupt(name, trial.faults.cut_off(name))
    trial.end()


@pytest.mark.soak
def test_kafka_is_away_for_longer_than_connect_keeps_its_tasks(trial: Trial) -> None:
    """A task of Debezium's PostgreSQL connector that is abandoned would keep the slot for good."""
    trial.begin()
    since = datetime.now(UTC).isoformat(" ", "milliseconds")

    def gives_up_its_tasks() -> bool:
        lines = trial.lab.runtime.logs.tail("connect", LOG_LINES)
        return any(REVOKED in line and line > since for line in lines)

    with trial.faults.away("kafka"):
        trial.eventually(gives_up_its_tasks, seconds=RECOVERY_SECONDS)
    trial.wait_for_connectors()
    trial.go_on()
    trial.end()
