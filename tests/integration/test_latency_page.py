"""The page of a latency run in a real browser: its charts are drawn, and it asks for nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from labctl.latency.html import render_html
from tests.unit.latency.traces import report, trace

BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")
SECONDS = 120.0


@pytest.fixture(scope="session")
def browser() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(
            f"no browser: none of {', '.join(BROWSERS)} is on the PATH; "
            "apt-get install chromium-headless-shell"
        )
    return found


def dump_dom(browser: str, page: Path, profile: Path, log: Path) -> str:
    """The page as it is once its scripts have run; the browser's network log goes to `log`."""
    done = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={profile}",
            f"--log-net-log={log}",
            "--enable-logging=stderr",
            "--virtual-time-budget=10000",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Uncaught" not in done.stderr, done.stderr[-2000:]
    return done.stdout


def test_a_report_opens_in_a_browser(browser: str, tmp_path: Path) -> None:
    page, log = tmp_path / "run.html", tmp_path / "net.json"
    traces = [trace(n, at=n / 10, took=0.3 + n % 7 / 10) for n in range(200)]
    page.write_text(render_html(report(traces)), encoding="utf-8")
    dom = dump_dom(browser, page, tmp_path / "profile", log)
    body = dom[dom.index("<body") :]
    assert body.count("js-plotly-plot") == 4
    # One dot a change, and the outage's bar with its words.
    assert len(re.findall(r'<path class="point[ "]', body)) >= 200
    assert "silver away" in body
    assert "200 changes: lost 0, there twice 0, wrong 0" in body
    asked = set(re.findall(r'"url":"(https?://[^"]+)"', log.read_text(errors="replace")))
    assert not asked, asked
