"""Labs of a test's own, and of which it starts what it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from labctl.config.endpoints import Endpoints
from labctl.config.lab_config import (
    ApiSettings,
    CacheSettings,
    MetastoreSettings,
    ThriftServerSettings,
    find_project,
)
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.down import destroy
from labctl.lab.lifecycle.up import up
from labctl.state.lab_state import lab_names
from labctl.testing.reporter import TerminalReporter
from tests import quick_start

__all__ = ["NewLab", "Up"]

NewLab = Callable[[str], Lab]
Up = Callable[..., dict[str, str]]
DATABASES = ("postgres", "mysql", "sqlserver")


@pytest.fixture
def new_lab(state_home: Path) -> Iterator[NewLab]:
    """`new_lab("one")`: a lab of this project with all that it may switch on, destroyed after the
    test."""
    project = find_project(Path(__file__))

    def make(name: str) -> Lab:
        lab = Lab.find(name=name, project=project)
        switched_on = {
            "cache": CacheSettings(enabled=True),
            "api": ApiSettings(enabled=True),
            "metastore": MetastoreSettings(enabled=True),
            "thriftserver": ThriftServerSettings(enabled=True),
            "services": quick_start.SETTINGS,
        }
        return replace(lab, config=lab.config.model_copy(update=switched_on))

    yield make
    for name in lab_names():
        destroy(Lab.find(name=name, project=project))


@pytest.fixture
def start(request: pytest.FixtureRequest) -> Up:
    """`start(lab, "mysql")`: bring services up; what each said of itself."""
    reporter = TerminalReporter(request.config)
    return lambda lab, *names: up(lab, reporter, names).versions


@pytest.fixture(scope="module")
def databases(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A lab of the module's own with its databases alone, or the one named by `--lab`.

    Not of the session's lab: another process may run the end-to-end tests on that one.
    """
    project = find_project(Path(__file__))
    if name := request.config.getoption("--lab"):
        yield Lab.find(name=name, project=project).require_running()
        return
    with TemporaryDirectory(prefix="labctl-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", folder)
        lab = Lab.find(name="databases", project=project)
        try:
            up(lab, TerminalReporter(request.config), DATABASES)
            yield lab
        finally:
            destroy(lab)


@pytest.fixture(scope="module")
def endpoints(databases: Lab) -> Endpoints:
    """Where those databases answer."""
    return databases.endpoints
