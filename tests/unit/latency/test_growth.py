"""What a growth run reports, and the page made of it."""

from __future__ import annotations

from pathlib import Path

from labctl.latency.growth_report import GrowthReport, Step
from labctl.latency.html import render_growth
from labctl.latency.latency_report import Percentiles
from tests.unit.latency.traces import report, trace

DOCS = Path(__file__).parents[3] / "docs"
RUN = report([trace(1, at=0, took=1)])


def step(at: int, seconds: float, *, sound: bool = True) -> Step:
    taken = Percentiles(
        count=1,
        minimum=seconds,
        p50=seconds,
        p90=seconds,
        p95=seconds,
        p99=seconds,
        maximum=seconds,
    )
    return Step(
        at=at,
        end_to_end=taken,
        hudi=taken,
        query=None,
        queryable_per_second=1.0,
        silver_memory_bytes=1024**3,
        lab_memory_bytes=None,
        silver_cpu_seconds_per_change=None,
        requests_per_change=None,
        data_files=3,
        data_bytes=10,
        timeline_files=5,
        sound=sound,
    )


def growth(*steps: Step) -> GrowthReport:
    return GrowthReport(
        growth="rows",
        name="idle",
        scenario=RUN.scenario,
        environment=RUN.environment,
        seed=1,
        table="sale",
        steps=list(steps),
    )


def test_one_unsound_step_makes_the_whole_unsound() -> None:
    assert growth(step(10, 0.5), step(100, 0.6)).sound
    assert not growth(step(10, 0.5), step(100, 0.6, sound=False)).sound


def test_a_page_shows_every_step_also_where_figures_are_unknown() -> None:
    page = render_growth(growth(step(10_000, 0.5), step(1_000_000, 0.75)))
    table = page[page.index('<table id="steps">') :]
    assert "<td>10,000</td>" in table
    assert "<td>0.750</td>" in table
    assert table.count("<td>-</td>") == 4


def test_every_key_of_a_step_is_documented() -> None:
    text = (DOCS / "latency.md").read_text()
    for name in Step.model_fields:
        assert f"`{name}`" in text, name
