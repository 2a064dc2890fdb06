"""Two databases of one server, each with a connector of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from labctl.errors import LabError
from labctl.lab.lab import Lab
from labctl.sources import Source
from labctl.testing.eventually import Eventually
from labctl.testing.plugin import SilverReader
from labctl.verify import State, VerifyReport
from tests.e2e.fault_trial import Verify
from tests.e2e.second_source import ORDERS, SILVER, SOURCE, TOPIC


def test_each_source_has_tables_of_its_own(lab: Lab, snapshot: VerifyReport) -> None:
    for name in SILVER:
        table = lab.table(name)
        assert (table.source, table.engine, table.topic) == (SOURCE, "postgres", TOPIC)
    with pytest.raises(LabError, match="more than one table 'orders'"):
        lab.table("orders")
    assert {t.source for t in lab.tables if t.engine == "postgres"} == {"postgres", SOURCE}
    states = {verdict.silver: verdict.state for verdict in snapshot.tables}
    assert {states[name] for name in SILVER} == {State.EQUAL}


@pytest.mark.long
def test_a_row_that_changes_its_partition_is_there_once_in_both_table_types(
    source: Callable[[str], Source],
    silver: SilverReader,
    eventually: Eventually,
    verify_equal: Verify,
    new_key: Callable[[], int],
) -> None:
    key = new_key()
    shop = source(SOURCE)

    def notes(**view: object) -> list[list[object]]:
        return [[row["note"] for row in silver(t, f"id = {key}", **view)] for t in SILVER]

    def is_noted(note: str | None) -> bool:
        return notes() == [[note]] * 2

    with shop.transaction():
        shop.execute(f"INSERT INTO {ORDERS} VALUES (%s, 'new/%%')", (key,))
    eventually(partial(is_noted, "new/%"))
    for note in ("changed", None, "new/%"):
        shop.execute(f"UPDATE {ORDERS} SET note = %s WHERE id = %s", (note, key))
        eventually(partial(is_noted, note))
    shop.execute(f"DELETE FROM {ORDERS} WHERE id = %s", (key,))
    eventually(lambda: notes() == [[]] * 2)
    assert notes(deleted=True) == [["new/%"]] * 2, "a delete tells what was deleted"
    verify_equal(*SILVER)
