"""Comparing two runs."""

from __future__ import annotations

from dataclasses import dataclass

from labctl.latency.latency_report import RunReport

__all__ = ["Comparison", "Difference", "compare"]

_PERCENTILES = ("p50", "p90", "p95", "p99", "maximum")


@dataclass(frozen=True)
class Difference:
    """A figure of both runs."""

    figure: str
    """`end_to_end.p50`, `cpu_seconds.silver`, …"""
    unit: str
    a: float | None
    b: float | None
    change: float | None
    """Relative change from `a` to `b`: -0.5 means half; None if it cannot be computed."""


@dataclass(frozen=True)
class Comparison:
    """The figures of both runs, and the conditions that differ."""

    conditions: dict[str, tuple[str, str]]
    """Conditions that differ, with both values: scenario, source, machine, …"""
    differences: list[Difference]


def compare(a: RunReport, b: RunReport) -> Comparison:
    """Compare `b` with `a`, figure by figure."""
    first, second = _figures(a), _figures(b)
    return Comparison(
        conditions={
            name: (value, _conditions(b)[name])
            for name, value in _conditions(a).items()
            if value != _conditions(b)[name]
        },
        differences=[
            _difference(figure, first.get(figure), second.get(figure))
            for figure in dict.fromkeys((*first, *second))
        ],
    )


def _conditions(run: RunReport) -> dict[str, str]:
    return {
        "commit": run.environment.commit,
        "scenario": run.scenario.model_dump_json(exclude={"title"}),
        "source": run.source,
        "tables": ", ".join(f"{t.table} ({t.table_type})" for t in run.tables),
        "profile": run.profile,
        "cores": str(run.environment.cores),
        "memory_gib": str(run.environment.memory_gib),
    }


def _figures(run: RunReport) -> dict[str, tuple[str, float | None]]:
    """Return the unit and value of each figure, by name."""
    figures: dict[str, tuple[str, float | None]] = {}
    for hop in run.hops:
        for name in _PERCENTILES:
            value = getattr(hop.percentiles, name) if hop.percentiles else None
            figures[f"{hop.name}.{name}"] = ("s", value)
    figures["committed_per_second"] = ("1/s", run.committed_per_second)
    figures["queryable_per_second"] = ("1/s", run.queryable_per_second)
    figures["lost"] = ("", run.counts.lost)
    figures["duplicates"] = ("", run.counts.duplicates)
    figures["wrong"] = ("", run.counts.wrong)
    for service in run.services or ():
        figures[f"cpu_seconds.{service.service}"] = ("s", service.cpu_seconds)
    for service in run.services or ():
        figures[f"peak_memory.{service.service}"] = (
            "MiB",
            round(service.peak_memory_bytes / 1024**2),
        )
    figures["requests_per_change"] = ("", run.requests_per_change)
    figures["bytes_per_change"] = ("B", run.bytes_per_change)
    return figures


def _difference(
    figure: str, a: tuple[str, float | None] | None, b: tuple[str, float | None] | None
) -> Difference:
    unit = (a or b or ("", None))[0]
    first, second = (a or ("", None))[1], (b or ("", None))[1]
    change = None
    if first and second is not None and first > 0:
        change = round(second / first - 1, 4)
    return Difference(figure, unit, first, second, change)
