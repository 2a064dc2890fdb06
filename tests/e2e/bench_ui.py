"""Figures of the page, on a seeded lab that runs: `python -m tests.e2e.bench_ui LAB`.

Prints one JSON object, kept as docs/benchmarks/ui.json. It changes a row, and kills the registry.
"""

from __future__ import annotations

import os
import signal
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Page

from labctl.json_text import to_json
from labctl.lab.lab import Lab
from labctl.lab.observe.service_status import read_status
from labctl.latency.change import followed_row, make_change
from labctl.latency.environment import describe
from tests.ui_page import DESKTOP, SECONDS, browser_of_pages, served_page

_TIMES = 20
_KILLS = 5
_CPU_SECONDS = 20.0
_READY = {
    "/": "tr time",
    "/tables": "main table a",
    "/tables/tickit.venue": "table.rows",
    "/query": "textarea",
    "/services/kafka": "pre.log",
}
"""What says that a page has what it is for."""
_WATCH = """([selector, attribute]) => {
  window.seen = [];
  const look = () => {
    const text = document.querySelector(selector)?.getAttribute(attribute);
    if (text && text !== window.last) window.seen.push([Date.now() / 1000, window.last = text]);
  };
  look();
  new MutationObserver(look).observe(document.body,
    {subtree: true, childList: true, attributes: true, characterData: true});
}"""


def main() -> None:
    """Measure everything and print the figures."""
    load = os.getloadavg()
    lab = Lab.find(name=sys.argv[1]).require_running()
    services = {service.name: service.detail or "" for service in read_status(lab).services}
    with served_page(lab) as (link, server), browser_of_pages() as browser:
        before = _share_of_a_core(server)
        page = browser.new_page(viewport=DESKTOP)
        page.set_default_timeout(SECONDS * 1000)
        page.goto(link)
        page.locator("tr time").first.wait_for()
        figures = {
            "cpu of a core, no viewer": before,
            "cpu of a core, one viewer, quiet lab": _share_of_a_core(server),
            "memory of the page's process, MiB": round(server.memory_info().rss / 1024**2, 1),
            "change seen after it could be queried, s": _changes(lab, page),
            "killed service red after, s": _kills(lab, page),
            "page ready, s": _pages(page, link.partition("/?")[0]),
            "memory with the processes that read the lake, MiB": round(
                sum(one.memory_info().rss for one in [server, *server.children(recursive=True)])
                / 1024**2,
                1,
            ),
        }
    root = Path(__file__).parents[2]
    print(to_json({"environment": asdict(describe(root, services, load)), **figures}))


def _share_of_a_core(server: psutil.Process) -> float:
    begun = sum(server.cpu_times()[:2])
    time.sleep(_CPU_SECONDS)
    return round((sum(server.cpu_times()[:2]) - begun) / _CPU_SECONDS, 4)


def _changes(lab: Lab, page: Page) -> dict[str, float]:
    row = followed_row(lab)
    name = lab.table_of(row.table).name
    seen = []
    page.evaluate(_WATCH, [f"[id='row-{name}'] time", "datetime"])
    for _ in range(_TIMES):
        page.evaluate("window.seen = []")
        make_change(lab, row)
        queried = time.time()
        seen.append(_first(page, "T") - queried)
    return _percentiles(seen)


def _kills(lab: Lab, page: Page) -> dict[str, float]:
    seen = []
    page.evaluate(_WATCH, ["#box-registry", "data-state"])
    for _ in range(_KILLS):
        page.locator("#box-registry[data-state=ready]").wait_for()
        page.evaluate("window.seen = []")
        pid = lab.runtime.states()["registry"].pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        seen.append(-time.time() + _first(page, "down"))
        page.locator("#box-registry[data-state=ready]").wait_for()
    return _percentiles(seen)


def _first(page: Page, text: str) -> float:
    """Return when the page first had `text` in what is watched."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        for at, html in page.evaluate("window.seen"):
            if text in html:
                return float(at)
        time.sleep(0.02)
    raise TimeoutError(text)


def _pages(page: Page, base: str) -> dict[str, Any]:
    found = {}
    for path, selector in _READY.items():
        seconds = []
        for _ in range(_TIMES):
            begun = time.monotonic()
            page.goto(base + path)
            # Playwright's own waits look ever less often.
            while page.query_selector(selector) is None:
                time.sleep(0.005)
            seconds.append(time.monotonic() - begun)
        found[path] = _percentiles(seconds)
    return found


def _percentiles(seconds: Sequence[float]) -> dict[str, float]:
    return {
        "p50": round(statistics.median(seconds), 3),
        "max": round(max(seconds), 3),
        "n": len(seconds),
    }


if __name__ == "__main__":
    main()
