"""A second try for tests that failed, alone and on a new lab.

The first run writes down its failures (`--write-failures FOLDER`). The second run has these tests
as its arguments (`pytest -n 0 @FOLDER/failed.txt --second-try FOLDER`): nothing runs beside them,
and no lab, server or process is left from the first run. A test that passes then is flaky: the run
passes, prints both outputs under the heading `flaky`, and adds the test to `.ci/flaky.txt`.
pytest-rerunfailures repeats a test at once, beside the other workers and in the lab that the
failure left behind, so that one service that stays down fails hundreds of tests twice.
"""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from labctl.testing.workers import worker_name

__all__ = ["FLAKY_LIST", "MOST"]

MOST = 200
"""So many failures have one cause, and no second try shows that they were chance."""
FLAKY_LIST = Path(".ci") / "flaky.txt"
_ARGUMENTS, _OUTPUTS = "failed.txt", "failed.json"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("running", "this project's own suites")
    group.addoption(
        "--write-failures",
        metavar="FOLDER",
        help="write the tests that fail, and what they print, to FOLDER, for a second try",
    )
    group.addoption(
        "--second-try",
        metavar="FOLDER",
        help="list the tests that failed in an earlier run and pass in this one as flaky",
    )


def pytest_configure(config: pytest.Config) -> None:
    if worker_name(config) is not None:
        return
    if folder := config.getoption("--write-failures"):
        config.pluginmanager.register(_FirstTry(Path(folder)))
    if folder := config.getoption("--second-try"):
        config.pluginmanager.register(_SecondTry(Path(folder), config.rootpath))


class _FirstTry:
    """Writes down the failures of a run; an earlier run's are removed when it begins."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._outputs: dict[str, list[str]] = {}
        self._finished: set[str] = set()
        self._is_whole = True
        """True if every file could be imported."""
        for name in (_ARGUMENTS, _OUTPUTS):
            (folder / name).unlink(missing_ok=True)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._is_whole = self._is_whole and not report.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._finished.add(report.nodeid)
        if report.failed:
            self._outputs.setdefault(report.nodeid, []).append(_output(report))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        # Of tests that did not run in the first try, a second one says nothing.
        is_whole = self._is_whole and len(self._finished) >= session.testscollected
        if is_whole and 0 < len(self._outputs) <= MOST:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / _OUTPUTS).write_text(json.dumps(self._outputs), "utf-8")
            arguments = "".join(f"{nodeid}\n" for nodeid in self._outputs)
            (self._folder / _ARGUMENTS).write_text(arguments, "utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if len(self._outputs) > MOST:
            terminalreporter.line(f"no second try: more than {MOST} tests failed")


class _SecondTry:
    """Tells the tests that passed this time."""

    def __init__(self, folder: Path, root: Path) -> None:
        self._first: dict[str, list[str]] = json.loads((folder / _OUTPUTS).read_text("utf-8"))
        self._list = root / FLAKY_LIST
        self._second: dict[str, list[pytest.TestReport]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._second.setdefault(report.nodeid, []).append(report)

    @property
    def _flaky(self) -> list[str]:
        """The tests of which every phase passed now."""
        return [
            nodeid
            for nodeid in self._first
            if (reports := self._second.get(nodeid)) and all(r.passed for r in reports)
        ]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        flaky = self._flaky
        for nodeid in sorted(set(self._first) - set(flaky)):
            terminalreporter.line(f"did not pass when it ran again: {nodeid}")
        if not flaky:
            return
        terminalreporter.section("flaky")
        for nodeid in flaky:
            terminalreporter.section(f"{nodeid}: failed", sep="_")
            terminalreporter.line("\n".join(self._first[nodeid]))
            terminalreporter.section(f"{nodeid}: passed when it ran again, alone", sep="_")
            # The last phase's report has what all phases printed.
            terminalreporter.line(_output(self._second[nodeid][-1]))
        terminalreporter.section("flaky", sep="_")
        terminalreporter.line("\n".join(flaky))
        terminalreporter.line(
            f"added to {FLAKY_LIST}: each is a fault of the test or of the product"
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if set(self._first) - set(self._flaky):  # such as one that is skipped this time
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        if flaky := self._flaky:
            now = f"{datetime.now(UTC):%Y-%m-%d} {_commit(self._list.parent)}"
            with self._list.open("a", encoding="utf-8") as file:
                file.writelines(
                    f"{now} {nodeid}: {_reason(self._first[nodeid])}\n" for nodeid in flaky
                )


def _output(report: pytest.TestReport) -> str:
    """Return what a phase of a test printed, and how it failed."""
    parts: list[tuple[str, str]] = [*report.sections]
    if report.failed:
        parts.insert(0, (f"{report.when} failed", report.longreprtext))
    return "\n".join(f"--- {title} ---\n{text}" for title, text in parts)


def _reason(outputs: list[str]) -> str:
    """Return the first error line of a failure, as pytest marks it."""
    lines = (line for output in outputs for line in output.splitlines())
    return next((line[1:].strip() for line in lines if line.startswith("E ")), "(no error line)")


def _commit(folder: Path) -> str:
    git: Any = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return git.stdout.strip() or "(no commit)"
