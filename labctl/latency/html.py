"""A run's report as one page with charts, that needs no network."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from labctl.latency.charts import CHARTS
from labctl.latency.report import RunReport

__all__ = ["render_html"]

_TEMPLATE = "page.html.j2"


def render_html(report: RunReport) -> str:
    """The page, with the script that draws its charts: about 5 MB."""
    environment = Environment(
        loader=PackageLoader("labctl", "latency"), autoescape=True, undefined=StrictUndefined
    )
    # Script and charts are made by Plotly, from numbers and names it encodes itself.
    charts = {
        heading: Markup(  # noqa: S704
            make(report).to_html(
                full_html=False,
                include_plotlyjs=False,
                div_id=f"chart-{place}",
                config={"displaylogo": False, "responsive": True},
            )
        )
        for place, (heading, make) in enumerate(CHARTS.items())
    }
    return environment.get_template(_TEMPLATE).render(
        report=report,
        charts=charts,
        script=Markup(get_plotlyjs()),  # noqa: S704
    )
