"""The figures of a run of `labctl bench floor`, each with its ratio to the floor below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labctl.latency.environment import Environment
from labctl.latency.report import Percentiles
from labctl.latency.statistics import percentiles_of

__all__ = ["Figure", "FloorReport", "figures_of"]


@dataclass(frozen=True)
class Figure:
    """One thing that was measured. Seconds."""

    name: str
    what: str
    percentiles: Percentiles
    to: str | None
    """The figure that it is compared with; None for a floor."""
    ratio: float | None
    """Of the two medians."""


@dataclass(frozen=True)
class FloorReport:
    """A run: all of it on one machine, in one go."""

    environment: Environment
    table: str
    """The silver table whose copies were written, and whose row was changed at the source."""
    rows: int
    rounds: int
    """Of the figures that are taken in turn."""
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
"""By name, what it is, and which floor it stands on."""


def figures_of(taken: Mapping[str, Sequence[float]]) -> list[Figure]:
    """Return percentiles of each name's seconds, and its ratio to the floor that it stands on."""
    found = {name: percentiles_of(seconds) for name, seconds in taken.items()}
    known = {name: percentiles for name, percentiles in found.items() if percentiles is not None}
    figures = []
    for name, (what, to) in _KNOWN.items():
        if name not in known:
            continue
        floor = sum(known[part].p50 for part in to.split(" + ")) if to else 0.0
        ratio = round(known[name].p50 / floor, 2) if floor else None
        figures.append(Figure(name, what, known[name], to, ratio))
    return figures
