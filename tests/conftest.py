"""What all tests share: how their processes take Ctrl-C, and which of them may run side by side."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# Modules that tests share fail with values too, not with a bare AssertionError.
pytest.register_assert_rewrite("tests.e2e", "tests.integration", "tests.unit")

PACKAGES = 3
"""`tests/integration/spark`: so many folders, and the tests below share what is dear to start."""


def pytest_configure(config: pytest.Config) -> None:
    # In a shell's background job Ctrl-C is ignored, and so it would be by all that tests start,
    # those that interrupt a command among them.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if terminal := config.pluginmanager.get_plugin("terminalreporter"):
        config.pluginmanager.register(FailuresAtOnce(terminal))


class FailuresAtOnce:
    """Names a test when it fails: its account follows at the end, some half an hour later."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._terminal.ensure_newline()
            self._terminal.write_line(f"FAILED {report.nodeid} ({report.when})")


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """One worker takes a whole group, and in the order of their files: `tests/e2e` is the first."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> GroupScheduling:
    """How workers share the tests (`pytest -n 2`)."""
    config.option.loadscopereorder = False
    return GroupScheduling(config, log)


def group_of(nodeid: str) -> str:
    """`tests/e2e`, which has one lab; a package of the others', which shares servers; or a file."""
    file = nodeid.partition("::")[0]
    folders = file.split("/")[:-1]
    if folders[:2] == ["tests", "e2e"]:
        return "tests/e2e"
    return "/".join(folders) if len(folders) >= PACKAGES else file


@pytest.fixture
def state_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for the state of labs; pytest's own may be too deep for a unix socket."""
    with TemporaryDirectory(prefix="labctl-") as folder:
        monkeypatch.setenv("XDG_STATE_HOME", folder)
        yield Path(folder)
