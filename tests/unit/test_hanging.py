"""The bound that fuzz tests put on each input."""

from __future__ import annotations

import signal

import pytest

from tests.unit.hanging import HangError, Watch


def test_an_input_that_hangs_is_named_though_its_reader_catches_everything() -> None:
    with pytest.raises(HangError, match="b'endless'"), Watch(0.05).one(b"endless"):
        while True:
            try:
                while True:
                    pass
            except Exception:  # noqa: S112 - as careless code does
                continue


def test_an_input_that_ends_leaves_no_alarm_and_its_time() -> None:
    watch = Watch()
    with watch.one(b"short"):
        sum(range(100_000))
    assert watch.longest_ms > 0
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
