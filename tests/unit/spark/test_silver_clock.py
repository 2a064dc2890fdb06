"""The clock of the Spark application is put back: noticed, said, and nothing is waited for."""

from __future__ import annotations

import time
from typing import Any, cast

import pytest

from lakehouse import clock
from lakehouse.clock import ClockError, ClockWatch, InstantClock, PutBackError

HOUR = 3600.0


def put_back(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(clock, "now", lambda: time.time() - seconds)


def instants() -> InstantClock:
    return InstantClock("sale", cast("Any", None))


@pytest.fixture(autouse=True)
def first_in_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InstantClock, "_highest", 0.0)


def test_a_step_is_noticed_once_and_a_correction_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = ClockWatch()
    assert watch.went_back() == 0
    put_back(monkeypatch, 1)
    assert watch.went_back() == 0
    put_back(monkeypatch, HOUR)
    assert watch.went_back() == pytest.approx(HOUR, abs=5)
    assert watch.went_back() == 0
    put_back(monkeypatch, 0)
    assert watch.went_back() == 0


def test_no_instant_before_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    one = instants()
    one.take()
    put_back(monkeypatch, HOUR)
    with pytest.raises(
        ClockError, match=r"is (0:59:\d\d|1:00:00) behind .* labctl table rebuild sale"
    ):
        one.take()
    one.forget()
    monkeypatch.setattr(InstantClock, "_highest", 0.0)
    one.take()


def test_a_small_correction_is_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    one = instants()
    one.take()
    put_back(monkeypatch, 0.3)
    begun = time.monotonic()
    monkeypatch.setattr(InstantClock, "_highest", 0.0)
    one.take()
    assert time.monotonic() - begun > 0.2


def test_a_commit_that_was_completed_before_it_was_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    one = instants()
    one.take()
    one.made()
    put_back(monkeypatch, HOUR)
    with pytest.raises(PutBackError, match="written again from bronze"):
        one.made()
