"""Declarations of the tables of this folder's data sets.

A generator, the reader of the original files and the tests of the DDL all follow one declaration.
Types are spelled as the data set spells them; `Column.arrow` is the type a value has in Python
and, once it went through the pipeline, in silver.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from labctl.errors import ExitCode, LabError

__all__ = ["MAX_SCALE", "Column", "Table", "columns", "row_counts"]

MAX_SCALE = 1_000.0
"""Above this the keys of the largest tables would leave the range of a 32-bit integer."""

_SIMPLE: Mapping[str, pa.DataType] = {
    # Avro has no 16-bit integer, so a smallint is 32 bits wide from the topic onwards.
    "smallint": pa.int32(),
    "integer": pa.int32(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
_WITH_SIZE = re.compile(r"(varchar|char|decimal)\((\d+)(?:,(\d+))?\)")


@dataclass(frozen=True)
class Column:
    """A column: its name, its type as the data set declares it, and whether it may be null."""

    name: str
    declared: str
    nullable: bool = True

    @cached_property
    def arrow(self) -> pa.DataType:
        """The Arrow type of the column's values."""
        if self.declared in _SIMPLE:
            return _SIMPLE[self.declared]
        match = _WITH_SIZE.fullmatch(self.declared)
        if match is None:
            raise ValueError(f"column {self.name}: unknown type {self.declared!r}")
        kind, size, scale = match.groups()
        return pa.decimal128(int(size), int(scale)) if kind == "decimal" else pa.string()

    @property
    def length(self) -> int | None:
        """Greatest number of characters of a text column; None for other types."""
        match = _WITH_SIZE.fullmatch(self.declared)
        return int(match[2]) if match and match[1] != "decimal" else None


@dataclass(frozen=True)
class Table:
    """A table: where it lives, its columns in order, its key, and its original file."""

    name: str
    engine: str
    """Field of `Endpoints` that reaches its database: `postgres`, `mysql` or `sqlserver`."""
    schema: str
    """Schema within that database; for MySQL the database itself."""
    columns: tuple[Column, ...]
    rows: int
    """Rows of the full data set."""
    file: str
    """Name of the table's file in the original data set."""
    smaller_file: str | None = None
    """Name of a smaller edition of that file, read where the full one is missing."""
    file_pattern: str | None = None
    """Other names that the file may have, as a shell's pattern: that of another year."""
    database: str | None = None
    """Name of its database, where a schema of that name is in others too."""
    delimiter: str = "|"
    scales: bool = False
    """True if `--scale` changes the number of rows."""

    @property
    def key(self) -> str:
        """The primary key: the first column of every table."""
        return self.columns[0].name

    @property
    def label(self) -> str:
        """`schema.table`, as in the topic's name."""
        return f"{self.schema}.{self.name}"

    @cached_property
    def arrow(self) -> pa.Schema:
        """Arrow schema of the table's rows."""
        return pa.schema([pa.field(c.name, c.arrow, nullable=c.nullable) for c in self.columns])


def columns(*declarations: str) -> tuple[Column, ...]:
    """Columns from `name type`, with a trailing `!` where null is not allowed."""
    declared = (declaration.removesuffix("!").split(" ", 1) for declaration in declarations)
    return tuple(
        Column(name, kind, nullable=not declaration.endswith("!"))
        for (name, kind), declaration in zip(declared, declarations, strict=True)
    )


def row_counts(tables: Mapping[str, Table], scale: float) -> dict[str, int]:
    """Rows per table at a scale: those that scale have at least one, the others never change.

    Raises `LabError` (usage) for a scale outside `0 < scale <= MAX_SCALE`.
    """
    if not 0 < scale <= MAX_SCALE:
        raise LabError(
            f"A scale of {scale:g} makes no data set.",
            hint=f"give a number above 0 and up to {MAX_SCALE:g}; 1 is the full data set",
            exit_code=ExitCode.USAGE,
        )
    return {
        name: max(1, round(table.rows * scale)) if table.scales else table.rows
        for name, table in tables.items()
    }
