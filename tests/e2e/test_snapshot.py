"""The first load: every row of every table is in silver, as it is in its source."""

from __future__ import annotations

from labctl.lake import Lake
from labctl.verify import State, VerifyReport
from seeds.tickit.generate import row_counts


def test_every_table_equals_its_source(snapshot: VerifyReport) -> None:
    unequal = [verdict for verdict in snapshot.tables if verdict.state is not State.EQUAL]
    assert not unequal, "\n".join(map(str, unequal))


def test_tickit_has_its_row_counts(snapshot: VerifyReport, scale: float) -> None:
    rows = {v.silver: v.diff.silver_rows for v in snapshot.tables if v.diff}
    expected = {f"tickit.{name}": count for name, count in row_counts(scale).items()}
    assert {name: rows[name] for name in expected} == expected
    assert sum(expected.values()) == 424_319 or scale < 1


def test_both_table_types_are_there(lake: Lake) -> None:
    kinds = {info.name.removeprefix("tickit."): info.kind for info in lake.tables()}
    assert kinds["sale"] == kinds["everything_pg"] == "MERGE_ON_READ"
    assert kinds["listing"] == kinds["everything_my"] == "COPY_ON_WRITE"
