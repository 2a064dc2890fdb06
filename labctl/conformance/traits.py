"""The traits of an engine that decide how the suite writes and reads its tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from labctl.conformance.cases import Kind

__all__ = ["Traits"]


@dataclass(frozen=True)
class Traits:
    """One engine's tables."""

    column_types: tuple[Kind, ...]
    """Every column type that it can declare, with values chosen by hand."""
    quotes: tuple[str, str]
    """Characters before and after a quoted name."""
    longest_name: int
    """Length of the longest name; in bytes if `names_in_bytes`, else in characters."""
    names_in_bytes: bool = False
    wide_characters: bool = True
    """Whether names may have characters of four bytes."""
    tells_case: bool = False
    """Whether two columns may have names that differ in case only."""
    doubled: str | None = None
    """Expression of a generated column, twice the column `id`; None if there are none."""
    changes_columns: bool = True
    """Whether columns are added and changed while rows change."""
    null_is_said: bool = False
    """Whether a nullable column is declared as NULL: a timestamp is NOT NULL otherwise."""
    pads_binary_keys: bool = True
    """Whether a binary literal is shorter than the key that it is to find."""
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
