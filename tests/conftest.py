"""What all tests share: the plugins that run them, and how their processes take Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings

# How long an example takes says how loaded the machine is.
settings.register_profile("tests", settings(), deadline=None)
settings.load_profile("tests")

# Modules that tests share fail with values too, not with a bare AssertionError.
pytest.register_assert_rewrite("tests.e2e", "tests.integration", "tests.unit")

pytest_plugins = [
    "tests.running.scheduling",
    "tests.running.durations",
    "tests.running.second_try",
    "tests.running.time_limit",
]


def pytest_configure() -> None:
    # In a shell's background job Ctrl-C is ignored, and so it would be by all that tests start,
    # those that interrupt a command among them.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def state_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for the state of labs; pytest's own may be too deep for a unix socket."""
    with TemporaryDirectory(prefix="labctl-") as folder:
        monkeypatch.setenv("XDG_STATE_HOME", folder)
        yield Path(folder)
