"""The report of a failed test: the state of its lab, and a page with the ends of its logs."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from labctl.lab.lab import Lab
from labctl.state.lab_state import write_private
from labctl.testing.eventually import StuckError
from labctl.testing.trace import end_of_log, trace_row

__all__ = ["add_account", "failures_with_lab", "write_page"]

LOG_LINES = 200
"""Number of log lines per service on the page."""
_LOGS = "labctl_logs"
"""Attribute of a report: ends of logs by service. pytest-xdist passes a report's attributes on."""
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
h2 { border-top: 1px solid #8886; padding-top: 1rem; font-size: 1.1rem }
pre { overflow-x: auto; background: #8881; padding: .7rem; font-size: 13px }
"""


def add_account(report: pytest.TestReport, lab: Lab, error: BaseException | None) -> None:
    """Add the state of the lab at that moment to the report of a failed test."""
    if not isinstance(error, StuckError):  # its message has it, for the row that was waited for
        report.sections.append((f"lab {lab.name}", "\n".join(trace_row(lab, None))))
    logs = {s.name: end_of_log(lab, s.name, LOG_LINES) for s in lab.services}
    setattr(report, _LOGS, logs)


def failures_with_lab(reports: Iterable[object]) -> list[pytest.TestReport]:
    """Return the reports that `add_account` has added an account to."""
    found = [report for report in reports if hasattr(report, _LOGS)]
    return [report for report in found if isinstance(report, pytest.TestReport)]


def write_page(folder: Path, failures: Iterable[pytest.TestReport]) -> Path:
    """Write the page of a run whose tests failed, and return its path. It needs no other file."""
    path = folder / "run.html"
    now = datetime.now().astimezone()
    body = "".join(part for report in failures for part in _failure(report))
    write_private(
        path,
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Failed tests</title>'
        f"<style>{_STYLE}</style></head><body><h1>Failed tests</h1><p>{now:%Y-%m-%d %H:%M:%S %Z}"
        f"</p>{body}</body></html>\n",
    )
    return path


def _failure(report: pytest.TestReport) -> Iterator[str]:
    yield f"<h2>{html.escape(report.nodeid)} ({report.when})</h2>"
    yield _block(report.longreprtext)
    for title, text in report.sections:
        yield f"<h3>{html.escape(title)}</h3>{_block(text)}"
    for service, lines in getattr(report, _LOGS).items():
        summary = f"log of {service}, its last {len(lines)} lines"
        yield f"<details><summary>{html.escape(summary)}</summary>"
        yield _block("\n".join(lines)) + "</details>"


def _block(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"
