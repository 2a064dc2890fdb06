"""The page of a latency run in a real browser: its charts are drawn, and it asks for nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from labctl.latency.html import render_html
from tests.browser import asked_for, find_browser, shown
from tests.unit.latency.traces import report, trace

pytestmark = pytest.mark.long


def test_a_report_opens_in_a_browser(tmp_path: Path) -> None:
    browser, page = find_browser(), tmp_path / "run.html"
    traces = [trace(n, at=n / 10, took=0.3 + n % 7 / 10) for n in range(200)]
    page.write_text(render_html(report(traces)), encoding="utf-8")
    dom = shown(browser, page.as_uri(), tmp_path)
    body = dom[dom.index("<body") :]
    assert body.count("js-plotly-plot") == 4
    # One dot a change, and the outage's bar with its words.
    assert len(re.findall(r'<path class="point[ "]', body)) >= 200
    assert "silver away" in body
    assert "200 changes: lost 0, there twice 0, wrong 0" in body
    assert asked_for(tmp_path) == set()
