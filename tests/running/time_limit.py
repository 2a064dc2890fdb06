"""A suite that may have to end before it is done: `--time-limit MINUTES`.

After the limit no further test begins. The run names the tests that it left out, and they come
first next time: a file in the user's cache keeps when each test last passed, or was skipped for
another reason. Files with tests that have no such date come first, in a random order whose seed is
printed; the end-to-end tests begin at once on one worker in any case.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.running.scheduling import E2E, group_of

__all__ = ["LastPassed", "in_order"]

_REASON = "left out: the time limit had passed"
_CATEGORY = "left out"
_SETTINGS = "labctl_time_limit"
"""The name under which a worker is told what the main process has decided."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("running", "this project's own suites")
    group.addoption(
        "--time-limit",
        type=float,
        metavar="MINUTES",
        help="begin no test after so many minutes; begin with the tests that passed longest ago",
    )
    group.addoption(
        "--order-seed",
        type=int,
        metavar="N",
        help="the order of tests of which it is not known when they passed (default: random)",
    )


def pytest_configure(config: pytest.Config) -> None:
    minutes = config.getoption("--time-limit")
    if minutes is None:
        return
    settings = getattr(config, "workerinput", {}).get(_SETTINGS)
    if settings is None:
        seed = config.getoption("--order-seed")
        settings = {
            "deadline": time.time() + 60 * minutes,
            "seed": random.randrange(2**32) if seed is None else seed,  # noqa: S311 - an order
            "passed": LastPassed().load(),
        }
        config.pluginmanager.register(_Recorder())
    config.pluginmanager.register(_TimeLimit(settings))


class LastPassed:
    """The file that keeps when tests last passed: times in UTC by node id, shared by checkouts."""

    def __init__(self, file: Path | None = None) -> None:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        self.file = file or cache / "labctl-tests" / "last-passed.json"

    def load(self) -> dict[str, str]:
        """Return what the file says; nothing where it is missing or damaged."""
        try:
            times = json.loads(self.file.read_text("utf-8"))
            return {str(nodeid): str(passed) for nodeid, passed in times.items()}
        except (OSError, ValueError, AttributeError):
            return {}

    def update(self, passed: Mapping[str, str], root: Path) -> None:
        """Add times to the file. Tests whose files are no longer below `root` are dropped."""
        times = {**self.load(), **passed}
        kept = {n: times[n] for n in sorted(times) if (root / n.partition("::")[0]).exists()}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(kept, indent=0) + "\n", "utf-8")
        new.replace(self.file)


def in_order(nodeids: Sequence[str], passed: Mapping[str, str], seed: int) -> list[str]:
    """Return the tests in the order in which a limited run takes them.

    The order is by file and by group, never within a file; a file is as old as its oldest test.
    The end-to-end tests are the first group: one worker is busy with them while others do the rest.
    """
    tie: dict[str, float] = {}
    age: dict[str, str] = {}
    chance = random.Random(seed)  # noqa: S311 - an order, no secret
    for nodeid in nodeids:
        for name in {group_of(nodeid), nodeid.partition("::")[0]}:
            age[name] = min(age.get(name, "~"), passed.get(nodeid, ""))
    for name in sorted(age):
        tie[name] = chance.random()

    def rank(nodeid: str) -> tuple[bool, str, float, str, float]:
        group, file = group_of(nodeid), nodeid.partition("::")[0]
        return group != E2E, age[group], tie[group], age[file], tie[file]

    return sorted(nodeids, key=rank)


class _TimeLimit:
    """Orders the tests, and skips what would begin too late."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings

    def pytest_report_header(self) -> str:
        until = datetime.fromtimestamp(self._settings["deadline"]).astimezone()
        return (
            f"time limit: no test begins after {until:%H:%M:%S}; "
            f"order: --order-seed {self._settings['seed']}, "
            f"{len(self._settings['passed'])} earlier passes known"
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[_SETTINGS] = dict(self._settings)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        by_id = {item.nodeid: item for item in items}
        items[:] = [
            by_id[n] for n in in_order([*by_id], self._settings["passed"], self._settings["seed"])
        ]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if time.time() > self._settings["deadline"]:
            pytest.skip(_REASON)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        return (_CATEGORY, "-", "LEFT OUT") if _is_left_out(report) else None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        reports = terminalreporter.stats.get(_CATEGORY, [])
        if not reports:
            return
        terminalreporter.section(f"{_CATEGORY}: no time was left; first next time")
        files = Counter(report.nodeid.partition("::")[0] for report in reports)
        for file, count in sorted(files.items()):
            last = min(self._settings["passed"].get(r.nodeid, "") for r in reports if _in(r, file))
            tests = "1 test" if count == 1 else f"{count} tests"
            terminalreporter.line(f"{file}: {tests}, last passed {last or '(not known)'}")


class _Recorder:
    """Notes in the main process which tests pass, and keeps it at the end."""

    def __init__(self) -> None:
        self._passed: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        is_done = report.skipped or (report.when == "call" and report.passed)
        if is_done and not _is_left_out(report):
            self._passed[report.nodeid] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        elif report.failed:
            self._passed.pop(report.nodeid, None)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        LastPassed().update(self._passed, session.config.rootpath)


def _is_left_out(report: pytest.TestReport) -> bool:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    return report.skipped and reason.endswith(_REASON)


def _in(report: pytest.TestReport, file: str) -> bool:
    return report.nodeid.startswith(f"{file}::")
