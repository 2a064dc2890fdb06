"""Which rows are right at the end of a run, which are missing and which are wrong."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from labctl.config.lab_config import LabConfig
from labctl.latency.latency_plan import Change, Kind
from labctl.latency.ledger import Ledger, Message
from labctl.latency.reporting import Finding
from labctl.latency.targets import Target
from labctl.sources import TableRef
from labctl.tables import lab_tables

PROJECT = Path(__file__).parents[3]
SALE = next(
    table
    for table in lab_tables(PROJECT, LabConfig.load(PROJECT / "lab.toml"))
    if table.name == "tickit.sale"
)
TARGET = Target(SALE, TableRef("ecomm", "sale"), "salesid", "listid", ())
CHANGES = (
    Change(1, Kind.UPDATE, 7),
    Change(2, Kind.INSERT, 8),
    Change(3, Kind.UPDATE, 7),
    Change(4, Kind.DELETE, 9),
)


def ledger() -> Ledger:
    """Row 7 changed twice, 8 made, 9 deleted (its record still carries the number 0)."""
    found = Ledger()
    found.written("tickit.sale", CHANGES, 0.0, 0.5)
    for offset, (key, number) in enumerate(((7, 1), (8, 2), (7, 3)), start=100):
        found.received(Message("tickit.sale", key, number, False, None, 1.0, 0, offset))
    found.received(Message("tickit.sale", 9, 0, True, None, 1.0, 0, 103))
    return found


def finding(*rows: tuple[int, int, int]) -> Finding:
    keys, numbers, offsets = zip(*rows, strict=True)
    table = pa.table(
        {"salesid": list(keys), "listid": list(numbers), "__kafka_offset": list(offsets)}
    )
    return Finding.of(TARGET, table, ledger())


def test_rows_as_their_last_change_left_them_are_right() -> None:
    assert finding((7, 3, 102), (8, 2, 101), (9, 0, 103), (1, 1, 1)) == Finding(0, 0, 0)


def test_a_row_that_is_not_there_or_behind_is_missing() -> None:
    assert finding((7, 1, 100), (9, 0, 103)) == Finding(0, missing=2, wrong=0)


def test_a_row_with_another_number_is_wrong() -> None:
    assert finding((7, 1, 102), (8, 2, 101), (9, 0, 103)) == Finding(0, 0, wrong=1)


def test_a_key_that_is_there_twice_is_counted() -> None:
    rows = ((7, 3, 102), (7, 3, 102), (8, 2, 101), (9, 0, 103))
    assert finding(*rows) == Finding(repeated=1, missing=0, wrong=0)
