"""A run as a whole: how many batches it has, and what a request to end does."""

from __future__ import annotations

import os
import signal
from itertools import chain, count

import pytest

from labctl.conformance.conformance_run import Plan, interruptible, planned_batches
from labctl.engine_names import EngineName


def test_a_run_of_so_many_tables_ends_with_them() -> None:
    batches = planned_batches(Plan(tables=7, batch=3), ["postgres"])
    assert [[case.seed for case in batch] for batch in batches] == [[0, 1, 2], [3, 4, 5], [6]]


def sizes(plan: Plan, *engines: EngineName, each_takes: float) -> list[int]:
    """How many tables each batch has, when each takes so many seconds."""
    ticks = count(0.0, each_takes)
    started = chain([0.0], (second for tick in ticks for second in (tick, tick + each_takes)))
    return [len(batch) for batch in planned_batches(plan, engines, now=lambda: next(started))]


def test_a_run_of_minutes_starts_no_batch_that_would_end_after_them() -> None:
    plan = Plan(minutes=2, batch=4, tables=1)
    # Whole seeds; a third batch would end after 150 seconds.
    assert sizes(plan, "postgres", "mysql", "sqlserver", each_takes=50) == [6, 6]


def test_the_first_batch_always_starts() -> None:
    assert sizes(Plan(minutes=0.1, batch=3), "mysql", each_takes=50) == [3]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_request_to_end_cleans_up_and_further_ones_wait(number: signal.Signals) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    cleaned = False
    with pytest.raises(KeyboardInterrupt), interruptible():
        try:
            os.kill(os.getpid(), number)
            pytest.fail("it goes on")
        finally:
            for again in (signal.SIGINT, signal.SIGTERM):
                os.kill(os.getpid(), again)
            cleaned = True
    assert cleaned
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
