"""Services stand still or are cut off for a while in a write load: no row is lost."""

from __future__ import annotations

from contextlib import AbstractContextManager

import pytest

from labctl.lab.lab import Lab
from labctl.lake import Lake
from labctl.runtimes.native.runtime import NativeRuntime
from labctl.services import SERVICES
from labctl.testing.eventually import Eventually
from labctl.testing.faults import Faults
from tests.e2e.fault_checks import (
    RECOVERY_SECONDS,
    Ends,
    Verify,
    check_nothing_lost,
    connectors_run,
    written,
)
from tests.e2e.numbered_load import Load

SERVICE_NAMES = [service.name for service in SERVICES]
PAUSED = ("postgres", "kafka", "objectstore")
WAITING = {
    "postgres": ("event", "user"),  # the stand-in for SQL Server keeps its data in PostgreSQL
    "mysql": ("sale",),
    "sqlserver": ("user",),
}
"""Silver tables whose source cannot be written to while a service is away."""


@pytest.mark.parametrize("name", PAUSED)
def test_a_service_that_stood_still_goes_on_and_no_row_is_lost(
    name: str,
    lab: Lab,
    faults: Faults,
    ends: Ends,
    load: Load,
    lake: Lake,
    verify_equal: Verify,
    eventually: Eventually,
) -> None:
    interrupt(faults.paused(name), name, lab, ends, load, lake, verify_equal, eventually)


@pytest.mark.parametrize("name", SERVICE_NAMES)
def test_a_service_that_was_cut_off_comes_back_and_no_row_is_lost(
    name: str,
    lab: Lab,
    faults: Faults,
    ends: Ends,
    load: Load,
    lake: Lake,
    verify_equal: Verify,
    eventually: Eventually,
) -> None:
    if isinstance(lab.runtime, NativeRuntime):
        pytest.skip("all native services are on one loopback interface")
    interrupt(faults.cut_off(name), name, lab, ends, load, lake, verify_equal, eventually)


def interrupt(
    fault: AbstractContextManager[None],
    name: str,
    lab: Lab,
    ends: Ends,
    load: Load,
    lake: Lake,
    verify_equal: Verify,
    eventually: Eventually,
) -> None:
    """Have a fault for as long as the databases it leaves alone take to write on."""
    eventually(lambda: written(load))
    with fault:
        during = dict(load.committed)
        eventually(lambda: written(load, more_than=during, but=WAITING.get(name, ())))
    after = dict(load.committed)
    eventually(lambda: connectors_run(lab), seconds=RECOVERY_SECONDS)
    eventually(lambda: written(load, more_than=after), seconds=RECOVERY_SECONDS)
    load.stop()
    check_nothing_lost(lab, lake, load, ends, verify_equal, eventually)
