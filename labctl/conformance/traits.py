"""The traits of an engine that decide how the suite writes and reads its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from labctl.conformance.cases import Kind
from labctl.sources.base import TableRef

__all__ = ["Partitioning", "Traits"]


@dataclass(frozen=True)
class Partitioning:
    """Statements for partitions by a number: `{table}` and `{part}` are their quoted names."""

    clause: str
    """Clause of CREATE TABLE, with `{key}`."""
    add: str
    """Statement that makes a partition from `{low}` up to `{high}`."""
    like: str
    """Statement that makes a table with the same columns."""
    attach: str
    """Statement that makes that table the partition from `{low}` up to `{high}`."""
    detach: str
    """Statement that makes a partition a table of its own."""
    drop: str
    """Statement that drops a partition."""


@dataclass(frozen=True)
class Traits:
    """An engine's tables."""

    column_types: tuple[Kind, ...]
    """Every column type that it can declare, with values chosen by hand."""
    quotes: tuple[str, str]
    """Characters before and after a quoted name."""
    longest_name: int
    """Length of the longest name; in bytes if `names_in_bytes`, else in characters."""
    names_in_bytes: bool = False
    wide_characters: bool = True
    """True if names may have characters of four bytes."""
    tells_case: bool = False
    """True if two columns may have names that differ in case only."""
    name_of_columns: int | None = None
    """Length of the longest name of a column, if it is not `longest_name`."""
    generated: tuple[str, ...] = ()
    """Declarations of generated columns, each twice the column `id`."""
    alterations: frozenset[str] = frozenset({"add", "drop", "rename", "retype", "default"})
    """Steps that change columns (`Change.what`)."""
    alters_defaults: bool = True
    """True if a column with a DEFAULT can be dropped, and get another type."""
    recapture: Callable[[TableRef], str] | None = None
    """Function that returns the statement by which changes of columns reach the connector; None
    if they do without one."""
    swap: tuple[str, ...] = ()
    """Statements that put a copy of a table in its place: `{schema}`, `{table}`, the names `{new}`
    and `{old}`, and `{columns}`, all quoted."""
    swap_needs_apply: bool = False
    """True if the changes of the copy come only after `labctl connectors apply`."""
    rename: str = ""
    """Statement that gives a table another name: `{schema}`, `{table}`, and the name `{new}`;
    empty if a captured table has one name only."""
    partitioning: Partitioning | None = None
    """Statements for partitions; None if tables have none."""
    text_key: str = "varchar(100)"
    """Declared type of the columns in a key of two texts."""
    text_pairs: tuple[tuple[str, str], ...] = ()
    """Literals for a key of two texts, named `k` and `l`."""
    rule_names: Mapping[str, str] = field(default_factory=dict)
    """Rules of the types that are declared by another name, without a size."""
    probes: Mapping[str, str] = field(default_factory=dict)
    """Statements for what no generated table has, by what it is: the report names each that the
    server refuses. `{table}` is a new table's name."""
    null_is_said: bool = False
    """True if a nullable column is declared as NULL: a timestamp is NOT NULL otherwise."""
    pads_binary_keys: bool = True
    """True if a binary literal is shorter than the key that it is to find."""
    add_column: str = "ADD COLUMN"
    retype: Callable[[str, str, bool], str] = lambda name, declared, _: (
        f"ALTER COLUMN {name} TYPE {declared} USING {name}::{declared}"
    )
    """Function that returns the clause for a column's name, new type, and nullability."""
    read_as_text: Callable[[str | None, str], str] = lambda _, name: name
    """Function that returns the SQL which reads a column of a form as text, given its name."""
    drop_database: str | None = None
    """Statement that drops the suite's database `{name}`; None if schemas are databases."""
    other_database: str = ""
    """A database of every server, from which the suite's own is dropped."""

    @property
    def longest_column(self) -> int:
        """Length of the longest name of a column."""
        return self.longest_name if self.name_of_columns is None else self.name_of_columns
