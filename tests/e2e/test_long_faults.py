"""Services stand still for a minute, or are away for minutes: all goes on by itself afterwards.

`LABCTL_OUTAGE_SECONDS=600` has each service away for ten minutes.
"""

from __future__ import annotations

import os
import time

import pytest

from labctl.lab.connectors.connector_slots import read_slots
from labctl.lab.lab import Lab
from labctl.lab.observe.service_status import read_status
from labctl.runtimes.native.native_runtime import NativeRuntime
from labctl.services.lab_services import SERVICES
from tests.e2e.fault_trial import Trial

pytestmark = pytest.mark.soak

NAMES = [service.name for service in SERVICES]
PAUSE_SECONDS = 60.0
OUTAGE_SECONDS = float(os.environ.get("LABCTL_OUTAGE_SECONDS", "120"))
RECOVERY_SECONDS = 600.0


@pytest.mark.parametrize("name", NAMES)
def test_a_service_that_stood_still_for_a_minute_goes_on(name: str, trial: Trial) -> None:
    trial.skip_without(name)
    trial.begin()
    trial.faults.pause(name, PAUSE_SECONDS)
    recovers(trial, f"{name} stood still for {PAUSE_SECONDS:.0f} s")


def test_services_go_on_while_the_supervisor_stands_still_for_a_minute(trial: Trial) -> None:
    if not isinstance(trial.lab.runtime, NativeRuntime):
        pytest.skip("a container engine is not the lab's to stop")
    trial.begin()
    with trial.faults.paused_supervisor():
        time.sleep(PAUSE_SECONDS)
        trial.go_on()
        trial.arrival()
    recovers(trial, f"the supervisor stood still for {PAUSE_SECONDS:.0f} s")


@pytest.mark.parametrize("name", NAMES)
def test_a_service_that_was_away_for_minutes_is_caught_up_with(name: str, trial: Trial) -> None:
    trial.skip_without(name)
    trial.begin()
    before = retained(trial.lab)
    with trial.faults.away(name):
        time.sleep(OUTAGE_SECONDS)
        # PostgreSQL keeps what nobody reads. Where it was away itself, it is not asked.
        kept = retained(trial.lab) if name == "connect" else 0
    recovers(trial, f"{name} was away for {OUTAGE_SECONDS:.0f} s")
    if name == "connect":
        print(f"PostgreSQL kept {before:,} bytes of its log before, and {kept:,} in the end")
        assert kept > before
        trial.eventually(lambda: retained(trial.lab) < kept, seconds=RECOVERY_SECONDS)


def retained(lab: Lab) -> int:
    """Bytes of PostgreSQL's log that are kept for connectors."""
    return sum(slot.retained_bytes for slot in read_slots(lab))


def recovers(trial: Trial, what: str) -> None:
    """Without help, all services answer, and everything written by now and later is in silver."""
    begun = time.monotonic()
    trial.eventually(lambda: read_status(trial.lab).ready, seconds=RECOVERY_SECONDS)
    answered = time.monotonic() - begun
    trial.go_on(seconds=RECOVERY_SECONDS)
    trial.arrival(seconds=RECOVERY_SECONDS)
    print(
        f"{what}: all services answered {answered:.0f} s later, and everything was in silver "
        f"after {time.monotonic() - begun:.0f} s; {sum(trial.load.committed.values()):,} rows"
    )
    trial.wait_for_connectors()
    trial.end()
