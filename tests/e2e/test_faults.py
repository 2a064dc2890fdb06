"""Services are killed in the middle of a write load: all come back, no row is lost."""

from __future__ import annotations

import pytest

from labctl.lab.lab import Lab
from labctl.lab.status import ServiceStatus, read_status
from labctl.lab.up import up
from labctl.lake import Lake
from labctl.runtimes.native.runtime import NativeRuntime
from labctl.services import SERVICES
from labctl.testing.eventually import Eventually
from labctl.testing.faults import Faults
from labctl.testing.reporter import TerminalReporter
from tests.e2e.fault_checks import (
    RECOVERY_SECONDS,
    Ends,
    Verify,
    check_nothing_lost,
    connectors_run,
    status_of,
    written,
)
from tests.e2e.numbered_load import Load


@pytest.mark.parametrize("name", [service.name for service in SERVICES])
def test_a_killed_service_comes_back_and_no_row_is_lost(
    name: str,
    lab: Lab,
    faults: Faults,
    ends: Ends,
    load: Load,
    lake: Lake,
    verify_equal: Verify,
    eventually: Eventually,
) -> None:
    eventually(lambda: written(load))
    before = status_of(lab, name)
    assert before.pid is not None
    faults.kill(name)

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
    faults: Faults,
    ends: Ends,
    load: Load,
    lake: Lake,
    verify_equal: Verify,
    eventually: Eventually,
    request: pytest.FixtureRequest,
) -> None:
    eventually(lambda: written(load))
    faults.power_cut()
    if isinstance(lab.runtime, NativeRuntime):
        assert not lab.running
    up(lab, TerminalReporter(request.config))
    assert read_status(lab).ready
    eventually(lambda: connectors_run(lab), seconds=RECOVERY_SECONDS)
    so_far = dict(load.committed)
    eventually(lambda: written(load, more_than=so_far), seconds=RECOVERY_SECONDS)
    load.stop()
    check_nothing_lost(lab, lake, load, ends, verify_equal, eventually)
