"""Generated tables: their columns, rows and histories, as plain data."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from labctl.engine_names import EngineName

__all__ = ["Case", "Cell", "Change", "Column", "Kind", "Row", "ValueClass"]


class ValueClass(StrEnum):
    """The kinds of values that the matrix tells apart."""

    NULL = "null"
    DEFAULT = "default"
    """Default value: the column is left out of the INSERT."""
    EXTREME = "extreme"
    SPECIAL = "special"
    BEYOND = "beyond"
    """Value that silver cannot hold: its row is put aside by name, or its table refused."""


@dataclass(frozen=True)
class Kind:
    """A declared column type, with values as SQL literals."""

    declared: str
    form: str | None
    """Canonical form of its values (`labctl.conformance.forms`); None if none is known."""
    typical: str
    extreme: tuple[str, ...]
    special: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    """Distinct values for a primary key; empty for a type that cannot be one."""
    setup: tuple[str, ...] = ()
    """Statements that create the type, once per database."""
    has_default: bool = True
    """True if the engine allows a DEFAULT for the type."""
    wider: str | None = None
    """A type that holds all of its values."""
    narrower: str | None = None
    """A type that holds some of its values."""
    other: str | None = None
    """Another type that its values can be converted to."""
    huge: str | None = None
    """A value of a megabyte, which only a few rows get; None for a type without one."""
    only_nullable: bool = False
    """True if the engine allows no NOT NULL for the type."""


@dataclass(frozen=True)
class Column:
    """A column of a generated table."""

    name: str
    kind: Kind
    nullable: bool = True
    default: bool = False
    generated: str | None = None
    """Declaration of a generated column, after its name; None for other columns."""


@dataclass(frozen=True)
class Cell:
    """A value as an SQL literal, and its class."""

    kind: ValueClass
    literal: str


Row = Mapping[str, Cell]
"""Cells by column. A column with the class `default` is left out of the INSERT."""


@dataclass(frozen=True)
class Change:
    """A step of a history. Columns have their original names, even after a rename."""

    what: str
    """Kind of step.

    Rows: insert, update, rekey, delete, truncate. Columns: add, drop, rename, retype, default.
    Tables: `swap` puts a copy in the table's place; `away` gives the table another name, writes a
    row, and gives it its own name again. Partitions: `partition` adds an empty one, `attach` one
    with a row, `detach` takes one away and puts it back, and `drop_partition` drops the one that
    was added. What the project's documentation demands after these: `recapture` makes a new
    capture instance, `apply` applies the connector. `fault` kills a part of the lab."""
    row: int | None = None
    """Number of the row."""
    cells: Row = field(default_factory=dict)
    column: Column | None = None
    """Column that is added or changed."""
    text: str = ""
    """New name, new type or new default, or the part that is killed."""


@dataclass(frozen=True)
class Case:
    """A table with its rows and its history. The same engine and seed give the same one."""

    engine: EngineName
    seed: int
    name: str
    columns: tuple[Column, ...]
    keys: tuple[str, ...]
    rows: tuple[tuple[int, Row], ...]
    """Rows loaded before capture, by number."""
    history: tuple[Change, ...]
    """Steps that run while changes stream."""
    parted: bool = False
    """True if the table has partitions by the column `id`."""
    of: str = ""
    """Parts of the original case that a shrunk case keeps; empty for an original case."""

    @property
    def label(self) -> str:
        """The engine and the seed."""
        return f"{self.engine} seed {self.seed}{f' ({self.of})' if self.of else ''}"

    def with_columns(self, names: Collection[str]) -> Case:
        """Return the case with its keys and these columns only."""
        kept = {*names, *self.keys}

        def cells(row: Row) -> dict[str, Cell]:
            return {name: cell for name, cell in row.items() if name in kept}

        changes = tuple(
            replace(change, cells=cells(change.cells))
            for change in self.history
            if change.column is None or change.what == "add" or change.column.name in kept
        )
        return replace(
            self,
            columns=tuple(column for column in self.columns if column.name in kept),
            rows=tuple((number, cells(row)) for number, row in self.rows),
            history=tuple(c for c in changes if c.what != "update" or c.cells),
        )

    def without_types(self, declared: Collection[str]) -> Case:
        """Return the case without columns that are declared so, also those added later."""
        smaller = self.with_columns(
            [c.name for c in self.columns if not {c.kind.declared, c.generated} & {*declared}]
        )
        added = [
            change.column.name
            for change in self.history
            if change.what == "add" and change.column and change.column.kind.declared in declared
        ]
        kept = (c for c in smaller.history if c.column is None or c.column.name not in added)
        return replace(smaller, history=tuple(kept))

    def with_rows(self, numbers: Collection[int]) -> Case:
        """Return the case with these rows of its load only."""
        return replace(self, rows=tuple(r for r in self.rows if r[0] in numbers))

    def with_history(self, changes: tuple[Change, ...]) -> Case:
        """Return the case with this history."""
        return replace(self, history=changes)

    @property
    def size(self) -> int:
        """Size of the case; a smaller case shows a failure more clearly."""
        return len(self.columns) + len(self.rows) + len(self.history)
