"""pytest plugin: a real lab for tests, and waiting on what happens in it.

`--lab NAME` uses a lab that runs already. Without it a lab is made for the session and removed at
its end; pytest-xdist's workers have one each. docs/testing.md has fixtures and options.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from labctl.config.endpoints import Endpoints
from labctl.config.lab_config import find_project
from labctl.lab.lab import Lab
from labctl.lake import LATEST, Lake, View
from labctl.sources import Source, connect
from labctl.state.proxies import leave_loopback_out
from labctl.testing.eventually import Eventually
from labctl.testing.failure_report import add_account, failures_with_lab, write_page
from labctl.testing.lab_faults import Faults
from labctl.testing.named_tables import known_table
from labctl.testing.session_lab import SessionLab, make_lab, plainly, running_lab
from labctl.testing.workers import take_ports, worker_name
from lakecontract.table_names import quoted, tables_called
from sqlapi.hudi.table_copies import TableCopies

__all__ = [
    "SilverReader",
    "clean_lab",
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
SESSION = pytest.StashKey[SessionLab]()
"""The session's lab, once a test has asked for it."""

SilverReader = Callable[..., list[dict[str, object]]]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("labctl", "a change-data-capture lab")
    group.addoption(
        "--lab",
        metavar="NAME",
        help="use this running lab; without it, or empty, make one for the session",
    )
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
        "--lab-snapshot",
        metavar="NAME",
        help="begin the session's lab as in this snapshot; save it where there is none",
    )
    group.addoption(
        "--lab-keep",
        "--keep-lab",
        action="store_true",
        help="leave the session's lab running afterwards",
    )


def pytest_configure(config: pytest.Config) -> None:
    leave_loopback_out()
    if config.getoption("--lab") and config.getoption("--lab-snapshot"):
        raise pytest.UsageError(
            "--lab-snapshot is for a lab of the session's own: "
            f"--lab {config.getoption('--lab')} stays as it is (`--lab=` takes it back)"
        )
    if worker := worker_name(config):
        take_ports(worker, config.workerinput["workercount"])  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def lab_project() -> Path:
    """Find the project's folder, around the working directory or in `LABCTL_PROJECT`.

    Override this fixture in `conftest.py` to run another project.
    """
    with plainly():
        return find_project()


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest, lab_project: Path) -> Iterator[Lab]:
    """Provide a running lab: the lab that `--lab` names, or a new one for this session."""
    config, name = request.config, request.config.getoption("--lab")
    with plainly():
        session = running_lab(name, lab_project, config) if name else make_lab(lab_project, config)
    config.stash[SESSION] = session
    try:
        wanted = any("clean_lab" in getattr(i, "fixturenames", ()) for i in request.session.items)
        with plainly():
            if wanted and session.why_no_way_back is None:
                session.save_start()
        yield session.lab
    finally:
        with plainly():
            session.end(keep=config.getoption("--lab-keep"))


@pytest.fixture
def clean_lab(request: pytest.FixtureRequest, lab: Lab) -> Lab:
    """Provide the lab as it was when the session began, or as in `--lab-snapshot`'s snapshot.

    If an earlier test used it, labctl first stops the lab, restores its files and restarts it. A
    lab that `--lab` names is restored at the end, too. Labs in containers cannot be restored.
    """
    session = request.config.stash[SESSION]
    with plainly():
        if why := session.why_no_way_back:
            pytest.skip(why)
        session.go_back()
    return lab


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    session = item.config.stash.get(SESSION, None)
    if session is not None and getattr(item, "funcargs", {}).get("lab") is session.lab:
        session.is_touched = True
        if report.failed and report.when != "teardown":
            add_account(report, session.lab, call.excinfo and call.excinfo.value)
    return report


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    stats = terminalreporter.stats
    failures = failures_with_lab([*stats.get("failed", []), *stats.get("error", [])])
    cache = getattr(config, "cache", None)  # pytest can be told to have none
    if failures and cache is not None:
        page = write_page(cache.mkdir("labctl"), failures)
        terminalreporter.write_line(f"logs and states of each failure: {page.as_uri()}")


@pytest.fixture(scope="session")
def faults(lab: Lab) -> Faults:
    """Faults on purpose: `faults.kill("kafka")`, `with faults.paused("mysql"): …`."""
    return Faults(lab)


@pytest.fixture(scope="session")
def endpoints(lab: Lab) -> Endpoints:
    """Provide the addresses of the lab's services."""
    return lab.endpoints


@pytest.fixture(scope="session")
def lake(lab: Lab) -> Lake:
    """Provide the reader of the lab's silver tables."""
    return Lake(lab.endpoints.objectstore, copies=TableCopies())


@pytest.fixture
def source(endpoints: Endpoints) -> Iterator[Callable[[str], Source]]:
    """`source("orders")` is an open connection to that source, the same one throughout a test.

    `execute(sql, parameters)` returns rows, `affect` returns how many rows it changed, and
    `transaction()` is a block that is committed at its end. It is no DB-API connection and has no
    cursor.
    """
    opened: dict[str, Source] = {}

    def open_(name: str) -> Source:
        if name not in opened or opened[name].closed:
            opened[name] = connect(endpoints, name)
        return opened[name]

    yield open_
    for connection in opened.values():
        connection.close()


@pytest.fixture(scope="session")
def silver(lab: Lab, lake: Lake) -> SilverReader:
    """`silver("sale", "salesid = 200")` returns rows of a silver table, as dictionaries.

    Write `moma_cow.artists` if several tables have the name. Other arguments are those of
    `labctl.lake.View`: `deleted=True` adds rows that the source has deleted. A table without a
    commit has no rows; a name that neither the project nor the lake has is an error. Copies of the
    files that were read stay on this machine as long as the tests run, 512 MiB at most.
    """

    def read(table: str, where: str = "true", **view: object) -> list[dict[str, object]]:
        names = lake.table_names()
        if not tables_called(table, names):
            known_table(lab, table)
            return []
        found = lake.table(table, names)
        if found.timeline().latest is None:
            return []
        shown = View(**view) if view else LATEST  # type: ignore[arg-type]
        sql = f"SELECT * FROM {quoted(found.name)} WHERE {where}"  # noqa: S608
        answer: pa.Table = lake.query(sql, shown, names=names)
        return answer.to_pylist()

    return read


@pytest.fixture
def eventually(lab: Lab) -> Eventually:
    """`eventually(lambda: …)` waits until something holds: 180 s, or as long as `seconds=` says.

    With `row=("sale", {"salesid": 200})` a failure says how far that row got.
    """
    return Eventually(lab)
