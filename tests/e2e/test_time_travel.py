"""The past: as of an instant, what changed between two, and what compaction has not reached."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import pytest

from labctl.lab.lab import Lab
from labctl.lake import Lake
from labctl.sources import Source
from labctl.testing.eventually import Eventually
from labctl.testing.plugin import SilverReader

Labctl = Callable[..., "subprocess.CompletedProcess[str]"]
Row = dict[str, object]
PRICES = ("sale", "mysql", "ecomm.sale", "salesid", "pricepaid")
SEATS = ("venue", "postgres", "ems.venue", "venueid", "venueseats")


@dataclass(frozen=True)
class Changer:
    """Changes one column of one row, a commit of silver at a time."""

    source: Source
    silver: SilverReader
    eventually: Eventually
    names: tuple[str, str, str, str, str]
    key: int

    def to(self, value: object) -> str:
        """Change the column and wait until silver says so; the instant of that commit."""
        table, _, ref, key, column = self.names
        self.source.execute(f"UPDATE {ref} SET {column} = %s WHERE {key} = %s", (value, self.key))
        where = f"{key} = {self.key} AND {column} = {value}"
        rows = self.eventually(lambda: self.silver(table, where), row=(table, {key: self.key}))
        return str(rows[0]["_hoodie_commit_time"])

    def delete(self) -> str:
        """Delete the row and wait until silver says so; the instant of that commit."""
        table, _, ref, key, _ = self.names
        self.source.execute(f"DELETE FROM {ref} WHERE {key} = %s", (self.key,))
        where = f"{key} = {self.key} AND __op = 'd'"
        rows = self.eventually(lambda: self.silver(table, where, deleted=True))
        return str(rows[0]["_hoodie_commit_time"])

    def value(self, **view: object) -> object:
        """The column's value as `view` shows it; None where the row cannot be seen."""
        table, _, _, key, column = self.names
        rows = self.silver(table, f"{key} = {self.key}", **view)
        return rows[0][column] if rows else None


@pytest.fixture
def changer(
    source: Callable[[str], Source], silver: SilverReader, eventually: Eventually
) -> Callable[[tuple[str, str, str, str, str], int], Changer]:
    return lambda names, key: Changer(source(names[1]), silver, eventually, names, key)


@pytest.mark.parametrize(
    ("names", "key", "values"),
    [
        pytest.param(PRICES, 201, (Decimal("1.25"), Decimal("2.50")), id="merge-on-read"),
        pytest.param(SEATS, 101, (11_111, 22_222), id="copy-on-write"),
    ],
)
def test_a_row_can_be_seen_as_it_was(
    names: tuple[str, str, str, str, str],
    key: int,
    values: tuple[object, object],
    changer: Callable[..., Changer],
) -> None:
    row = changer(names, key)
    first, second = row.to(values[0]), row.to(values[1])
    deleted = row.delete()
    assert row.value() is None
    assert row.value(as_of=first) == values[0]
    assert row.value(as_of=second) == values[1]
    assert row.value(as_of=str(int(second) - 1)) == values[0]
    assert row.value(as_of=deleted) is None
    assert row.value(as_of=deleted, deleted=True) is not None


@pytest.mark.parametrize(
    ("names", "key", "values"),
    [
        pytest.param(PRICES, 202, (Decimal("1.25"), Decimal("2.50")), id="merge-on-read"),
        pytest.param(SEATS, 102, (11_111, 22_222), id="copy-on-write"),
    ],
)
def test_point_in_time_shows_what_was_written_in_between(
    names: tuple[str, str, str, str, str],
    key: int,
    values: tuple[object, object],
    changer: Callable[..., Changer],
    silver: SilverReader,
) -> None:
    row = changer(names, key)
    first, second = row.to(values[0]), row.to(values[1])
    assert row.value(begin=first, end=second) == values[1]
    assert row.value(begin=second) is None
    assert row.value(end=first) == values[0]
    written = silver(names[0], begin=str(int(first) - 1), end=first)
    assert {entry["_hoodie_commit_time"] for entry in written} == {first}


def test_read_optimised_shows_only_what_was_compacted(
    changer: Callable[..., Changer], lake: Lake, eventually: Eventually
) -> None:
    row = changer(PRICES, 203)
    price = Decimal("3.00")

    def behind() -> bool:
        nonlocal price
        price += 1
        compactions = [i for i in lake.instants("sale") if i.action == "commit"]
        before = row.value(read_optimized=True)
        row.to(price)
        shown = row.value(read_optimized=True)
        if compactions != [i for i in lake.instants("sale") if i.action == "commit"]:
            return False  # a compaction came in between: then it shows something newer
        assert shown == before != price
        assert row.value() == price
        return True

    eventually(behind)


@pytest.mark.long
def test_the_command_line_travels_too(
    changer: Callable[..., Changer], labctl: Labctl, lab: Lab
) -> None:
    row = changer(PRICES, 204)
    first, second = row.to(Decimal("4.25")), row.to(Decimal("5.50"))
    sql = "SELECT pricepaid FROM sale WHERE salesid = 204"

    said = ""

    def answer(*options: str) -> list[Row]:
        nonlocal said
        done = labctl("query", sql, "--lab", lab.name, "--output", "json", *options)
        assert done.returncode == 0, done.stderr
        said = done.stderr
        rows: list[Row] = json.loads(done.stdout)["rows"]
        return rows

    assert answer() == [{"pricepaid": "5.50"}]
    assert answer("--as-of", first) == [{"pricepaid": "4.25"}]
    assert answer("--from", first, "--to", second) == [{"pricepaid": "5.50"}]
    assert answer("--from", second) == []
    assert "had no commit" not in said
    # Before the table's history, an empty answer is explained, or the past is gone.
    done = labctl("query", sql, "--lab", lab.name, "--as-of", "2001-01-01")
    assert "had no commit at 2001" in done.stderr or "has been cleaned" in done.stderr
