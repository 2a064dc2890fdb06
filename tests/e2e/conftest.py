"""One lab for the whole suite: a copy of the project with further tables, seeded."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

import pytest

from labctl.config.lab_config import find_project
from labctl.datasets import prepare
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.seeding import seed_lab
from labctl.lab.tables.verification import verify_lab
from labctl.lake import Lake
from labctl.sources import connect
from labctl.state.lab_state import LabState
from labctl.tables import PROPERTIES
from labctl.testing.eventually import Eventually
from labctl.testing.lab_faults import Faults
from labctl.verify import State, VerifyReport
from seeds.tickit import DATA_SET
from tests import quick_start
from tests.e2e.bronze_check import end_offsets
from tests.e2e.fault_trial import Trial, Verify
from tests.e2e.numbered_load import TARGETS, writing
from tests.e2e.second_source import ORDERS, SOURCE, add_second_source
from tests.e2e.suite_snapshot import (
    keep_loaded_lab,
    snapshot_name,
    start_from_loaded_lab,
)
from tests.e2e.wide_tables import (
    CHANGING,
    DDL,
    EXTRA_PROPERTIES,
    FLEETING,
    GREGORIAN,
    PARTED,
    ROWS,
    SIX_DIGITS,
    SPARE,
    WIDE,
    insert_row,
)

SNAPSHOT_SECONDS = 1200.0
VERIFY_SECONDS = 300.0
COMMAND_SECONDS = 600.0

SCALE = 0.1
"""How much of the data set a lab of the tests' own has. The whole of it is loaded by `make demo`,
which compares all rows, and by `pytest -m soak tests/e2e/test_snapshot.py`."""

SWITCHED_ON = """
[cache]
enabled = true

[api]
enabled = true
"""
"""What the lab of the tests has, and another may be without."""

Labctl = Callable[..., "subprocess.CompletedProcess[str]"]
STARTS_LOADED = pytest.StashKey[bool]()
"""True if the session's lab starts from the snapshot that an earlier session kept."""
LOADED = pytest.StashKey[str]()
"""The name of that snapshot, for a lab of the session's own."""


