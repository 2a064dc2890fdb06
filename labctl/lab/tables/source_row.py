"""A row at its source: read by its key, and changed as the user's own application would."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.arrival_forecast import silver_column
from labctl.lab.lab import Lab
from labctl.sources import Source, SourceColumn, TableRef, connect
from labctl.tables import LabTable

__all__ = ["Written", "columns_of", "find_row", "typed_as", "write_value"]

Row = Mapping[str, object]
"""Values by the names that silver gives to their columns."""


@dataclass(frozen=True)
class Written:
    """A change at a source."""

    statement: str
    """The statement with its values, to be read by people."""
    at: float
    """Time just before it ran, in seconds since the epoch."""
    has_changed: bool
    """True if the row is another one now. If not, the database may have logged nothing."""


def columns_of(source: Source, table: LabTable) -> dict[str, SourceColumn]:
    """Return the readable columns of a table by the names that silver gives them."""
    described = source.describe(_ref(table))
    return {silver_column(column.name): column for column in described.columns}


def find_row(source: Source, table: LabTable, key: Row) -> Row | None:
    """Return the row that has the values of `key`; None if there is none.

    Raises LabError (USAGE) for a column that the source does not have, and for a `key` that more
    than one row has.
    """
    columns = columns_of(source, table)
    where, values = _condition(source, table, columns, key)
    shown = ", ".join(_names(source, table, columns, list(columns)))
    rows = source.execute(f"SELECT {shown} FROM {_place(source, table)} WHERE {where}", values)  # noqa: S608
    if len(rows) > 1:
        pairs = ", ".join(f"{name}={value}" for name, value in key.items())
        raise LabError(
            f"{len(rows):,} rows of {_ref(table)} have {pairs}",
            hint=f"name one row by its key, {', '.join(table.properties.key_fields)}",
            exit_code=ExitCode.USAGE,
        )
    return dict(zip(columns, rows[0], strict=True)) if rows else None


def write_value(lab: Lab, table: LabTable, key: Row, column: str, value: str | None) -> Written:
    """Set one column of the row that has the values of `key`, and commit.

    Raises LabError (USAGE) if that is not exactly one row, and the database's own error.
    """
    with connect(lab.endpoints, table.source) as source:
        columns = columns_of(source, table)
        before = find_row(source, table, key)
        if before is None:
            raise LabError(
                f"{_ref(table)} has no such row", hint="labctl trace", exit_code=ExitCode.USAGE
            )
        where, values = _condition(source, table, columns, key)
        (name,) = _names(source, table, columns, [column])
        sql = f"UPDATE {_place(source, table)} SET {name} = %s WHERE {where}"  # noqa: S608
        given = (None if value is None else typed_as(columns[column], value), *values)
        at = time.time()
        source.affect(sql, given)
        has_changed = find_row(source, table, key) != before
    return Written(sql % tuple(map(_shown, given)), at, has_changed)


def typed_as(column: SourceColumn, value: object) -> object:
    """Convert a numeric string to int unless the column is text; SQL Server requires it."""
    if not isinstance(value, str) or pa.types.is_string(column.arrow):
        return value
    return int(value) if re.fullmatch(r"-?[0-9]+", value) else value


def _condition(
    source: Source, table: LabTable, columns: Mapping[str, SourceColumn], key: Row
) -> tuple[str, tuple[object, ...]]:
    names = _names(source, table, columns, list(key))
    where = " AND ".join(f"{name} = %s" for name in names)
    return where, tuple(typed_as(columns[name], value) for name, value in key.items())


def _names(
    source: Source, table: LabTable, columns: Mapping[str, SourceColumn], wanted: Sequence[str]
) -> list[str]:
    """Return the columns' names in the engine's SQL. Raises LabError (USAGE) for unknown ones."""
    if unknown := [name for name in wanted if name not in columns]:
        raise LabError(
            f"{_ref(table)} has no column {', '.join(unknown)}",
            hint=f"columns: {', '.join(columns)}",
            exit_code=ExitCode.USAGE,
        )
    return [_no_placeholder(source.quote(columns[name].name)) for name in wanted]


def _place(source: Source, table: LabTable) -> str:
    return _no_placeholder(source.qualified(_ref(table)))


def _no_placeholder(name: str) -> str:
    """Return a name as it stands in a statement that has parameters."""
    return name.replace("%", "%%")


def _shown(value: object) -> str:
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def _ref(table: LabTable) -> TableRef:
    return TableRef(table.db_schema, table.source_name)
