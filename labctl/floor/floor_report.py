"""The figures of a run of `labctl test bench floor`, each with its ratio to the floor below it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labctl.latency.environment import Environment
from labctl.latency.latency_report import Percentiles
from labctl.latency.statistics import percentiles_of

__all__ = ["Figure", "FloorReport", "figures_of", "worse_than"]

_WIDTH = 0.98
"""Half width of the median's 95 % confidence interval, in ranks per square root of the number of
samples."""


@dataclass(frozen=True)
class Figure:
    """A measured figure, in seconds."""

    name: str
    what: str
    percentiles: Percentiles
    to: str | None
    """Name of the figure that this one is compared with; None for a floor."""
    ratio: float | None
    """The ratio of the two medians."""
    ratio_between: tuple[float, float] | None
    """Bounds of the ratio; few rounds give wide bounds."""


@dataclass(frozen=True)
class FloorReport:
    """A run, measured without a break on one machine."""

    environment: Environment
    table: str
    """Silver table whose copies were written and whose rows were changed at the source."""
    rows: int
    rounds: int
    """Rounds of the figures that are measured in turn."""
    figures: list[Figure]


_KNOWN: Mapping[str, tuple[str, str | None]] = {
    "put": ("the object store takes 2 KB", None),
    "list": ("it lists a folder of 100 objects", None),
    "head": ("it says how large an object is", None),
    "message": ("a message to Kafka, acknowledged by all, until a bare consumer has it", None),
    "writer": ("Hudi's writer alone commits one row that it is given", None),
    "direct": ("the application's commit of one row, lab.commit=direct", "writer"),
    "spark": ("the same by Spark's writer, lab.commit=spark", "writer"),
    "debezium": ("a source's commit until its record is in Kafka", "message"),
    "end_to_end": ("a source's commit until a query returns it", "debezium + writer"),
}
"""Description of each figure by name, and the floor that it is compared with."""


def figures_of(taken: Mapping[str, Sequence[float]]) -> list[Figure]:
    """Return the percentiles of each name's seconds, and the ratio to the name's floor."""
    found = {name: percentiles_of(seconds) for name, seconds in taken.items()}
    known = {name: percentiles for name, percentiles in found.items() if percentiles is not None}
    figures = []
    for name, (what, to) in _KNOWN.items():
        if name not in known:
            continue
        ratio = between = None
        floors = to.split(" + ") if to else []
        if floors and all(floor in known for floor in floors):
            ratio = round(known[name].p50 / sum(known[floor].p50 for floor in floors), 2)
            low, high = _median_between(taken[name])
            least, most = map(sum, zip(*(_median_between(taken[f]) for f in floors), strict=True))
            between = round(low / most, 2), round(high / least, 2)
        figures.append(Figure(name, what, known[name], to, ratio, between))
    return figures


def _median_between(seconds: Sequence[float]) -> tuple[float, float]:
    """Return the bounds of the median's 95 % confidence interval."""
    ordered = sorted(seconds)
    middle, width = (len(ordered) - 1) / 2, _WIDTH * math.sqrt(len(ordered))
    return (
        ordered[max(0, math.floor(middle - width))],
        ordered[min(len(ordered) - 1, math.ceil(middle + width))],
    )


def worse_than(before: FloorReport, now: FloorReport) -> list[str]:
    """Return a sentence for each ratio of `now` that is larger than before beyond chance."""
    known = {figure.name: figure for figure in before.figures}
    found = []
    for figure in now.figures:
        earlier = known.get(figure.name)
        if earlier is None or earlier.ratio_between is None or figure.ratio_between is None:
            continue
        if figure.ratio_between[0] > earlier.ratio_between[1]:
            found.append(
                f"{figure.name} is {figure.ratio} times {figure.to}; it was {earlier.ratio} times: "
                f"at least {figure.ratio_between[0]} now, at most {earlier.ratio_between[1]} then"
            )
    return found
