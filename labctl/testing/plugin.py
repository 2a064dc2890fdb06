"""pytest plugin: a real lab for tests, and waiting on what happens in it.

Options: `--lab NAME` uses a lab that runs already; `--lab-runtime` says where a new one runs, and
`--lab-profile` which of its profiles it is made with; `--keep-lab` leaves it running. Without
`--lab`, the lab is made for the session and removed at its end; pytest-xdist's workers have one
each.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from labctl.config.endpoints import Endpoints
from labctl.config.model import find_project
from labctl.lab.down import destroy
from labctl.lab.lab import Lab
from labctl.lab.up import up
from labctl.lake import LATEST, Lake, View
from labctl.runtimes.compose.engine import Engine, EngineMissingError
from labctl.runtimes.compose.runtime import ComposeRuntime
from labctl.runtimes.model import Level
from labctl.services import load_config
from labctl.sources import Source, connect
from labctl.testing.eventually import Eventually
from labctl.testing.faults import Faults
from labctl.testing.reporter import TerminalReporter
from lakehouse.table_names import quoted, tables_called

__all__ = [
    "SilverReader",
    "endpoints",
    "eventually",
    "faults",
    "lab",
    "lab_project",
    "lake",
    "silver",
    "source",
]

RUNTIMES = ("native", "compose")
SESSION_LAB = "pytest"
WORKER_VARIABLE = "PYTEST_XDIST_WORKER"

SilverReader = Callable[..., list[dict[str, object]]]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("labctl", "a change-data-capture lab")
    group.addoption("--lab", metavar="NAME", help="use this running lab instead of making one")
    group.addoption(
        "--lab-runtime",
        choices=RUNTIMES,
        default="native",
        help="where the session's lab runs (default: %(default)s)",
    )
    group.addoption(
        "--lab-profile",
        metavar="NAME",
        help="the profile it is made with (default: the first in lab.toml with that runtime)",
    )
    group.addoption(
        "--keep-lab", action="store_true", help="leave the session's lab running afterwards"
    )


@pytest.fixture(scope="session")
def lab_project() -> Path:
    """The project the lab runs; override it to run another one."""
    return find_project()


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest, lab_project: Path) -> Iterator[Lab]:
    """A running lab: the one named by `--lab`, or one made for this session."""
    if name := request.config.getoption("--lab"):
        yield Lab.find(name=name, project=lab_project).require_running()
        return
    profile = _profile(request.config, lab_project)
    if request.config.getoption("--lab-runtime") == "compose":
        _require_engine()
    name = "-".join(filter(None, (SESSION_LAB, os.environ.get(WORKER_VARIABLE))))
    left = Lab.find(name=name, project=lab_project)
    if left.state.exists:
        destroy(left)
    lab = Lab.find(name=name, profile=profile, project=lab_project)
    try:
        if isinstance(runtime := lab.runtime, ComposeRuntime):
            _start_containers(lab, runtime, request.config)
        up(lab, TerminalReporter(request.config))
        yield lab
    finally:
        if lab.state.exists and not request.config.getoption("--keep-lab"):
            destroy(lab)


def _profile(config: pytest.Config, project: Path) -> str:
    """The profile that `--lab-profile` and `--lab-runtime` ask for."""
    profiles = load_config(project / "lab.toml").profiles
    runtime = config.getoption("--lab-runtime")
    fitting = [name for name, profile in profiles.items() if profile.runtime == runtime]
    named = config.getoption("--lab-profile") or next(iter(fitting), None)
    if named not in fitting:
        raise pytest.UsageError(f"lab.toml has no profile {named or ''} with runtime {runtime}")
    return named


def _require_engine() -> None:
    """Skip every test that needs containers where no engine runs them."""
    try:
        Engine().info()
    except EngineMissingError as error:
        pytest.skip(f"no Compose lab on this machine: {error}")


def _start_containers(lab: Lab, runtime: ComposeRuntime, config: pytest.Config) -> None:
    """Start the lab's containers, or skip every test where something they need is missing."""
    from labctl.testing.containers import start_stack

    failed = [check for check in runtime.checks() if check.level is Level.FAIL]
    if failed:
        pytest.skip(f"no Compose lab on this machine: {failed[0].detail} ({failed[0].hint})")
    lab.state.create()
    runtime.fetch(lab.services, TerminalReporter(config))
    try:
        start_stack(runtime)
    except BaseException:
        runtime.remove()
        lab.state.remove()
        raise


@pytest.fixture(scope="session")
def faults(lab: Lab) -> Faults:
    """`faults.kill("kafka")`, `with faults.paused("mysql"): …`: what may happen to services."""
    return Faults(lab)


@pytest.fixture(scope="session")
def endpoints(lab: Lab) -> Endpoints:
    """How to reach the lab's services."""
    return lab.endpoints


@pytest.fixture(scope="session")
def lake(lab: Lab) -> Lake:
    """The lab's silver tables."""
    return Lake(lab.endpoints.objectstore)


@pytest.fixture
def source(endpoints: Endpoints) -> Iterator[Callable[[str], Source]]:
    """`source("mysql")`: an open connection to a source database, one an engine and test."""
    opened: dict[str, Source] = {}

    def open_(engine: str) -> Source:
        if engine not in opened or opened[engine].closed:
            opened[engine] = connect(endpoints, engine)
        return opened[engine]

    yield open_
    for connection in opened.values():
        connection.close()


@pytest.fixture(scope="session")
def silver(lake: Lake) -> SilverReader:
    """`silver("sale", "salesid = 200")`: rows of a silver table as dictionaries.

    Keyword arguments are those of `labctl.lake.View`. A table without a commit has no rows.
    """

    def read(table: str, where: str = "true", **view: object) -> list[dict[str, object]]:
        if not tables_called(table, lake.table_names()):
            return []
        found = lake.table(table)
        if found.timeline().latest is None:
            return []
        shown = View(**view) if view else LATEST  # type: ignore[arg-type]
        answer: pa.Table = lake.query(f"SELECT * FROM {quoted(found.name)} WHERE {where}", shown)  # noqa: S608
        return answer.to_pylist()

    return read


@pytest.fixture
def eventually(lab: Lab) -> Eventually:
    """`eventually(lambda: …)`: wait until it holds; on failure, say where the row is stuck."""
    return Eventually(lab)
