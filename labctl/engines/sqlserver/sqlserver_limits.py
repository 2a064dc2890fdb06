"""The limits of capturing a SQL Server table."""

from __future__ import annotations

from labctl.sources.base import Source, TableRef
from labctl.sources.capture_limits import UNLOGGED, Lack, Limits

__all__ = ["sqlserver_limits"]

_OVERFLOWING = (
    "which has times outside 1677-09-21T00:12:44 to 2262-04-11T23:47:16: Debezium sends the type's "
    "nanoseconds, which wrap around there to another time; declare it as datetime2(6)"
)


def sqlserver_limits(database: Source, ref: TableRef, _publication: str) -> Limits:
    """Return the limits of a table: change data capture has NULL for each computed column."""
    table = (database.qualified(ref),)
    computed = database.execute(
        "SELECT name FROM sys.columns WHERE object_id = OBJECT_ID(%s) AND is_computed = 1"
        " ORDER BY column_id",
        table,
    )
    described = database.describe(ref)
    overflowing = tuple(
        column.name
        for column in described.columns
        if column.declared.full == "datetime2(7)" and _overflows(database, ref, column.name)
    )
    lost = [name for name in described.keys if name in overflowing]
    refused = f"its key column is {lost[0]}, {_OVERFLOWING}" if lost else None
    unlogged = tuple(name for (name,) in computed)
    return Limits(refused, (Lack(unlogged, UNLOGGED), Lack(overflowing, _OVERFLOWING)))


def _overflows(database: Source, ref: TableRef, column: str) -> bool:
    name = database.quote(column)
    return bool(
        database.execute(
            f"SELECT TOP 1 1 FROM {database.qualified(ref)}"  # noqa: S608 - names are quoted
            f" WHERE {name} < '1677-09-21T00:12:43.1452242'"
            f" OR {name} > '2262-04-11T23:47:16.8547758'"
        )
    )
