"""Statistics from traces: percentiles of every hop, the run by second, a sample of changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labctl.config.lab_config import SilverSource
from labctl.latency.latency_report import Hop, HopName, Percentiles, Sample, Second
from labctl.latency.ledger import Trace

__all__ = ["HOPS", "hops_of", "percentiles_of", "samples_of", "seconds_of"]

Moment = Literal["committed", "captured", "appended", "bronze", "hudi", "queryable"]
SAMPLES = 2_000
_DIGITS = 4
"""Decimal places of seconds: the clocks of Kafka, bronze and Hudi are exact to the millisecond."""


@dataclass(frozen=True)
class _Way:
    begins: Moment
    ends: Moment
    on_the_way: bool = True


HOPS: dict[SilverSource, dict[HopName, _Way]] = {
    "kafka": {
        "event": _Way("committed", "captured"),
        "kafka": _Way("captured", "appended"),
        "bronze": _Way("appended", "bronze", on_the_way=False),
        "hudi": _Way("appended", "hudi"),
        "query": _Way("hudi", "queryable"),
        "end_to_end": _Way("committed", "queryable"),
    },
    "bronze": {
        "event": _Way("committed", "captured"),
        "kafka": _Way("captured", "appended"),
        "bronze": _Way("appended", "bronze"),
        "hudi": _Way("bronze", "hudi"),
        "query": _Way("hudi", "queryable"),
        "end_to_end": _Way("committed", "queryable"),
    },
}
"""The hops in their order, by silver's source."""


def hops_of(traces: Sequence[Trace], source: SilverSource) -> list[Hop]:
    """Return the hops of the changes' path, with their durations."""
    return [_hop(name, way, traces) for name, way in HOPS[source].items()]


def _hop(name: HopName, way: _Way, traces: Sequence[Trace]) -> Hop:
    taken = [t for t in (_took(trace, way) for trace in traces) if t is not None]
    return Hop(
        name=name,
        begins=way.begins,
        ends=way.ends,
        on_the_way=way.on_the_way,
        percentiles=percentiles_of(taken),
        distribution=_quantiles(taken, range(101)) if taken else [],
    )


def _took(trace: Trace, way: _Way) -> float | None:
    begin: float | None = getattr(trace, way.begins)
    end: float | None = getattr(trace, way.ends)
    return None if begin is None or end is None else end - begin


def percentiles_of(values: Sequence[float]) -> Percentiles | None:
    """Return percentiles of durations in seconds; None without any durations."""
    if not values:
        return None
    minimum, p50, p90, p95, p99, maximum = _quantiles(values, (0, 50, 90, 95, 99, 100))
    return Percentiles(
        count=len(values), minimum=minimum, p50=p50, p90=p90, p95=p95, p99=p99, maximum=maximum
    )


def _quantiles(
    values: Sequence[float] | NDArray[np.float64], percents: Sequence[float]
) -> list[float]:
    """Return the percentiles, by linear interpolation."""
    return [round(float(v), _DIGITS) for v in np.percentile(values, list(percents))]


def seconds_of(traces: Sequence[Trace], begin: float) -> list[Second]:
    """Return the run's seconds from `begin` until the last change was queryable."""
    if not traces:
        return []
    committed = np.array([t.committed for t in traces]) - begin
    visible = np.array([np.nan if t.queryable is None else t.queryable for t in traces]) - begin
    latest = max(committed.max(), np.nanmax(visible) if not np.isnan(visible).all() else 0.0)
    took = visible - committed
    seconds = []
    for second in range(math.floor(latest) + 1):
        within = (committed >= second) & (committed < second + 1)
        known = took[within & ~np.isnan(took)]
        p50, p99 = _quantiles(known, (50, 99)) if known.size else (None, None)
        seconds.append(
            Second(
                second=second,
                committed=int(within.sum()),
                queryable=int(((visible >= second) & (visible < second + 1)).sum()),
                lag=int((committed < second + 1).sum() - (visible < second + 1).sum()),
                p50=p50,
                p99=p99,
            )
        )
    return seconds


def samples_of(traces: Sequence[Trace], begin: float, source: SilverSource) -> list[Sample]:
    """Return at most 2,000 changes, evenly spaced by commit and including the slowest one."""
    ordered = sorted(traces, key=lambda trace: trace.committed)
    chosen = ordered
    if len(ordered) > SAMPLES:
        places = np.linspace(0, len(ordered) - 1, SAMPLES - 1).astype(int)
        slowest = max(range(len(ordered)), key=lambda i: _latency(ordered[i]))
        chosen = [ordered[i] for i in sorted({*places.tolist(), slowest})]
    return [_sample(trace, begin, source) for trace in chosen]


def _latency(trace: Trace) -> float:
    return math.inf if trace.queryable is None else trace.queryable - trace.committed


def _sample(trace: Trace, begin: float, source: SilverSource) -> Sample:
    took = {name: _took(trace, way) for name, way in HOPS[source].items()}
    rounded = {name: None if t is None else round(t, _DIGITS) for name, t in took.items()}
    return Sample(at=round(trace.committed - begin, 3), table=trace.table, **rounded)
