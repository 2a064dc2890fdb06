"""A run's durations are written by phase, the dearest file and test first."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests.running.durations import Durations


def report(nodeid: str, when: str, seconds: float) -> pytest.TestReport:
    return cast(
        "pytest.TestReport", SimpleNamespace(nodeid=nodeid, when=when, duration=seconds, node=None)
    )


def test_durations_are_by_phase_and_the_dearest_come_first(tmp_path: Path) -> None:
    file = tmp_path / "build" / "durations.json"
    durations = Durations(file)
    durations.pytest_runtest_logreport(report("test_a.py::test_1", "setup", 0.25))
    durations.pytest_runtest_logreport(report("test_a.py::test_1", "call", 0.5))
    durations.pytest_runtest_logreport(report("test_b.py::test_2", "call", 2.0))
    durations.pytest_sessionfinish()
    written = json.loads(file.read_text())
    assert written["files"] == {"test_b.py": 2.0, "test_a.py": 0.8}
    assert written["tests"] == [
        {"id": "test_b.py::test_2", "worker": "main", "call": 2.0},
        {"id": "test_a.py::test_1", "worker": "main", "setup": 0.25, "call": 0.5},
    ]