@pytest.fixture(scope="session")
def lab_project(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A copy of the project, with a properties file for each further table, and a second source."""
    if name := request.config.getoption("--lab"):
        yield Path(LabState(name).require().load()["project"])
        return
    project = find_project(Path(__file__))
    folder = Path(mkdtemp(prefix="labctl-e2e-"))
    shutil.copy(project / "lab.toml", folder)
    for part in ("connectors", "gold", "queries", "scenarios", "spark"):
        shutil.copytree(project / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in EXTRA_PROPERTIES.items():
        (folder / PROPERTIES / name).write_text(text, encoding="utf-8")
    add_second_source(folder)
    with (folder / "lab.toml").open("a", encoding="utf-8") as lab_toml:
        lab_toml.write(SWITCHED_ON + quick_start.TOML)
    name = snapshot_name(project)
    request.config.stash[LOADED] = name
    request.config.stash[STARTS_LOADED] = start_from_loaded_lab(request.config, name)
    yield folder
    if not request.config.getoption("--lab-keep"):
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def scale(request: pytest.FixtureRequest) -> float:
    """How much of the data set: all in a lab that `--lab` names."""
    return 1.0 if request.config.getoption("--lab") else SCALE


@pytest.fixture(scope="session", autouse=True)
def snapshot(request: pytest.FixtureRequest, lab: Lab, scale: float) -> VerifyReport:
    """The comparison of all tables after the first load, before any test changes a row."""
    if request.config.stash.get(STARTS_LOADED, False):
        return verify_lab(lab, timeout=SNAPSHOT_SECONDS)
    _load(lab, scale)
    report = verify_lab(lab, timeout=SNAPSHOT_SECONDS)
    if report.equal and LOADED in request.config.stash:
        keep_loaded_lab(request.config, request.config.stash[LOADED], lab)
    return report


def _load(lab: Lab, scale: float) -> None:
    """Make all tables of the suite, and fill them."""
    prepare(lab.endpoints, DATA_SET)
    for engine, table in WIDE.items():
        with connect(lab.endpoints, engine) as source:
            for statement in DDL[engine]:
                source.execute(statement)
            source.execute(f"DELETE FROM {table.ref}")
            for key, kind in enumerate(ROWS):
                insert_row(source, table, key, kind, loaded=True)
            source.execute(f"DELETE FROM {CHANGING[engine]}")
            source.execute(f"INSERT INTO {CHANGING[engine]} VALUES (0, 'loaded')")
    with connect(lab.endpoints, "postgres") as source:
        source.execute(f"DELETE FROM {PARTED}")
        source.execute(f"INSERT INTO {PARTED} VALUES (0, 'loaded')")
    with connect(lab.endpoints, "mysql") as source:
        source.execute(f"DELETE FROM {FLEETING}")
        source.execute(f"INSERT INTO {FLEETING} VALUES (0, 'first')")
        source.execute(f"DELETE FROM {SPARE}")
        source.execute(f"INSERT INTO {SPARE} VALUES (0, 0)")
    with connect(lab.endpoints, SOURCE) as source:
        source.execute(f"CREATE TABLE IF NOT EXISTS {ORDERS} (id integer PRIMARY KEY, note text)")
        source.execute(f"DELETE FROM {ORDERS}")
        source.execute(f"INSERT INTO {ORDERS} VALUES (1, 'first')")
    seed_lab(lab, scale=scale, reset=True)


@pytest.fixture(scope="session")
def new_key() -> Callable[[], int]:
    """Keys that no row of the data set has."""
    keys = count(3_000_000)
    return lambda: next(keys)


@pytest.fixture(scope="session")
def verify_equal(lab: Lab) -> Verify:
    """`verify_equal("sale")`: wait until tables (default: all) equal their sources, or fail."""

    def verify(*names: str) -> None:
        report = verify_lab(lab, names, timeout=VERIFY_SECONDS)
        unequal = [verdict for verdict in report.tables if verdict.state is not State.EQUAL]
        assert not unequal, "\n".join(map(str, unequal))

    return verify


@pytest.fixture
def exact_snapshot(lab: Lab) -> None:
    """No row has a value that Debezium's load of a table reads less exactly (docs/types.md)."""
    table = WIDE["postgres"].ref
    with connect(lab.endpoints, "postgres") as source:
        source.execute(
            f"DELETE FROM {table} WHERE c_timestamp < {GREGORIAN} OR c_timestamptz < {GREGORIAN}"
        )
    with connect(lab.endpoints, "mysql") as source:
        source.execute(f"DELETE FROM {WIDE['mysql'].ref} WHERE ABS(c_float) > {SIX_DIGITS}")


@pytest.fixture(scope="session")
def labctl(lab_project: Path, lab: Lab) -> Labctl:
    """`labctl("query", "SELECT 1")`: run the real command line in the project's folder.

    Further labs that it makes are of the session's profile, too.
    """

    def run(
        *arguments: str, project: Path = lab_project, seconds: float = COMMAND_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "labctl", *arguments],
            cwd=project,
            env={**os.environ, "LABCTL_PROFILE": lab.profile},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def first_number() -> Callable[[], int]:
    """Where a load begins to number its rows: a million apart."""
    numbers = count(10_000_000, 1_000_000)
    return lambda: next(numbers)


@pytest.fixture
def trial(
    lab: Lab,
    faults: Faults,
    lake: Lake,
    verify_equal: Verify,
    eventually: Eventually,
    first_number: Callable[[], int],
) -> Iterator[Trial]:
    """A write load on all databases, and what may happen to the lab meanwhile."""
    topics = [lab.table(target.silver).topic for target in TARGETS]
    ends = {topic: end_offsets(lab.endpoints, topic) for topic in topics}
    seed = random.randrange(2**32)  # noqa: S311 - not a secret
    with writing(lab.endpoints, first=first_number(), seed=seed) as load:
        yield Trial(lab, faults, load, ends, lake, verify_equal, eventually)
