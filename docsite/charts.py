"""The charts of docs/latency.md, drawn from the figures in docs/benchmarks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docsite.svg import EDGE, Drawing

__all__ = ["growth_chart", "hops_chart"]

BENCHMARKS = Path(__file__).parents[1] / "docs" / "benchmarks"
COLOURS = ("#00796b", "#e65100", "#5e35b1", "#1565c0")
LEFT, TOP, RIGHT, BOTTOM = 60, 50, 30, 60
WIDTH, HEIGHT = 720, 300


def growth_chart(name: str, at: str, shown: Sequence[str], others: Sequence[str] = ()) -> str:
    """Percentiles end to end by the size that grew; `others` are files whose steps win."""
    steps: dict[int, Any] = {}
    for file in (name, *others):
        steps |= {step["at"]: step for step in _figures(f"growth/{file}.json")["steps"]}
    sizes = sorted(steps)
    top = max(steps[size]["end_to_end"][one] for size in sizes for one in shown)
    top = next(limit for limit in (1, 1.5, 2, 3, 4, 5, 6, 8, 10, 20, 40) if limit >= top)
    picture = Drawing(WIDTH, HEIGHT, f"Seconds from commit to query, by {at}")

    def x(number: int) -> float:
        return LEFT + 30 + number * (WIDTH - LEFT - RIGHT - 60) / max(1, len(sizes) - 1)

    def y(seconds: float) -> float:
        return HEIGHT - BOTTOM - seconds / top * (HEIGHT - TOP - BOTTOM)

    for part in range(5):
        level = top * part / 4
        picture.line([(LEFT, y(level)), (WIDTH - RIGHT, y(level))], EDGE, 0.5)
        picture.text(LEFT - 8, y(level), f"{level:g}", faint=True, anchor="end")
    for number, size in enumerate(sizes):
        picture.text(x(number), HEIGHT - BOTTOM + 18, f"{size:,}", faint=True)
    for one, colour in zip(shown, COLOURS, strict=False):
        seconds = [steps[size]["end_to_end"][one] for size in sizes]
        picture.line([(x(i), y(s)) for i, s in enumerate(seconds)], colour)
        for number, value in enumerate(seconds):
            picture.bar(x(number) - 3, y(value) - 3, 6, 6, colour)
            picture.text(x(number), y(value) - 13, f"{value:.2f}", size=11)
    for number, (one, colour) in enumerate(zip(shown, COLOURS, strict=False)):
        picture.bar(LEFT + 80 * number, 20, 14, 8, colour)
        picture.text(LEFT + 20 + 80 * number, 24, one, anchor="start")
    picture.text(WIDTH - RIGHT, 24, "seconds from commit to query", faint=True, anchor="end")
    picture.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 20, at, faint=True)
    return picture.svg()


def hops_chart() -> str:
    """Draw the time of one change: the mean of each hop on the way, as p50."""
    run = _figures("latency/idle.json")
    hops = {hop["name"]: hop["percentiles"]["p50"] for hop in run["hops"] if hop["on_the_way"]}
    total = hops.pop("end_to_end")
    labels = {
        "event": "the database confirms, Debezium reads",
        "kafka": "Debezium's poll, and into Kafka",
        "hudi": "Spark writes and commits",
        "query": "a query returns the row",
    }
    picture = Drawing(WIDTH, 250, "Where the time of one change goes")
    picture.text(
        20, 24, f"One row, end to end {total:.2f} s (p50). Each hop by itself, p50:", anchor="start"
    )
    scale = (WIDTH - 420) / max(hops.values())
    for number, (name, seconds) in enumerate(hops.items()):
        y = 60 + 45 * number
        picture.text(300, y + 10, labels[name], anchor="end")
        picture.bar(315, y, max(1.0, seconds * scale), 20, COLOURS[number])
        picture.text(325 + seconds * scale, y + 10, f"{seconds:.3f} s", anchor="start")
    return picture.svg()


def _figures(name: str) -> Any:
    return json.loads((BENCHMARKS / name).read_text("utf-8"))
