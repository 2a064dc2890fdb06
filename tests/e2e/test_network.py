"""The way between two services is cut, stands still, is slow or loses packets: no row is lost."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from labctl.errors import LabError
from labctl.testing.cut_network import Hop
from tests.e2e.fault_trial import Trial

FAULTS: dict[str, Callable[[Hop], None]] = {
    "cut": lambda hop: hop.cut(),
    "half-open": lambda hop: hop.half_open(),
    "delayed": lambda hop: hop.delay(0.2),
    "stalled": lambda hop: hop.stall(0.01),
}
NOTHING_PASSES = ("cut", "half-open")
FED_BY = {
    ("connect", "mysql"): {"sale"},
    ("connect", "postgres"): {"event"},
    ("connect", "sqlserver"): {"user"},
    ("connect", "kafka"): {"sale", "event", "user"},
    ("silver", "kafka"): {"sale", "event", "user"},
    ("silver", "objectstore"): {"sale", "event", "user"},
    # Both keep the schemas that they have seen.
    ("connect", "registry"): set(),
    ("silver", "registry"): set(),
}
"""Silver tables that nothing comes to while nothing passes from client to server."""
HOLD_SECONDS = 30.0
RECOVERY_SECONDS = 300.0


@pytest.mark.soak
@pytest.mark.parametrize(
    ("client", "server", "fault"),
    [
        pytest.param(*case, id="-".join(case))
        for case in ((*hop, fault) for hop in FED_BY for fault in FAULTS)
    ],
)
def test_a_hop_has_a_fault_and_no_row_is_lost(
    client: str, server: str, fault: str, trial: Trial
) -> None:
    try:
        network = trial.faults.network(client, server)
        with network as hop:
            trial.wait_for_connectors()
            trial.begin()
            trial.arrival(seconds=RECOVERY_SECONDS)
            FAULTS[fault](hop)
            begun = time.monotonic()
            trial.go_on()
            during = trial.last_numbers()
            time.sleep(max(0.0, HOLD_SECONDS - (time.monotonic() - begun)))
            if fault in NOTHING_PASSES:
                passed = [target.silver for target, n in during.items() if trial.arrived(target, n)]
                assert not FED_BY[client, server].intersection(passed)
            hop.heal()
            lasted = time.monotonic() - begun
            print(
                f"{client} to {server} {fault} for {lasted:.0f} s: "
                f"everything is in silver {trial.arrival(seconds=RECOVERY_SECONDS):.1f} s later"
            )
            trial.wait_for_connectors()
    except LabError as error:
        if "container" not in error.what:
            raise
        pytest.skip(error.what)
    trial.wait_for_connectors()
    trial.go_on()
    trial.end()
