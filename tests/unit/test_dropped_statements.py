"""Statements that Debezium drops, by Kafka Connect's log, until their tables are loaded again."""

from __future__ import annotations

import pytest

from labctl.lab.connectors.dropped_statements import dropped_statements
from labctl.sources import ENGINES, TableRef

ORDERS, ITEMS = TableRef("shop", "orders"), TableRef("shop", "items")
DROPPED = ENGINES["mysql"].connector.dropped_statement


def dropped(sql: str) -> str:
    return (
        f"2026-11-29 14:58:19.991 WARN  BinlogStreamingChangeEventSource Received DML '{sql}' for "
        "processing, binlog probably contains events generated with statement or mixed based "
        "replication format"
    )


def tables(*lines: str) -> dict[TableRef, str]:
    assert DROPPED is not None
    log = [line for text in lines for line in text.split("\n")]
    return dropped_statements(log, DROPPED, [ORDERS, ITEMS])


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("INSERT INTO shop.orders VALUES (10, 'it''s')", [ORDERS]),
        ("UPDATE `shop`.`ORDERS` SET v = 1", [ORDERS]),
        ("UPDATE orders o JOIN items i ON o.id = i.id SET o.v = 1", [ORDERS, ITEMS]),
        ("DELETE FROM other.orders", []),
        ("DELETE FROM old_orders", []),
        ("DELETE FROM orders_of_2024", []),
        ("UPDATE items\n   SET v = 1", [ITEMS]),
    ],
)
def test_a_statement_is_of_the_tables_that_it_names(sql: str, found: list[TableRef]) -> None:
    assert tables("INFO  something else", dropped(sql)) == dict.fromkeys(
        found, " ".join(sql.split())
    )


@pytest.mark.parametrize(
    "loaded",
    [
        "INFO  X No data returned by the query, incremental snapshotting of table 'shop.orders' "
        "finished",
        "INFO  X \t Finished exporting 3 records for table 'shop.orders' (1 of 5 tables); total",
    ],
)
def test_a_table_that_was_loaded_since_lacks_nothing(loaded: str) -> None:
    statement = dropped("UPDATE orders SET v = 1")
    assert tables(statement, loaded) == {}
    assert list(tables(statement, dropped("UPDATE items SET v = 1"), loaded)) == [ITEMS]
    assert list(tables(loaded, statement)) == [ORDERS]


def test_a_load_that_has_not_ended_or_leaves_deleted_rows_is_none() -> None:
    begun = "INFO  X Incremental snapshot for table 'shop.orders' will end at position [key]"
    assert list(tables(dropped("UPDATE orders SET v = 1"), begun)) == [ORDERS]
    part = "INFO  X incremental snapshotting of table 'shop.orders' finished"
    whole = "INFO  X Finished exporting 3 records for table 'shop.orders' (1 of 5 tables); total"
    assert list(tables(dropped("delete FROM orders"), part)) == [ORDERS]
    assert tables(dropped("DELETE FROM orders"), whole) == {}


def test_a_long_statement_is_cut() -> None:
    (shown,) = tables(dropped(f"INSERT INTO orders VALUES ({'1, ' * 99}1)")).values()
    assert len(shown) == 80
    assert shown.endswith("…")
