"""MySQL's zero dates and its year 0: the same in first load and log, and named by `verify`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from labctl.lab.lab import Lab
from labctl.lab.tables.verification import verify_lab
from labctl.lake import Lake
from labctl.sources import connect
from labctl.verify import State
from lakecontract.table_names import tables_called
from tests.waiting import wait_for

pytestmark = pytest.mark.long

SECONDS = 300.0
DDL = """\
SET SESSION sql_mode = 'ALLOW_INVALID_DATES';
CREATE TABLE IF NOT EXISTS shop.legacy (
    id int PRIMARY KEY,
    d_null date,
    d date NOT NULL,
    dt datetime NOT NULL DEFAULT '0000-00-00 00:00:00',
    dt6 datetime(6) NOT NULL,
    ts timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
    ts6 timestamp(6) NOT NULL,
    y year NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS shop.forms (id int PRIMARY KEY, j json, u bigint unsigned, b bit(9));
CREATE TABLE IF NOT EXISTS shop.dated (d date NOT NULL PRIMARY KEY, n int);
INSERT IGNORE INTO shop.dated VALUES ('1970-01-01', 1), ('0000-00-00', 2);
"""
ZERO, PARTLY, YEAR_0, EPOCH, OLD = range(1, 6)
ROWS = {
    ZERO: "NULL, '0000-00-00', '0000-00-00', '0000-00-00', '0000-00-00', '0000-00-00', 0",
    PARTLY: "'0000-00-00', '2024-00-10', '2024-02-00 01:02:03', '2024-00-10 01:02:03.000004',"
    " '1970-01-01 00:00:01', '1970-01-01 00:00:01.000001', 1901",
    YEAR_0: "'0000-01-01', '0000-06-07', '0000-12-31 23:59:59', '0000-01-01 00:00:00.000001',"
    " '2038-01-19 03:14:07', '2038-01-19 03:14:07.499999', 2155",
    EPOCH: "'1970-01-01', '1970-01-01', '1970-01-01 00:00:00', '1970-01-01 00:00:00',"
    " '2024-01-01', '2024-01-01', 2000",
    OLD: "'0001-01-01', '0050-06-07', '0099-12-31 23:59:59', '0001-01-01 00:00:00.000001',"
    " '2001-01-01', '2001-01-01', 1970",
}


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


SILVER: dict[int, tuple[object, ...]] = {
    ZERO: (None, None, None, None, None, None, 0),
    PARTLY: (None, None, None, None, at(1970, 1, 1, 0, 0, 1), at(1970, 1, 1, 0, 0, 1, 1), 1901),
    YEAR_0: (
        *(None, None, None, None),
        *(at(2038, 1, 19, 3, 14, 7), at(2038, 1, 19, 3, 14, 7, 499999), 2155),
    ),
    EPOCH: (
        *(date(1970, 1, 1), date(1970, 1, 1), at(1970, 1, 1), at(1970, 1, 1)),
        *(at(2024, 1, 1), at(2024, 1, 1), 2000),
    ),
    OLD: (
        *(date(1, 1, 1), date(50, 6, 7), at(99, 12, 31, 23, 59, 59), at(1, 1, 1, 0, 0, 0, 1)),
        *(at(2001, 1, 1), at(2001, 1, 1), 1970),
    ),
}
DOCUMENT = (
    """{"b": 1.10, "a": "ü 😀", "big": 12345678901234567890, "t": null, "e": 1e100, "f": -0.0,"""
    """ "s": 1e15, "third": 0.3333333333333333, "of": [1, [], {}, true]}"""
)
LARGEST = 2**64 - 1
STREAMED = 100
"""What is added to the id of a row that is written after the first load."""


def insert(first: int) -> str:
    """The statements that write the rows under ids from `first` on."""
    return "".join(
        f"INSERT INTO shop.legacy VALUES ({first + n}, {row});\n" for n, row in ROWS.items()
    ) + (
        f"INSERT INTO shop.forms VALUES ({first}, '{DOCUMENT}', {LARGEST}, b'100000011'),"
        f" ({first + 1}, NULL, NULL, NULL);\n"
    )


@pytest.fixture(scope="module")
def project() -> Iterator[Path]:
    with TemporaryDirectory(prefix="labctl-") as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", home)
        folder = Path(home) / "zeros"
        run(None, "init", str(folder), "--source", "shop=mysql")
        (folder / "db" / "shop.sql").write_text(DDL + insert(0), encoding="utf-8")
        (customer,) = (folder / "spark" / "properties").glob("shop.shop.*.properties")
        for table, key in (("legacy", "id"), ("forms", "id"), ("dated", "d")):
            text = customer.read_text(encoding="utf-8").replace("customer_id", key)
            customer.with_name(f"shop.shop.{table}.properties").write_text(
                text.replace("customer", table), encoding="utf-8"
            )
        customer.unlink()
        try:
            run(folder, "up")
            yield folder
        finally:
            run(folder, "destroy", "--yes")


def run(folder: Path | None, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "labctl", *words],
        cwd=folder,
        env={**os.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def rows(lake: Lake) -> dict[Any, tuple[object, ...]]:
    if not tables_called("legacy", lake.table_names()):
        return {}
    table = lake.table("legacy")
    found = table.read().to_pylist() if table.has_commit() else []
    return {row["id"]: tuple(row[name] for name in NAMES) for row in found}


NAMES = ("d_null", "d", "dt", "dt6", "ts", "ts6", "y")


def test_a_zero_date_is_never_another_date(project: Path) -> None:
    lab = Lab.find(project=project)
    lake = Lake(lab.endpoints.objectstore)
    wait_for(lambda: rows(lake).keys() >= ROWS.keys())
    with connect(lab.endpoints, "shop") as source:
        source.execute("SET SESSION sql_mode = 'ALLOW_INVALID_DATES'")
        source.run_script(insert(STREAMED))
    wait_for(lambda: rows(lake).keys() >= {STREAMED + n for n in ROWS})
    found = rows(lake)
    assert {n: found[n] for n in ROWS} == SILVER, "by the first load"
    assert {n: found[STREAMED + n] for n in ROWS} == SILVER, "while streaming"

    (verdict,) = verify_lab(lab, ["legacy"], timeout=SECONDS).tables
    assert verdict.state is State.CANNOT_COMPARE
    assert verdict.diff is not None
    assert verdict.diff.rows == 0
    assert verdict.diff.columns_incomparable == (
        "d_null: 4 zero dates, NULL in silver",
        *(f"{name}: 6 zero dates, NULL in silver" for name in ("d", "dt", "dt6")),
        *(f"{name}: 2 zero dates, NULL in silver" for name in ("ts", "ts6")),
    )


def test_types_whose_text_differs_are_compared_by_value(project: Path) -> None:
    """The rows of the first load, and those that the test above has written."""
    lab = Lab.find(project=project)
    (verdict,) = verify_lab(lab, ["forms"], timeout=SECONDS).tables
    assert verdict.state is State.EQUAL, verdict
    assert verdict.diff is not None
    assert verdict.diff.source_rows == 4


def test_a_table_that_silver_has_given_up_is_different_and_says_why(project: Path) -> None:
    """Its key is a zero date, for which silver has no form."""
    lab = Lab.find(project=project)
    (verdict,) = verify_lab(lab, ["dated"], timeout=SECONDS).tables
    assert verdict.state is State.DIFFERENT
    assert verdict.seconds < SECONDS / 3
    assert verdict.reason is not None
    assert "dated is failed: " in verdict.reason
    assert "its record key d is null" in verdict.reason
