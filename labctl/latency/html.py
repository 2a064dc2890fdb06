"""A run's report as one page with charts, that needs no network."""

from __future__ import annotations

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from labctl.latency.charts import CHARTS, growth_chart
from labctl.latency.growth_report import GrowthReport
from labctl.latency.report import RunReport

__all__ = ["render_growth", "render_html"]


def render_html(report: RunReport) -> str:
    """The page, with the script that draws its charts: about 5 MB."""
    charts = {
        heading: _chart(make(report), place) for place, (heading, make) in enumerate(CHARTS.items())
    }
    return _page("page.html.j2", report=report, charts=charts)


def render_growth(report: GrowthReport) -> str:
    """The same for a growth measurement: one chart, and a table of its steps."""
    return _page("growth.html.j2", report=report, chart=_chart(growth_chart(report), 0))


def _chart(figure: go.Figure, place: int) -> Markup:
    # Made by Plotly, from numbers and names it encodes itself.
    return Markup(  # noqa: S704
        figure.to_html(
            full_html=False,
            include_plotlyjs=False,
            div_id=f"chart-{place}",
            config={"displaylogo": False, "responsive": True},
        )
    )


def _page(template: str, **values: object) -> str:
    environment = Environment(
        loader=PackageLoader("labctl", "latency"), autoescape=True, undefined=StrictUndefined
    )
    script = Markup(get_plotlyjs())  # noqa: S704 - the script Plotly ships
    return environment.get_template(template).render(script=script, **values)
