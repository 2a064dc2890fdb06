"""A report's charts: Plotly figures by heading."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go

from labctl.latency.growth_report import GrowthName, GrowthReport
from labctl.latency.latency_report import HopName, RunReport

__all__ = ["CHARTS", "growth_chart"]

_COLOURS: dict[HopName, str] = {
    "event": "#4c78a8",
    "kafka": "#72b7b2",
    "bronze": "#eeca3b",
    "hudi": "#f58518",
    "query": "#54a24b",
    "end_to_end": "#333333",
}
_HEIGHT = 420
_GIB = 1024**3
_GROWN: dict[GrowthName, str] = {
    "rows": "rows in the table",
    "tables": "tables in the application",
    "rate": "changes per second",
    "age": "changes made to the table",
}
_FAULT = "rgba(214, 39, 40, 0.18)"


def _figure(report: RunReport, x: str, y: str, *, timed: bool = False) -> go.Figure:
    """Return an empty chart; if `timed`, mark the faults along the run's time on `x`."""
    figure = go.Figure()
    figure.update_layout(
        template="plotly_white",
        height=_HEIGHT,
        margin={"l": 60, "r": 20, "t": 20, "b": 50},
        xaxis_title=x,
        yaxis_title=y,
        legend={"orientation": "h", "y": 1.08},
    )
    for fault in report.faults if timed else ():
        figure.add_vrect(
            x0=fault.begin,
            x1=fault.end,
            fillcolor=_FAULT,
            line_width=0,
            annotation_text=f"{fault.service} away",
        )
    return figure


def _over_time(report: RunReport) -> go.Figure:
    """Plot every change (or a sample) by commit time, and the percentiles of each second."""
    figure = _figure(report, "commit, seconds since the first change", "seconds", timed=True)
    for table in (t.table for t in report.tables):
        samples = [s for s in report.samples if s.table == table and s.end_to_end is not None]
        figure.add_scatter(
            x=[s.at for s in samples],
            y=[s.end_to_end for s in samples],
            mode="markers",
            marker={"size": 4, "opacity": 0.5},
            name=table,
            customdata=[[s.event, s.kafka, s.bronze, s.hudi, s.query] for s in samples],
            hovertemplate="%{y:.3f} s: event %{customdata[0]}, kafka %{customdata[1]}, "
            "bronze %{customdata[2]}, hudi %{customdata[3]}, query %{customdata[4]}",
        )
    for name, dash in (("p50", "solid"), ("p99", "dot")):
        figure.add_scatter(
            x=[s.second + 0.5 for s in report.timeline],
            y=[getattr(s, name) for s in report.timeline],
            mode="lines",
            line={"color": _COLOURS["end_to_end"], "width": 1.5, "dash": dash},
            name=f"{name} of a second",
        )
    figure.update_yaxes(rangemode="tozero")
    return figure


def _waterfall(report: RunReport) -> go.Figure:
    """Plot the median of each hop as a bar that begins where the hop before it ends."""
    figure = _figure(report, "seconds (median)", "")
    at = 0.0
    for hop in report.hops:
        if hop.percentiles is None:
            continue
        took = hop.percentiles.p50
        begin = 0.0 if hop.name == "end_to_end" else at
        figure.add_bar(
            x=[took],
            y=[f"{hop.begins} → {hop.ends}"],
            base=[begin],
            orientation="h",
            marker={"color": _COLOURS[hop.name], "opacity": 1.0 if hop.on_the_way else 0.45},
            text=[f"{took:.3f} s" + ("" if hop.on_the_way else " (beside the way)")],
            textposition="auto",
            name=hop.name,
        )
        at += took if hop.on_the_way else 0.0
    figure.update_layout(showlegend=False, margin={"l": 170})
    figure.update_yaxes(autorange="reversed")
    return figure


def _distribution(report: RunReport) -> go.Figure:
    """Plot, for each hop, the share of changes that took at most a number of seconds."""
    figure = _figure(report, "seconds", "share of changes, %")
    for hop in report.hops:
        if hop.distribution:
            figure.add_scatter(
                # A clock's resolution can make a hop seem to take nothing, or less.
                x=[max(value, 0.0005) for value in hop.distribution],
                y=list(range(101)),
                mode="lines",
                line={"color": _COLOURS[hop.name], "width": 3 if hop.name == "end_to_end" else 1.5},
                name=hop.name,
            )
    figure.update_xaxes(type="log")
    return figure


def _throughput(report: RunReport) -> go.Figure:
    """Plot the changes committed and those made queryable in each second, and the lag."""
    figure = _figure(report, "seconds since the first change", "changes per second", timed=True)
    seconds = [s.second + 0.5 for s in report.timeline]
    for name in ("committed", "queryable"):
        figure.add_scatter(
            x=seconds,
            y=[getattr(s, name) for s in report.timeline],
            mode="lines",
            line={"shape": "hvh"},
            name=name,
        )
    figure.add_scatter(
        x=seconds,
        y=[s.lag for s in report.timeline],
        mode="lines",
        fill="tozeroy",
        line={"color": "#b279a2", "width": 1},
        name="lag, changes",
        yaxis="y2",
    )
    figure.update_layout(
        yaxis2={"title": "lag, changes", "overlaying": "y", "side": "right", "rangemode": "tozero"}
    )
    figure.update_yaxes(rangemode="tozero")
    return figure


def growth_chart(report: GrowthReport) -> go.Figure:
    """Plot latency and memory over the size; the x axis is logarithmic from a factor of 100."""
    figure = go.Figure()
    at = [step.at for step in report.steps]
    for name, dash in (("p50", "solid"), ("p99", "dot")):
        figure.add_scatter(
            x=at,
            y=[getattr(step.end_to_end, name, None) for step in report.steps],
            mode="lines+markers",
            line={"color": _COLOURS["end_to_end"], "dash": dash},
            name=f"end to end, {name}",
        )
    figure.add_scatter(
        x=at,
        y=[getattr(step.hudi, "p50", None) for step in report.steps],
        mode="lines+markers",
        line={"color": _COLOURS["hudi"]},
        name="to the Hudi commit, p50",
    )
    figure.add_scatter(
        x=at,
        y=[m and m / _GIB for m in (step.silver_memory_bytes for step in report.steps)],
        mode="lines+markers",
        line={"color": "#b279a2"},
        name="Spark application, GiB",
        yaxis="y2",
    )
    figure.update_layout(
        template="plotly_white",
        height=_HEIGHT,
        xaxis_title=_GROWN[report.growth],
        yaxis={"title": "seconds", "rangemode": "tozero"},
        yaxis2={"title": "GiB", "overlaying": "y", "side": "right", "rangemode": "tozero"},
        legend={"orientation": "h", "y": 1.12},
    )
    if at[-1] >= 100 * at[0]:
        figure.update_xaxes(type="log")
    return figure


CHARTS: dict[str, Callable[[RunReport], go.Figure]] = {
    "Latency over time": _over_time,
    "Where the time goes": _waterfall,
    "Distribution": _distribution,
    "Throughput and lag": _throughput,
}
