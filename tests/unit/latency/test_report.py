"""A run's report: its schema, its file, and two of them compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from labctl.errors import ExitCode, LabError
from labctl.latency.compare import compare
from labctl.latency.html import render_html
from labctl.latency.latency_report import RunReport, schema_text
from tests.unit.latency.traces import report, trace

DOCS = Path(__file__).parents[3] / "docs"
RUN = report([trace(n, at=n / 10, took=0.5) for n in range(50)])


def test_the_documented_schema_is_the_reports() -> None:
    """Made by `python -m labctl.latency.latency_report`."""
    assert (DOCS / "latency.schema.json").read_text() == schema_text()


def test_every_key_of_a_report_is_documented() -> None:
    text = (DOCS / "latency.md").read_text()
    for name in RunReport.model_fields:
        assert f"`{name}`" in text, name


def test_a_report_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(RUN.to_json())
    assert RunReport.load(path) == RUN


@pytest.mark.parametrize(
    "text", ["{}", "no JSON", RUN.to_json().replace('"version": 1', '"version": 2')]
)
def test_what_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(LabError) as raised:
        RunReport.load(path)
    assert str(path) in raised.value.what
    assert raised.value.exit_code is ExitCode.USAGE


def test_a_run_with_a_lost_change_is_not_sound() -> None:
    assert RUN.sound
    assert not report([trace(1, at=0, took=1)], lost=1).sound


def test_a_comparison_says_how_far_the_second_is_from_the_first() -> None:
    slower = report([trace(n, at=n / 10, took=1.0) for n in range(50)], source="bronze")
    found = compare(RUN, slower)
    figures = {one.figure: one for one in found.differences}
    whole = figures["end_to_end.p50"]
    assert (whole.a, whole.b, whole.change) == (0.5, 1.0, 1.0)
    assert figures["lost"].change is None
    assert found.conditions["source"] == ("kafka", "bronze")
    assert "commit" not in found.conditions


def test_a_run_compared_with_itself_has_no_difference() -> None:
    found = compare(RUN, RUN)
    assert found.conditions == {}
    assert {one.change for one in found.differences} <= {None, 0.0}


def test_a_page_fetches_nothing_and_escapes_what_it_shows() -> None:
    named = RUN.model_copy(update={"name": "<script>alert(1)</script>"})
    page = render_html(named)
    head, _, body = page.partition("<body>")
    assert "<script>alert(1)" not in page
    assert "<link" not in head
    assert "src=" not in body
