"""A soak run's plan: the same for the same seed, and safe to repeat after a lost connection."""

from __future__ import annotations

from itertools import islice
from types import SimpleNamespace
from typing import cast

import pytest

from labctl.errors import LabError
from labctl.lab.lab import Lab
from labctl.runtimes.compose.compose_faults import ComposeFaults
from labctl.runtimes.native.native_faults import NativeFaults
from labctl.runtimes.runtime_protocols import FaultInjector
from labctl.soak.faulting import FaultKind, fitting_kinds, plan_faults
from labctl.soak.soak_plan import Kind, Operation, Transaction, plan_transactions
from labctl.soak.soak_run import SoakPlan, require_kept

COUNT = 3_000


def plan(seed: str) -> list[Transaction]:
    return list(islice(plan_transactions(1_000, seed), COUNT))


def apply(rows: dict[int, int], operation: Operation) -> None:
    """What the writer's statements do to a table of keys and numbers."""
    if operation.kind is Kind.INSERT:
        rows[operation.key] = operation.number
    elif operation.key in rows:
        del rows[operation.key]
        if operation.kind is not Kind.DELETE:
            rows[operation.lives_at] = operation.number


def test_a_seed_decides_every_transaction() -> None:
    assert plan("7") == plan("7")
    assert plan("7") != plan("8")


def test_every_kind_of_change_is_made_and_some_transactions_are_wide() -> None:
    transactions = plan("1")
    assert {o.kind for t in transactions for o in t.operations} == set(Kind)
    assert max(len(t.operations) for t in transactions) == 100


def test_numbers_rise_without_a_gap_and_no_key_is_used_for_a_second_row() -> None:
    operations = [o for t in plan("2") for o in t.operations]
    assert [o.number for o in operations] == list(range(1, len(operations) + 1))
    made = [o.key for o in operations if o.kind is Kind.INSERT]
    made += [o.lives_at for o in operations if o.kind is Kind.MOVE]
    assert len(made) == len(set(made))


def test_a_transaction_that_is_repeated_changes_nothing() -> None:
    once: dict[int, int] = {}
    twice: dict[int, int] = {}
    for transaction in plan("3"):
        for operation in transaction.operations:
            apply(once, operation)
        for _ in range(2):
            for operation in transaction.operations:
                apply(twice, operation)
        assert once == twice


@pytest.mark.parametrize(
    ("faults", "impossible"),
    [
        (NativeFaults, {FaultKind.CUT_OFF}),
        (ComposeFaults, {FaultKind.STALL, FaultKind.SUPERVISOR}),
    ],
)
def test_a_runtime_says_which_faults_it_can_make(
    faults: type[FaultInjector], impossible: set[FaultKind]
) -> None:
    lab = cast("Lab", SimpleNamespace(runtime=SimpleNamespace(faults=faults)))
    assert set(FaultKind) - set(fitting_kinds(lab, list(FaultKind))) == impossible


def test_each_fault_happens_once_before_any_happens_again() -> None:
    services = ["kafka", "connect"]
    kinds = [FaultKind.KILL, FaultKind.PAUSE, FaultKind.POWER]
    planned = list(islice(plan_faults(kinds, services, "1"), 10))
    first = {(fault.kind, fault.service) for fault in planned[:5]}
    assert first == {(fault.kind, fault.service) for fault in planned[5:]}
    assert len(first) == 5
    assert (FaultKind.POWER, "lab") in first
    assert planned == list(islice(plan_faults(kinds, services, "1"), 10))
    assert all((fault.seconds > 0) == (fault.kind is FaultKind.PAUSE) for fault in planned)


@pytest.mark.parametrize(
    ("seconds", "kinds", "retention", "fits"),
    [
        (600.0, 1, None, True),
        (600.0, 1, 901, True),
        (600.0, 1, 900, False),
        (None, 2, 86_400, True),
        (None, 2, 900, False),
    ],
)
def test_bronze_must_keep_the_records_of_a_whole_run(
    seconds: float | None, kinds: int, retention: int | None, fits: bool
) -> None:
    run = SoakPlan(1, 1.0, list(FaultKind)[:kinds], seconds)
    if fits:
        require_kept(retention, run)
        return
    with pytest.raises(LabError, match="removes bronze files after 900 s"):
        require_kept(retention, run)
