"""HTML pages with charts that need no network: each page contains the Plotly script."""

from __future__ import annotations

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

__all__ = ["chart_html", "render_page"]


def chart_html(figure: go.Figure, place: int) -> Markup:
    """Render a chart as part of a page; `place` counts the charts of the page from 0."""
    # Made by Plotly, from numbers and names it encodes itself.
    return Markup(  # noqa: S704
        figure.to_html(
            full_html=False,
            include_plotlyjs=False,
            div_id=f"chart-{place}",
            config={"displaylogo": False, "responsive": True},
        )
    )


def render_page(folder: str, template: str, **values: object) -> str:
    """Render `labctl/<folder>/<template>`: about 5 MB, nearly all of it the script."""
    environment = Environment(
        loader=PackageLoader("labctl", folder), autoescape=True, undefined=StrictUndefined
    )
    script = Markup(get_plotlyjs())  # noqa: S704 - the script Plotly ships
    return environment.get_template(template).render(script=script, **values)
