"""Whole transactions: large ones arrive complete, abandoned ones not at all."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from labctl.lab.lab import Lab
from labctl.lab.tables.in_flight import in_flight_records
from labctl.lake import Lake
from labctl.sources import Rollback, Source, TableRef
from labctl.testing.eventually import Eventually
from labctl.testing.plugin import SilverReader

OpenSource = Callable[[str], Source]
ROWS = 10_000
ARRIVAL_SECONDS = 300.0
FIRST = 2_000_000
"""Keys below are the data set's."""

TABLES = {
    "postgres": (TableRef("ems", "event"), "eventid", ("venueid", "catid", "dateid", "eventname")),
    "mysql": (
        TableRef("ecomm", "sale"),
        "salesid",
        ("listid", "sellerid", "buyerid", "eventid", "dateid", "qtysold"),
    ),
    "sqlserver": (TableRef("crm", "user"), "userid", ("likesports", "likejazz")),
}
"""Table, key, and columns that take the value 1."""
SAVEPOINTS = {
    "postgres": ("SAVEPOINT before_it", "ROLLBACK TO SAVEPOINT before_it"),
    "mysql": ("SAVEPOINT before_it", "ROLLBACK TO SAVEPOINT before_it"),
    "sqlserver": ("SAVE TRANSACTION before_it", "ROLLBACK TRANSACTION before_it"),
}


@pytest.fixture(params=TABLES)
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def insert(source: Source, key: int) -> None:
    ref, key_column, columns = TABLES[source.engine]
    names = ", ".join((key_column, *columns))
    values = ", ".join([str(key), *["1"] * len(columns)])
    source.execute(f"INSERT INTO {source.qualified(ref)} ({names}) VALUES ({values})")


@pytest.mark.long
def test_every_row_of_a_large_transaction_arrives(
    engine: str, source: OpenSource, lake: Lake, lab: Lab, eventually: Eventually
) -> None:
    ref, key, columns = TABLES[engine]
    database = source(engine)
    database.execute(f"DELETE FROM {database.qualified(ref)} WHERE {key} >= {FIRST}")
    numbers = pa.array(range(FIRST, FIRST + ROWS), pa.int32())
    ones = pa.array([1] * ROWS, pa.int32())
    rows = pa.table({key: numbers} | dict.fromkeys(columns, ones))
    with database.transaction():
        database.insert(ref, rows)
    query = f'SELECT {key} FROM "{ref.name}" WHERE {key} >= {FIRST}'

    def complete() -> bool:
        arrived = lake.query(query).column(0).to_pylist()
        missing = sorted(set(range(FIRST, FIRST + ROWS)) - set(arrived))
        assert not missing, f"{len(missing)} missing, first {missing[:5]}"
        return len(arrived) == ROWS

    eventually(complete, seconds=ARRIVAL_SECONDS)
    assert in_flight_records(lab, lab.table(ref.name)) == 0
    database.execute(f"DELETE FROM {database.qualified(ref)} WHERE {key} >= {FIRST}")
    eventually(lambda: lake.query(query).num_rows == 0, seconds=ARRIVAL_SECONDS)


def test_a_rolled_back_transaction_leaves_no_trace(
    engine: str,
    source: OpenSource,
    silver: SilverReader,
    eventually: Eventually,
    new_key: Callable[[], int],
) -> None:
    ref, key, columns = TABLES[engine]
    database, abandoned, marker = source(engine), new_key(), new_key()
    with database.transaction():
        insert(database, abandoned)
        table = database.qualified(ref)
        database.execute(f"UPDATE {table} SET {columns[-2]} = 1 WHERE {key} = 1")
        raise Rollback
    before = silver(ref.name, f"{key} = 1")
    insert(database, marker)
    # The marker stands behind the abandoned rows in the log: once it is there, they would be.
    eventually(lambda: silver(ref.name, f"{key} = {marker}"), row=(ref.name, {key: marker}))
    assert silver(ref.name, f"{key} = {abandoned}", deleted=True) == []
    # All but the name of the row's file, which compaction changes.
    after = silver(ref.name, f"{key} = 1")
    assert [row | {"_hoodie_file_name": ""} for row in after] == [
        row | {"_hoodie_file_name": ""} for row in before
    ]


def test_what_was_undone_to_a_savepoint_does_not_arrive(
    engine: str,
    source: OpenSource,
    silver: SilverReader,
    eventually: Eventually,
    new_key: Callable[[], int],
) -> None:
    ref, key, _ = TABLES[engine]
    database, undone, kept = source(engine), new_key(), new_key()
    save, go_back = SAVEPOINTS[engine]
    with database.transaction():
        database.execute(save)
        insert(database, undone)
        database.execute(go_back)
        insert(database, kept)
    eventually(lambda: silver(ref.name, f"{key} = {kept}"), row=(ref.name, {key: kept}))
    assert silver(ref.name, f"{key} = {undone}", deleted=True) == []
