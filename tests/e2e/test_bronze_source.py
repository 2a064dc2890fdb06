"""Silver from bronze: the same tables, read from the files instead of the topics."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from labctl.lab.lab import Lab
from labctl.lab.pipeline import silver_status
from labctl.lab.up import up
from labctl.sources import Source
from labctl.testing.eventually import Eventually
from labctl.testing.plugin import SilverReader
from labctl.testing.reporter import TerminalReporter
from tests.e2e.numbered_load import TARGETS, writing
from tests.e2e.wide_tables import FLEETING, ROWS, WIDE, insert_row

OpenSource = Callable[[str], Source]
Labctl = Callable[..., "subprocess.CompletedProcess[str]"]
Verify = Callable[..., None]
FIRST = 5_000_000
ROWS_EACH = 100


def use_source(lab: Lab, project: Path, name: str, config: pytest.Config) -> None:
    """Have silver read from `kafka` or `bronze`, by way of lab.toml and another `up`."""
    other = {"kafka": "bronze", "bronze": "kafka"}[name]
    text = (project / "lab.toml").read_text(encoding="utf-8")
    (project / "lab.toml").write_text(
        text.replace(f'source = "{other}"', f'source = "{name}"', 1), encoding="utf-8"
    )
    up(Lab.find(name=lab.name, project=project), TerminalReporter(config))
    assert silver_status(lab)["source"] == name


@pytest.fixture(scope="module", autouse=True)
def from_bronze(lab: Lab, lab_project: Path, request: pytest.FixtureRequest) -> Iterator[None]:
    use_source(lab, lab_project, "bronze", request.config)
    yield
    use_source(lab, lab_project, "kafka", request.config)


def test_changes_arrive_by_way_of_bronze(
    source: OpenSource, silver: SilverReader, eventually: Eventually, new_key: Callable[[], int]
) -> None:
    mysql, key = source("mysql"), new_key()
    mysql.execute(f"INSERT INTO {FLEETING} VALUES (%s, 'first')", (key,))
    mysql.execute(f"UPDATE {FLEETING} SET note = 'second' WHERE id = %s", (key,))
    row = ("fleeting", {"id": key})
    eventually(lambda: silver("fleeting", f"id = {key} AND note = 'second'"), row=row)
    mysql.execute(f"DELETE FROM {FLEETING} WHERE id = %s", (key,))
    eventually(lambda: not silver("fleeting", f"id = {key}", deleted=True), row=row)


@pytest.mark.parametrize("engine", WIDE)
def test_every_type_arrives_by_way_of_bronze(
    engine: str, source: OpenSource, verify_equal: Verify, new_key: Callable[[], int]
) -> None:
    for kind in ROWS:
        insert_row(source(engine), WIDE[engine], new_key(), kind)
    verify_equal(WIDE[engine].silver)


def test_a_write_load_arrives_complete(
    lab: Lab, verify_equal: Verify, eventually: Eventually
) -> None:
    with writing(lab.endpoints, first=FIRST, seed=1) as load:
        eventually(lambda: min(load.committed.values()) >= ROWS_EACH)
    verify_equal(*(target.silver for target in TARGETS))


def test_a_table_is_rebuilt_from_bronze(
    labctl: Labctl, lab: Lab, lab_project: Path, verify_equal: Verify
) -> None:
    done = labctl("rebuild", "venue", "--lab", lab.name)
    assert done.returncode == 0, done.stderr
    verify_equal("venue")
