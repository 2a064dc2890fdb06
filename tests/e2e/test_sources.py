"""Two databases of one server, each with a connector of its own."""

from __future__ import annotations

from collections.abc import Callable

from labctl.lab.lab import Lab
from labctl.sources import Source
from labctl.testing.eventually import Eventually
from labctl.testing.plugin import SilverReader
from labctl.verify import State, VerifyReport
from tests.e2e.fault_trial import Verify
from tests.e2e.second_source import ORDERS, SOURCE, TOPIC


def test_each_source_has_tables_of_its_own(lab: Lab, snapshot: VerifyReport) -> None:
    table = lab.table("orders")
    assert (table.source, table.engine, table.topic) == (SOURCE, "postgres", TOPIC)
    assert {t.source for t in lab.tables if t.engine == "postgres"} == {"postgres", SOURCE}
    states = {verdict.silver: verdict.state for verdict in snapshot.tables}
    assert states["orders"] is State.EQUAL


def test_changes_of_a_second_database_arrive(
    source: Callable[[str], Source],
    silver: SilverReader,
    eventually: Eventually,
    verify_equal: Verify,
    new_key: Callable[[], int],
) -> None:
    key = new_key()
    shop = source(SOURCE)
    with shop.transaction():
        shop.execute(f"INSERT INTO {ORDERS} VALUES (%s, 'new')", (key,))
    eventually(lambda: [row["note"] for row in silver("orders", f"id = {key}")] == ["new"])
    shop.execute(f"UPDATE {ORDERS} SET note = 'changed' WHERE id = %s", (key,))
    eventually(lambda: [row["note"] for row in silver("orders", f"id = {key}")] == ["changed"])
    verify_equal("orders")
