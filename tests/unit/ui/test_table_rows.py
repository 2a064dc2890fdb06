"""A row at a moment beside what it is now."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from labctl.ui.cell_text import cell_text
from labctl.ui.table_reading import Cell, row_then

THEN: dict[str, Any] = {"id": 1, "price": Decimal("9.90"), "note": None}


def test_values_that_differ_from_now_are_said() -> None:
    row = row_then(THEN, {**THEN, "price": Decimal("9.95"), "note": "x"}, list(THEN), ["id"])
    assert row.cells == (Cell("1"), Cell("9.90", "9.95"), Cell(None, "x"))
    assert not row.is_gone
    assert row_then({**THEN, "note": "x"}, THEN, list(THEN), ["id"]).cells[2] == Cell("x", "null")


def test_a_row_that_is_no_more_is_gone_with_the_values_of_then() -> None:
    row = row_then(THEN, None, list(THEN), ["id"])
    assert row.is_gone
    assert row.cells == (Cell("1"), Cell("9.90"), Cell(None))


def test_nan_and_a_column_that_was_dropped_since_are_no_change() -> None:
    then = {"id": 1, "a": float("nan"), "dropped": 3}
    row = row_then(then, {"id": 1, "a": float("nan")}, list(then), ["id"])
    assert row.cells == (Cell("1"), Cell("nan"), Cell("3"))


@pytest.mark.parametrize(
    ("value", "is_named"),
    [(1, True), ("x", True), (Decimal("1.50"), True), (date(2026, 1, 2), True), (True, False),
     (b"x", False), (datetime(2026, 1, 2, tzinfo=UTC), False), (1.5, False), (None, False)],
)  # fmt: skip
def test_a_row_is_named_by_keys_that_every_database_reads_back(value: Any, is_named: bool) -> None:
    then = {"id": 7, "k": value}
    assert bool(row_then(then, then, list(then), ["id", "k"]).key) is is_named


def test_long_values_are_cut_and_bytes_are_hexadecimal() -> None:
    assert cell_text("x" * 600) == "x" * 500 + " …"
    assert cell_text(b"\x01\xff") == "01ff"
    assert cell_text(None) is None
