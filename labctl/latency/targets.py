"""Tables for numbered changes: the key, the column that carries the number, and whole rows.

Any table works that has one integer key and a column wide enough for a number. Everything about
the table comes from its database.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from labctl.errors import ExitCode, LabError
from labctl.sources import Source, SourceColumn, SourceTable, TableRef
from labctl.tables import LabTable

__all__ = ["Target", "describe_target", "numbered_target"]

_FIRST_KEY = 1_000_000_000
"""Lowest key of a run's rows, unless the table already has higher keys."""
_WHOLE = ("integer", "int", "bigint")
_TEXT = ("character varying", "varchar", "nvarchar", "text")


@dataclass(frozen=True)
class Target:
    """A table that receives numbered changes."""

    table: LabTable
    ref: TableRef
    key: str
    number: str
    """The column that carries a change's number."""
    columns: tuple[SourceColumn, ...]
    """Columns that a run's rows have values in: the key, the number, and all NOT NULL columns."""

    @property
    def source(self) -> str:
        """Name of the source that has the table."""
        return self.table.source

    @property
    def engine(self) -> str:
        """Engine of the source database."""
        return self.table.engine

    @property
    def silver(self) -> str:
        """Name of the silver table."""
        return self.table.name

    def rows(self, numbers: dict[int, int]) -> pa.Table:
        """Return whole rows for `Source.upsert`, from numbers by key."""
        count = len(numbers)
        values: dict[str, list[Any]] = {
            self.key: list(numbers),
            self.number: list(numbers.values()),
        }
        arrays = []
        for column in self.columns:
            held = values.get(column.name) or [_filler(column.arrow)] * count
            arrays.append(pa.array(held).cast(column.arrow))
        return pa.Table.from_arrays(arrays, schema=self._schema)

    def keys(self, keys: list[int]) -> pa.Table:
        """Return a table of keys for `Source.delete`."""
        return pa.table({self.key: keys}, schema=pa.schema([self._schema.field(self.key)]))

    @property
    def _schema(self) -> pa.Schema:
        return pa.schema([pa.field(c.name, c.arrow, nullable=c.nullable) for c in self.columns])

    def first_key(self, source: Source) -> int:
        """Return the first key of a run, above all keys in the table."""
        return max(_FIRST_KEY, self.highest_key(source) + 1)

    def highest_key(self, source: Source) -> int:
        """Return the highest key in the table; 0 if it is empty."""
        ((highest,),) = source.execute(
            f"SELECT max({source.quote(self.key)}) "  # noqa: S608
            f"FROM {source.qualified(self.ref)}"
        )
        return int(highest or 0)

    def all_keys(self, source: Source) -> list[int]:
        """Return the keys of all rows in the table."""
        column = source.quote(self.key)
        rows = source.execute(f"SELECT {column} FROM {source.qualified(self.ref)}")  # noqa: S608
        return [int(key) for (key,) in rows]

    def update_statement(self, source: Source) -> str:
        """Return the SQL that gives a row another number; its parameters are number and key."""
        return (
            f"UPDATE {source.qualified(self.ref)} SET {source.quote(self.number)} = %s "  # noqa: S608
            f"WHERE {source.quote(self.key)} = %s"
        )

    def move_statement(self, source: Source) -> str:
        """Return the SQL that changes a row's key and number.

        Its parameters are new key, number and old key.
        """
        return (
            f"UPDATE {source.qualified(self.ref)} SET {source.quote(self.key)} = %s, "  # noqa: S608
            f"{source.quote(self.number)} = %s WHERE {source.quote(self.key)} = %s"
        )


def describe_target(table: LabTable, source: Source, *, snapshot: bool = False) -> Target:
    """Ask `source` for the columns of `table` and return its target; see `numbered_target`."""
    found = source.describe(TableRef(table.db_schema, table.source_name))
    return numbered_target(table, found, snapshot=snapshot)


def numbered_target(table: LabTable, found: SourceTable, *, snapshot: bool = False) -> Target:
    """Return how changes of `table` carry their numbers; `found` describes its source table.

    In a snapshot nothing is written: a row's key is its number, and may have any integer type.
    Raises LabError (USAGE) for a table that cannot be used.
    """
    kinds = (*_WHOLE, "smallint") if snapshot else _WHOLE
    if len(found.keys) != 1 or _kind(found, found.keys[0]) not in kinds:
        raise LabError(
            f"Changes of {found.ref} cannot be numbered: its key is not one integer column",
            hint="name another table with --table",
            exit_code=ExitCode.USAGE,
        )
    key = found.keys[0]
    fixed = (key, *table.properties.partition_fields)
    number = key if snapshot else _number_column(found, fixed)
    kept = tuple(c for c in found.columns if c.name in (key, number) or not c.nullable)
    return Target(table, found.ref, key, number, kept)


def _kind(table: SourceTable, column: str) -> str:
    return next(c.declared.name for c in table.columns if c.name == column)


def _number_column(table: SourceTable, fixed: Collection[str]) -> str:
    """Return the first integer column, else the first text column, that is not in `fixed`.

    `fixed` includes partition fields: numbers there would create a partition for each change.
    """
    for kinds in (_WHOLE, _TEXT):
        for column in table.columns:
            if column.name not in fixed and column.declared.name in kinds:
                return column.name
    raise LabError(
        f"Changes of {table.ref} cannot be numbered: no column of it can carry a number",
        hint="name another table with --table",
        exit_code=ExitCode.USAGE,
    )


def _filler(kind: pa.DataType) -> object:
    """Return a value for a column that is NOT NULL."""
    if pa.types.is_boolean(kind):
        return False
    if pa.types.is_integer(kind):
        return 1
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        return Decimal(0)
    if pa.types.is_date(kind):
        return date(2008, 1, 1)
    if pa.types.is_timestamp(kind):
        return datetime(2008, 1, 1, tzinfo=UTC if getattr(kind, "tz", None) else None)
    return "" if pa.types.is_string(kind) else b""
