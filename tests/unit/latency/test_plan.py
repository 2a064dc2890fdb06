"""The changes of a run: by seed, numbered, to rows that are there."""

from __future__ import annotations

from collections import Counter

from labctl.latency.latency_plan import Kind, plan_changes
from labctl.latency.scenario import Changes

FIRST = 1_000


def test_the_same_seed_gives_the_same_plan() -> None:
    changes = Changes(count=200, rate=10, jitter=1, inserts=1, updates=1, deletes=1)
    plans = [list(plan_changes(changes, first_key=FIRST, seed=seed)) for seed in "aab"]
    assert plans[0] == plans[1] != plans[2]


def test_every_change_has_a_number_and_a_row_that_is_there() -> None:
    changes = Changes(count=500, inserts=1, updates=2, deletes=2, rows=10)
    alive = set(range(FIRST, FIRST + 10))
    numbers = []
    for transaction in plan_changes(changes, first_key=FIRST, seed="7"):
        for change in transaction.changes:
            numbers.append(change.number)
            assert (change.key in alive) == (change.kind is not Kind.INSERT)
            if change.kind is Kind.DELETE:
                alive.remove(change.key)
            else:
                alive.add(change.key)
    assert numbers == list(range(1, 501))


def test_a_deleted_key_does_not_come_back() -> None:
    changes = Changes(count=500, inserts=1, updates=1, deletes=1, rows=5)
    deleted: set[int] = set()
    for transaction in plan_changes(changes, first_key=FIRST, seed="7"):
        for change in transaction.changes:
            assert change.key not in deleted
            if change.kind is Kind.DELETE:
                deleted.add(change.key)
    assert deleted


def test_a_row_is_changed_once_in_a_transaction() -> None:
    changes = Changes(count=95, rows_per_transaction=10, rows=10)
    plan = list(plan_changes(changes, first_key=FIRST, seed="7"))
    assert [len(t.changes) for t in plan] == [10] * 9 + [5]
    for transaction in plan:
        keys = Counter(change.key for change in transaction.changes)
        assert max(keys.values()) == 1


def test_the_pace_is_the_rate_whatever_the_jitter() -> None:
    changes = Changes(count=10_001, rate=100, jitter=1)
    due = [t.due or 0.0 for t in plan_changes(changes, first_key=FIRST, seed="7")]
    assert due[0] == 0
    assert due == sorted(due)
    assert 95 < due[-1] < 105


def test_without_a_rate_nothing_is_waited_for() -> None:
    plan = plan_changes(Changes(count=3), first_key=FIRST, seed="7")
    assert [transaction.due for transaction in plan] == [None] * 3
