"""Columns that come, go, widen or turn into something else while changes stream."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from labctl.lab.tables.table_rebuild import rebuild_table
from tests.integration.spark.change_records import DECIMAL, Topics, column, decimal, nullable
from tests.integration.spark.conftest import Silver, topic_of

pytestmark = pytest.mark.long

ID = column("id", "int")


@pytest.mark.parametrize("table", ["mor_schema", "cow_schema"])
def test_columns_come_widen_and_go_without_a_restart(
    silver: Silver, topics: Topics, table: str
) -> None:
    topic = topic_of(table)
    first = [ID, column("count", nullable("int")), column("price", nullable(DECIMAL))]
    topics.write(
        topic, first, [{"id": key, "count": key, "price": Decimal("1.50")} for key in range(8)]
    )
    silver.has_taken(table, 8)

    added = [*first, column("note", nullable("string"))]
    topics.write(topic, added, [{"id": 1, "count": 1, "price": Decimal("2.50"), "note": "new"}])
    silver.has_taken(table, 9)
    found = silver.rows(table)
    assert (found[1]["note"], found[2]["note"]) == ("new", None)

    wide = [
        ID,
        column("count", nullable("long")),
        column("price", nullable(decimal(12, 2))),
        column("note", nullable("string")),
    ]
    big = {"id": 2, "count": 2**40, "price": Decimal("9999999999.99"), "note": None}
    topics.write(topic, wide, [big])
    silver.has_taken(table, 10)
    if table.startswith("mor"):
        # Base files hold the narrow column until the compaction that a widening asks for.
        silver.until(lambda: bool(silver.instants(table, "commit")), "base files are rewritten")
    found = silver.rows(table)
    assert (found[2]["count"], found[2]["price"]) == (2**40, Decimal("9999999999.99"))
    assert (found[3]["count"], found[3]["price"]) == (3, Decimal("1.50"))
    assert silver.read(table).schema.field("count").type == pa.int64()

    narrow = [ID, column("note", nullable("string"))]
    topics.write(topic, narrow, [{"id": 3, "note": "dropped"}])
    # Two schemas in one batch: a writer that is behind, and one that is not.
    topics.write(topic, added, [{"id": 4, "count": 4, "price": Decimal("3.00"), "note": "late"}])
    topics.write(topic, narrow, [{"id": 5, "note": None}])
    silver.has_taken(table, 13)
    found = silver.rows(table)
    assert (found[3]["count"], found[3]["note"]) == (None, "dropped")
    assert (found[4]["count"], found[4]["note"]) == (4, "late")
    assert (found[5]["count"], found[6]["count"]) == (None, 6)
    assert silver.status(table)["restarts"] == 0


def test_a_column_that_turns_into_something_else_stops_its_table_until_it_is_rebuilt(
    silver: Silver, topics: Topics
) -> None:
    topic = topic_of("conflict")
    topics.write(topic, [ID, column("size", nullable("int"))], [{"id": 1, "size": 7}])
    silver.has_taken("conflict", 1)
    text = [ID, column("size", nullable("string"))]
    topics.write(topic, text, [{"id": 2, "size": "large"}])

    stopped = silver.is_in_state("conflict", "failed")

    assert "conflict.size is int, but now arrives as string" in stopped["error"]
    assert "labctl table rebuild tickit.conflict" in stopped["error"]
    assert silver.status("mor_soft")["state"] == "running"
    assert {key: one["size"] for key, one in silver.rows("conflict").items()} == {1: 7}

    silver.is_in_bronze("conflict", 2)
    rebuild_table(silver.lab, "conflict")
    silver.has_taken("conflict", 2)
    topics.write(topic, text, [{"id": 3, "size": "small"}])
    silver.has_taken("conflict", 3)

    assert {key: one["size"] for key, one in silver.rows("conflict").items()} == {
        1: "7",
        2: "large",
        3: "small",
    }
