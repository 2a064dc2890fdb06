"""Percentiles of changes, and the hops that they are made of."""

from __future__ import annotations

import pytest

from labctl.latency.statistics import SAMPLES, hops_of, samples_of, seconds_of
from tests.unit.latency.traces import BEGIN, trace


def test_percentiles_are_those_of_the_changes_durations() -> None:
    traces = [trace(n, at=n / 10, took=n / 100) for n in range(101)]
    whole = {hop.name: hop for hop in hops_of(traces, "kafka")}["end_to_end"].percentiles
    assert whole is not None
    assert whole.count == 101
    assert (whole.minimum, whole.p50, whole.p90, whole.p95, whole.p99, whole.maximum) == (
        0.0,
        0.5,
        0.9,
        0.95,
        0.99,
        1.0,
    )


@pytest.mark.parametrize("source", ["kafka", "bronze"])
def test_the_hops_on_the_way_add_up_to_the_whole(source: str) -> None:
    hops = hops_of([trace(1, at=0, took=1.0)], source)  # type: ignore[arg-type]
    parts = [h.percentiles.p50 for h in hops if h.on_the_way and h.percentiles]
    assert hops[-1].name == "end_to_end"
    assert sum(parts[:-1]) == pytest.approx(parts[-1])
    assert [h.name for h in hops if not h.on_the_way] == (["bronze"] if source == "kafka" else [])


def test_a_hop_without_its_times_is_unknown_and_not_zero() -> None:
    unseen = trace(1, at=0, took=1.0)
    unseen.captured = None
    hops = {hop.name: hop for hop in hops_of([unseen], "kafka")}
    assert hops["event"].percentiles is None
    assert hops["event"].distribution == []
    assert hops["end_to_end"].percentiles is not None


def test_seconds_count_what_is_under_way() -> None:
    traces = [trace(1, at=0.2, took=0.5), trace(2, at=0.4, took=2.0), trace(3, at=1.5, took=0.1)]
    seconds = seconds_of(traces, BEGIN)
    assert [s.committed for s in seconds] == [2, 1, 0]
    assert [s.queryable for s in seconds] == [1, 1, 1]
    assert [s.lag for s in seconds] == [1, 1, 0]
    assert seconds[0].p50 == pytest.approx(1.25)
    assert seconds[2].p50 is None


def test_a_change_that_never_arrived_stays_in_the_lag() -> None:
    lost = trace(1, at=0, took=1.0)
    lost.queryable = None
    seconds = seconds_of([lost, trace(2, at=0, took=3.0)], BEGIN)
    assert [s.lag for s in seconds] == [2, 2, 2, 1]


def test_a_sample_is_small_and_has_the_slowest_change() -> None:
    traces = [trace(n, at=n / 1000, took=0.5) for n in range(10_000)]
    traces[1234] = trace(1234, at=1.234, took=9.0)
    samples = samples_of(traces, BEGIN, "kafka")
    assert len(samples) <= SAMPLES
    assert max(s.end_to_end or 0 for s in samples) == 9.0
    assert [s.at for s in samples] == sorted(s.at for s in samples)
