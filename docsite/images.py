"""The pictures of the documentation: `python -m docsite.images` draws them again."""

from __future__ import annotations

from pathlib import Path

from docsite.charts import growth_chart, hops_chart
from docsite.diagrams import exactly_once, layers, pipeline
from docsite.terminal import terminal_picture

__all__ = ["FOLDER", "pictures"]

FOLDER = Path(__file__).parents[1] / "docs" / "images"


def pictures() -> dict[str, str]:
    """Draw every picture, by its name, from today's figures and code."""
    return {
        "demo.svg": terminal_picture(),
        "exactly-once.svg": exactly_once(),
        "growth-age.svg": growth_chart("age", "changes made by then", ("p50", "p95")),
        "growth-rate.svg": growth_chart("rate", "changes per second", ("p50", "p99")),
        "growth-rows.svg": growth_chart(
            "rows", "rows of the table", ("p50", "p95"), ("rows-heap-2g",)
        ),
        "growth-tables.svg": growth_chart("tables", "tables in the application", ("p50", "p95")),
        "hops.svg": hops_chart(),
        "layers.svg": layers(),
        "pipeline.svg": pipeline(),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, picture in pictures().items():
        (FOLDER / name).write_text(picture, "utf-8")
        print(FOLDER / name)
