"""Silver from bronze: the same tables, read from the files instead of the topics.

A view is kept as a table meanwhile, so that it takes no start of the application of its own.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import silver_status
from labctl.lake import Lake, LakeStorage
from labctl.sources import Source
from labctl.testing.eventually import Eventually
from labctl.testing.plugin import SilverReader
from tests.e2e.numbered_load import TARGETS, writing
from tests.e2e.other_settings import other_settings
from tests.e2e.wide_tables import FLEETING, ROWS, WIDE, insert_row

pytestmark = pytest.mark.long

OpenSource = Callable[[str], Source]
Labctl = Callable[..., "subprocess.CompletedProcess[str]"]
Verify = Callable[..., None]
FIRST = 5_000_000
ROWS_EACH = 100
KEPT = "tickit_kept.sales_by_event"
VIEW = """SELECT eventid, count(*) AS sales, sum(qtysold) AS tickets, max(saletime) AS last
FROM tickit.sale GROUP BY eventid"""
GOLD = f"""
[gold]
materialised = ["{KEPT}"]
"""


def from_files(lab_toml: str) -> str:
    return lab_toml.replace('source = "kafka"', 'source = "bronze"', 1) + GOLD


@pytest.fixture(scope="module", autouse=True)
def from_bronze(lab: Lab, lab_project: Path, request: pytest.FixtureRequest) -> Iterator[None]:
    folder, name = KEPT.split(".")
    view = lab_project / "gold" / folder / f"{name}.sql"
    view.parent.mkdir()
    view.write_text(VIEW, encoding="utf-8")
    with other_settings(lab, lab_project, from_files, request.config):
        assert silver_status(lab)["source"] == "bronze"
        yield
        shutil.rmtree(view.parent)
    assert silver_status(lab)["source"] == "kafka"
    # The table stays, and its folder is the user's to remove.
    storage = LakeStorage.of(lab.endpoints.objectstore)
    storage.filesystem.delete_dir(f"{storage.root}/silver/{folder}")


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


def test_a_view_that_is_kept_as_a_table_follows(
    lake: Lake,
    source: OpenSource,
    verify_equal: Verify,
    eventually: Eventually,
) -> None:
    """It was written when the application started, and takes in what has changed since."""

    def is_equal() -> bool:
        kept = lake.query(f"SELECT eventid, sales, tickets, last FROM {KEPT} ORDER BY eventid")
        return kept.to_pylist() == lake.query(f"{VIEW} ORDER BY eventid").to_pylist()

    eventually(lambda: KEPT in lake.table_names())
    mysql = source("mysql")
    events = mysql.execute("SELECT eventid FROM ecomm.sale GROUP BY eventid ORDER BY count(*)")
    (rarest,), (busiest,) = events[0], events[-1]
    mysql.execute("UPDATE ecomm.sale SET qtysold = qtysold + 1 WHERE eventid = %s", (busiest,))
    mysql.execute("DELETE FROM ecomm.sale WHERE eventid = %s", (rarest,))
    verify_equal("sale")
    eventually(is_equal)


def test_a_table_is_rebuilt_from_bronze(
    labctl: Labctl, lab: Lab, lab_project: Path, verify_equal: Verify
) -> None:
    done = labctl("table", "rebuild", "venue", "--lab", lab.name)
    assert done.returncode == 0, done.stderr
    verify_equal("venue")
