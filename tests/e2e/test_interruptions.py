"""Services stand still or are cut off for a while in a write load: no row is lost."""

from __future__ import annotations

from contextlib import AbstractContextManager

import pytest

from labctl.runtimes.native.runtime import NativeRuntime
from labctl.services import SERVICES
from tests.e2e.fault_trial import Trial

PAUSED = ("postgres", "kafka", "objectstore")
WAITING = {
    "postgres": ("event", "user"),  # the stand-in for SQL Server keeps its data in PostgreSQL
    "mysql": ("sale",),
    "sqlserver": ("user",),
}
"""Silver tables whose source cannot be written to while a service is away."""


@pytest.mark.parametrize("name", PAUSED)
def test_a_service_that_stood_still_goes_on_and_no_row_is_lost(name: str, trial: Trial) -> None:
    interrupt(trial, name, trial.faults.paused(name))


@pytest.mark.parametrize("name", [service.name for service in SERVICES])
def test_a_service_that_was_cut_off_comes_back_and_no_row_is_lost(name: str, trial: Trial) -> None:
    if isinstance(trial.lab.runtime, NativeRuntime):
        pytest.skip("all native services are on one loopback interface")
    interrupt(trial, name, trial.faults.cut_off(name))


def interrupt(trial: Trial, name: str, fault: AbstractContextManager[None]) -> None:
    """Have a fault for as long as the databases it leaves alone take to write on."""
    trial.begin()
    with fault:
        trial.go_on(but=WAITING.get(name, ()))
    trial.wait_for_connectors()
    trial.go_on()
    trial.end()
