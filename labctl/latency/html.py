"""Rendering a run's report as one page with charts that needs no network."""

from __future__ import annotations

from labctl.latency.charts import CHARTS, growth_chart
from labctl.latency.growth_report import GrowthReport
from labctl.latency.latency_report import RunReport
from labctl.pages import chart_html, render_page

__all__ = ["render_growth", "render_html"]


def render_html(report: RunReport) -> str:
    """Return the page, including the script that draws its charts: about 5 MB."""
    charts = {
        heading: chart_html(make(report), place)
        for place, (heading, make) in enumerate(CHARTS.items())
    }
    return render_page("latency", "page.html.j2", report=report, charts=charts)


def render_growth(report: GrowthReport) -> str:
    """Return the page of a growth measurement: one chart, and a table of its steps."""
    chart = chart_html(growth_chart(report), 0)
    return render_page("latency", "growth.html.j2", report=report, chart=chart)
