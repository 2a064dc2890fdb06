"""The first load: every row of every table is in silver, as it is in its source."""

from __future__ import annotations

import pytest

from labctl.lab.lab import Lab
from labctl.lab.lifecycle.seeding import seed_lab
from labctl.lab.tables.verification import verify_lab
from labctl.lake import Lake
from labctl.verify import State, VerifyReport
from seeds.tickit.generate import row_counts

ALL_ROWS = 424_319
LOAD_SECONDS = 1200.0


def test_every_table_equals_its_source(snapshot: VerifyReport) -> None:
    check_equal(snapshot)


def test_tickit_has_its_row_counts(snapshot: VerifyReport, scale: float) -> None:
    assert tickit_rows(snapshot) == row_counts(scale)


@pytest.mark.soak
def test_the_whole_of_tickit_arrives(lab: Lab) -> None:
    seed_lab(lab, scale=1.0, reset=True)
    report = verify_lab(lab, timeout=LOAD_SECONDS)
    check_equal(report)
    assert tickit_rows(report) == row_counts(1.0)
    assert sum(tickit_rows(report).values()) == ALL_ROWS


def test_both_table_types_are_there(lake: Lake) -> None:
    kinds = {info.name.removeprefix("tickit."): info.kind for info in lake.tables()}
    assert kinds["sale"] == kinds["everything_pg"] == "MERGE_ON_READ"
    assert kinds["listing"] == kinds["everything_my"] == "COPY_ON_WRITE"


def check_equal(report: VerifyReport) -> None:
    unequal = [verdict for verdict in report.tables if verdict.state is not State.EQUAL]
    assert not unequal, "\n".join(map(str, unequal))


def tickit_rows(report: VerifyReport) -> dict[str, int]:
    """By table of the data set, how many rows it has in silver."""
    rows = {v.silver: v.diff.silver_rows for v in report.tables if v.diff}
    return {name: rows[f"tickit.{name}"] for name in row_counts(1.0)}
