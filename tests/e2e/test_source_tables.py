"""A source's tables change under the lab in ways that silver cannot follow: it says so."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator

import pytest

from labctl.errors import ExitCode
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import read_pipeline
from labctl.sources import Source
from labctl.testing.eventually import Eventually
from labctl.testing.plugin import SilverReader
from tests.e2e.wide_tables import FLEETING, SPARE

pytestmark = pytest.mark.long

Labctl = Callable[..., "subprocess.CompletedProcess[str]"]
Verify = Callable[..., None]
WAIT_SECONDS = 300.0


@pytest.fixture
def mysql(source: Callable[[str], Source]) -> Iterator[Source]:
    """The source, its table put back as it was."""
    mysql = source("mysql")
    yield mysql
    tables = mysql.tables(SPARE.schema)
    if SPARE not in tables:
        mysql.execute(f"RENAME TABLE {SPARE}_aside TO {SPARE}")
    if not mysql.describe(SPARE).keys:
        mysql.execute(f"ALTER TABLE {SPARE} ADD PRIMARY KEY (id)")


def spare_problem(lab: Lab) -> str | None:
    found = read_pipeline(lab).problems()
    return next((one for one in found if one.startswith(f"table tickit.{SPARE.name}")), None)


def test_a_type_that_no_column_of_the_table_can_hold(
    mysql: Source,
    lab: Lab,
    labctl: Labctl,
    silver: SilverReader,
    new_key: Callable[[], int],
    eventually: Eventually,
    verify_equal: Verify,
) -> None:
    key = new_key()
    mysql.execute(f"INSERT INTO {SPARE} VALUES ({key}, 7)")
    verify_equal(SPARE.name)
    mysql.execute(f"ALTER TABLE {SPARE} MODIFY n varchar(20)")
    mysql.execute(f"UPDATE {SPARE} SET n = 'seven' WHERE id = {key}")
    said = eventually(lambda: spare_problem(lab), seconds=WAIT_SECONDS)
    assert said is not None
    assert "spare.n is int, but now arrives as string" in said
    assert "labctl table rebuild tickit.spare" in said
    done = labctl("table", "rebuild", SPARE.name, "--lab", lab.name)
    assert done.returncode == ExitCode.OK, done.stderr
    verify_equal(SPARE.name)
    assert silver(SPARE.name, f"id = {key}")[0]["n"] == "seven"


@pytest.mark.parametrize("fate", ["renamed", "dropped"])
def test_a_table_that_is_gone_and_comes_back(
    fate: str,
    mysql: Source,
    lab: Lab,
    silver: SilverReader,
    new_key: Callable[[], int],
    eventually: Eventually,
    verify_equal: Verify,
) -> None:
    """The other tables' changes go on."""
    key = new_key()
    if fate == "renamed":
        verify_equal(SPARE.name)
        mysql.execute(f"RENAME TABLE {SPARE} TO {SPARE}_aside")
    else:
        # The rows are deleted before: no record says that they went with their table.
        mysql.execute(f"DELETE FROM {SPARE}")
        verify_equal(SPARE.name)
        mysql.execute(f"CREATE TABLE {SPARE}_aside LIKE {SPARE}")
        mysql.execute(f"DROP TABLE {SPARE}")
    said = eventually(lambda: spare_problem(lab), seconds=WAIT_SECONDS)
    assert said is not None
    assert f"its source {SPARE} is gone" in said
    mysql.execute(f"INSERT INTO {FLEETING} VALUES ({key}, 'goes on')")
    eventually(lambda: silver(FLEETING.name, f"id = {key}"), row=(FLEETING.name, {"id": key}))
    mysql.execute(f"RENAME TABLE {SPARE}_aside TO {SPARE}")
    mysql.execute(f"INSERT INTO {SPARE} (id) VALUES ({key})")
    verify_equal(SPARE.name)
    assert spare_problem(lab) is None


def test_a_primary_key_that_is_dropped_and_comes_back(
    mysql: Source,
    lab: Lab,
    labctl: Labctl,
    silver: SilverReader,
    new_key: Callable[[], int],
    eventually: Eventually,
    verify_equal: Verify,
) -> None:
    key = new_key()
    mysql.execute(f"INSERT INTO {SPARE} (id) VALUES ({key})")
    verify_equal(SPARE.name)
    mysql.execute(f"ALTER TABLE {SPARE} DROP PRIMARY KEY")
    mysql.execute(f"UPDATE {SPARE} SET n = '1' WHERE id = {key}")
    said = eventually(lambda: spare_problem(lab), seconds=WAIT_SECONDS)
    assert said is not None
    assert "lost its primary key" in said
    # The record has no key any more; the row is not there twice.
    eventually(lambda: silver(SPARE.name, f"id = {key} AND n = '1'"), row=(SPARE.name, {"id": key}))
    assert len(silver(SPARE.name, f"id = {key}")) == 1
    done = labctl("verify", SPARE.name, "--timeout", "5", "--lab", lab.name)
    assert done.returncode == ExitCode.UNDECIDED
    assert "no primary key" in done.stdout
    mysql.execute(f"ALTER TABLE {SPARE} ADD PRIMARY KEY (id)")
    verify_equal(SPARE.name)
    assert spare_problem(lab) is None
