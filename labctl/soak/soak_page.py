"""Rendering a soak run's report as one page: latency over time with the faults marked."""

from __future__ import annotations

import plotly.graph_objects as go

from labctl.pages import chart_html, render_page
from labctl.soak.soak_report import SoakReport

__all__ = ["COLOURS", "render_soak"]

_HEIGHT = 460
COLOURS = {
    "kill": "#d62728",
    "pause": "#1f77b4",
    "away": "#ff7f0e",
    "cut-off": "#9467bd",
    "stall": "#17becf",
    "supervisor": "#8c564b",
    "power": "#333333",
}
"""Colours of the faults, by kind."""
_SHORTEST_BAR = 1.0
"""Shortest width of a fault's bar in seconds, so that a kill is visible."""


def render_soak(report: SoakReport) -> str:
    """Return the page, including the script that draws its charts: about 5 MB."""
    charts = {
        "Seconds until a change could be queried": chart_html(_over_time(report), 0),
        "Recovery after each fault": chart_html(_recovery(report), 1),
    }
    return render_page("soak", "page.html.j2", report=report, charts=charts)


def _over_time(report: SoakReport) -> go.Figure:
    """Plot the latency of each second's changes, with a coloured bar for each fault."""
    figure = go.Figure()
    at = [second.second + 0.5 for second in report.timeline]
    for name, dash in (("p50", "solid"), ("maximum", "dot")):
        figure.add_scatter(
            x=at,
            y=[getattr(second, name) for second in report.timeline],
            mode="lines",
            line={"color": "#333333", "width": 1.2, "dash": dash},
            name=f"{name} of the second's changes",
        )
    for fault in report.faults:
        figure.add_vrect(
            x0=fault.begin,
            x1=max(fault.end, fault.begin + _SHORTEST_BAR),
            fillcolor=COLOURS.get(fault.kind, "#999999"),
            opacity=0.35,
            line_width=0,
            annotation_text=f"{fault.kind} {fault.service}",
            annotation_textangle=-90,
            annotation_font_size=9,
        )
    figure.update_layout(
        template="plotly_white",
        height=_HEIGHT,
        xaxis_title="seconds since the run began",
        yaxis_title="seconds",
        legend={"orientation": "h", "y": 1.1},
    )
    return figure


def _recovery(report: SoakReport) -> go.Figure:
    """Plot the recovery time of each fault, by kind and service."""
    figure = go.Figure()
    for kind in dict.fromkeys(fault.kind for fault in report.faults):
        faults = [f for f in report.faults if f.kind == kind]
        figure.add_scatter(
            x=[fault.recovery_seconds for fault in faults],
            y=[fault.service for fault in faults],
            mode="markers",
            marker={"size": 9, "color": COLOURS.get(kind, "#999999"), "opacity": 0.7},
            name=kind,
        )
    figure.update_layout(
        template="plotly_white",
        height=_HEIGHT,
        xaxis={"title": "seconds from the fault's end until fresh data", "rangemode": "tozero"},
        legend={"orientation": "h", "y": 1.1},
    )
    return figure
