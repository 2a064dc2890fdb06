"""A short soak run on the session's lab: services are killed at random, and nothing is lost."""

from __future__ import annotations

import random

import pytest

from labctl.lab.lab import Lab
from labctl.soak.faulting import FaultKind
from labctl.soak.history import History
from labctl.soak.soak_run import SoakPlan, run_soak

pytestmark = pytest.mark.long

RATE = 60.0
SECONDS = 20.0


def test_nothing_is_lost_while_services_are_killed_at_random(lab: Lab) -> None:
    seed = random.randrange(2**32)  # noqa: S311 - not a secret
    print(f"seed {seed}")
    plan = SoakPlan(seed=seed, rate=RATE, kinds=(FaultKind.KILL,), seconds=SECONDS)
    with History(None) as history:
        report = run_soak(lab, plan, history, say=print)
    examples = [example for table in report.tables for example in table.finding.examples]
    assert (report.missing, report.twice, report.stale) == (0, 0, 0), examples
    assert report.faults
    assert report.unrecovered == []
    assert report.verified
    assert all(table.acknowledged for table in report.tables)
