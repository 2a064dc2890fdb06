"""Labs of a test's own, and of which it starts what it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from labctl.config.model import find_project
from labctl.lab.down import destroy
from labctl.lab.lab import Lab
from labctl.lab.state import lab_names
from labctl.lab.up import up
from labctl.testing.reporter import TerminalReporter

__all__ = ["NewLab", "Up"]

NewLab = Callable[[str], Lab]
Up = Callable[..., dict[str, str]]


@pytest.fixture
def state_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for the state of labs; pytest's own may be too deep for a unix socket."""
    with TemporaryDirectory(prefix="labctl-") as folder:
        monkeypatch.setenv("XDG_STATE_HOME", folder)
        yield Path(folder)


@pytest.fixture
def new_lab(state_home: Path) -> Iterator[NewLab]:
    """`new_lab("one")`: a lab of this project, destroyed after the test."""
    project = find_project(Path(__file__))
    yield lambda name: Lab.find(name=name, project=project)
    for name in lab_names():
        destroy(Lab.find(name=name, project=project))


@pytest.fixture
def start(request: pytest.FixtureRequest) -> Up:
    """`start(lab, "mysql")`: bring services up; what each said of itself."""
    reporter = TerminalReporter(request.config)
    return lambda lab, *names: up(lab, reporter, names).versions
