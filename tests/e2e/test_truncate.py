"""A table is truncated at its source: its rows are gone from silver, and later ones are there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labctl.sources import Source, TableRef
from labctl.testing.plugin import SilverReader
from tests.e2e.second_source import ORDERS, SILVER, SOURCE
from tests.e2e.wide_tables import FLEETING

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("name", "ref", "tables"),
    [(SOURCE, ORDERS, tuple(SILVER)), ("mysql", FLEETING, (FLEETING.name,))],
)
def test_a_truncate_empties_the_table(
    name: str,
    ref: TableRef,
    tables: tuple[str, ...],
    source: Callable[[str], Source],
    silver: SilverReader,
    new_key: Callable[[], int],
    verify_equal: Callable[..., None],
) -> None:
    """Soft deletes in partitions, and hard ones."""
    database, before, after = source(name), new_key(), new_key()
    database.execute(f"INSERT INTO {ref} VALUES ({before}, 'gone')")
    verify_equal(*tables)
    database.execute(f"TRUNCATE TABLE {ref}")
    database.execute(f"INSERT INTO {ref} VALUES ({after}, 'stays')")
    verify_equal(*tables)
    for table in tables:
        assert [row["id"] for row in silver(table, "true")] == [after]
    database.execute(f"TRUNCATE TABLE {ref}")
    verify_equal(*tables)
    for table in tables:
        assert silver(table, "true") == []
