"""The time that each phase of each test took, as JSON: `--write-durations FILE`."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from labctl.testing.workers import worker_name

__all__ = ["Durations"]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("running", "this project's own suites")
    group.addoption(
        "--write-durations",
        metavar="FILE",
        help="write the seconds of each test's setup, call and teardown to FILE, as JSON",
    )


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--write-durations")
    if file is not None and worker_name(config) is None:
        config.pluginmanager.register(Durations(Path(file)))


class Durations:
    """Collects the durations of a run; writes them, the dearest file and test first, at its end."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._started = time.monotonic()
        self._phases: dict[str, dict[str, float]] = defaultdict(dict)
        self._workers: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        worker = getattr(report, "node", None)
        self._phases[report.nodeid][report.when] = round(report.duration, 3)
        self._workers[report.nodeid] = worker.gateway.id if worker else "main"

    def pytest_sessionfinish(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(self.to_dict(), indent=1) + "\n", "utf-8")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. All durations are seconds of wall-clock time."""
        files: dict[str, float] = defaultdict(float)
        for nodeid, phases in self._phases.items():
            files[nodeid.partition("::")[0]] += sum(phases.values())
        return {
            "seconds": round(time.monotonic() - self._started, 1),
            "files": {
                name: round(files[name], 1) for name in sorted(files, key=lambda n: -files[n])
            },
            "tests": [
                {"id": nodeid, "worker": self._workers[nodeid], **self._phases[nodeid]}
                for nodeid in sorted(self._phases, key=lambda n: -sum(self._phases[n].values()))
            ],
        }
