"""Runs and comparisons as text."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from labctl.counted import counted
from labctl.latency.compare import Comparison, Difference
from labctl.latency.growth_report import GrowthReport
from labctl.latency.latency_report import Hop, RunReport

__all__ = ["comparison_table", "growth_table", "run_summary"]

_HOP_WORDS = {
    "event": "commit → Debezium event",
    "kafka": "event → Kafka",
    "bronze": "Kafka → bronze object",
    "hudi": "→ Hudi commit",
    "query": "Hudi commit → query",
    "end_to_end": "end to end",
}
_MIB = 1024**2


def run_summary(report: RunReport) -> RenderableType:
    """Show the hops' percentiles, the counts, and the cost of the run."""
    parts: list[RenderableType] = [_heading(report), "", _hops(report), "", *_counted(report)]
    if report.services:
        parts += ["", _services(report)]
    if report.object_store and report.requests_per_change is not None:
        kib = (report.bytes_per_change or 0) / 1024
        parts += [
            "",
            f"object store: {report.requests_per_change:,.1f} requests and {kib:,.1f} KiB a change",
        ]
    return Group(*parts)


def _heading(report: RunReport) -> str:
    tables = ", ".join(f"{t.table} ({t.table_type}, {t.engine})" for t in report.tables)
    return f"{report.name}: {report.scenario.title} · source {report.source} · {tables}"


def _hops(report: RunReport) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("hop, seconds")
    for title in ("p50", "p90", "p95", "p99", "max"):
        table.add_column(title, justify="right")
    for hop in report.hops:
        table.add_row(_words(hop), *_cells(hop), style="bold" if hop.name == "end_to_end" else None)
    return table


def _words(hop: Hop) -> str:
    words = _HOP_WORDS[hop.name]
    if hop.name == "hudi":
        words = ("Kafka " if hop.begins == "appended" else "bronze ") + words
    return words if hop.on_the_way else f"({words})"


def _cells(hop: Hop) -> list[str]:
    if hop.percentiles is None:
        return ["-"] * 5
    p = hop.percentiles
    return [f"{value:.3f}" for value in (p.p50, p.p90, p.p95, p.p99, p.maximum)]


def _counted(report: RunReport) -> list[RenderableType]:
    counts = report.counts
    words = (
        f"{counted(counts.written, 'change')} in {report.seconds:,.1f} s: "
        f"{_rate(report.committed_per_second)} committed, "
        f"{_rate(report.queryable_per_second)} queryable"
    )
    outcome = f"lost {counts.lost:,}, there twice {counts.duplicates:,}, wrong {counts.wrong:,}"
    lines: list[RenderableType] = [
        words,
        Text(outcome, style="green" if report.sound else "bold red"),
    ]
    if not report.sound:
        parts = [f"lost in {place}: {n:,}" for place, n in counts.lost_in.items() if n]
        parts += [f"twice in {place}: {n:,}" for place, n in counts.duplicates_in.items() if n]
        lines.append("; ".join(parts))
    lines += [
        f"{fault.service} was away from second {fault.begin:.1f} to {fault.end:.1f}"
        for fault in report.faults
    ]
    return lines


def _rate(per_second: float | None) -> str:
    return "at once" if per_second is None else f"{per_second:,.0f}/s"


def _services(report: RunReport) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("service", "CPU seconds", "peak memory"):
        table.add_column(title, justify="left" if title == "service" else "right")
    for one in report.services or ():
        table.add_row(
            one.service, f"{one.cpu_seconds:.1f}", f"{one.peak_memory_bytes / _MIB:,.0f} MiB"
        )
    if report.measuring_cpu_seconds is not None:
        table.add_row("(measuring)", f"{report.measuring_cpu_seconds:.1f}", "")
    return table


def comparison_table(found: Comparison, a: str, b: str) -> RenderableType:
    """Show every figure of both runs, and how the runs' conditions differ."""
    table = Table(box=None, pad_edge=False)
    table.add_column("figure")
    for title in (a, b, "change"):
        table.add_column(title, justify="right")
    for one in found.differences:
        unit = f", {one.unit}" if one.unit else ""
        table.add_row(one.figure + unit, _figure(one.a), _figure(one.b), _change(one))
    differing = [f"{name}: {x} | {y}" for name, (x, y) in found.conditions.items()]
    return Group(table, *(["", "Not the same:", *differing] if differing else []))


def growth_table(report: GrowthReport) -> RenderableType:
    """Show a line per size: medians (s), Spark's memory, requests per change."""
    table = Table(box=None, pad_edge=False)
    for title in (
        report.growth,
        "p50",
        "p99",
        "to Hudi",
        "query",
        "Spark",
        "requests",
        "files",
        "size",
        "sound",
    ):
        table.add_column(title, justify="right")
    for step in report.steps:
        table.add_row(
            f"{step.at:,}",
            *(
                "-" if taken is None else f"{getattr(taken, name):.3f}"
                for taken, name in (
                    (step.end_to_end, "p50"),
                    (step.end_to_end, "p99"),
                    (step.hudi, "p50"),
                    (step.query, "p50"),
                )
            ),
            _mib(step.silver_memory_bytes),
            _figure(step.requests_per_change),
            f"{step.data_files:,}",
            _mib(step.data_bytes),
            "yes" if step.sound else Text("no", style="bold red"),
        )
    return table


def _mib(size: int | None) -> str:
    return "-" if size is None else f"{size / _MIB:,.0f} MiB"


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"


def _change(one: Difference) -> str:
    return "" if one.change is None else f"{one.change:+.0%}"
