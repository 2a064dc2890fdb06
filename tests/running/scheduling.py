"""Which tests run side by side in pytest-xdist's workers, and failures named when they happen."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

__all__ = ["E2E", "group_of"]

E2E = "tests/e2e"
"""The group of the tests that share one lab."""
_PACKAGES = 3
"""`tests/integration/spark` has so many folders; its tests, and those of packages below it, share
what is dear to start."""


# pytest itself makes its reporter as the last of all others.
@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    if terminal := config.pluginmanager.get_plugin("terminalreporter"):
        config.pluginmanager.register(_FailuresAtOnce(terminal))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> _GroupScheduling:
    """Return the scheduler for `pytest -n 2`."""
    config.option.loadscopereorder = False
    return _GroupScheduling(config, log)


def group_of(nodeid: str) -> str:
    """Return the name of the group whose tests one worker runs, given a test's node id.

    A group is `tests/e2e`, whose tests share one lab; a package of the other tests, which shares
    servers; or a file.
    """
    file = nodeid.partition("::")[0]
    folders = file.split("/")[:-1]
    if "/".join(folders[:2]) == E2E:
        return E2E
    return "/".join(folders) if len(folders) >= _PACKAGES else file


class _GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a worker a whole group. Groups start in the order of their first tests."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def remove_node(self, node: Any) -> str | None:
        """Give up a worker. Its finished groups are not given to another, who would wait for ever
        for a test of theirs."""
        groups = self.assigned_work[node]
        for name in [name for name, tests in groups.items() if all(tests.values())]:
            del groups[name]
        crashed: str | None = super().remove_node(node)
        return crashed


class _FailuresAtOnce:
    """Prints a test's name when it fails; the full report follows at the end of the run."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._terminal.ensure_newline()
            self._terminal.write_line(f"FAILED {report.nodeid} ({report.when})")
