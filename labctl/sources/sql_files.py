"""The forms in which an engine's SQL stands in the files of a project."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from labctl.sources.base import Source
from labctl.sources.sql_statements import Statement

__all__ = ["CONTROL", "LABEL", "SIZE", "WORD", "SqlFiles"]

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that may end a line, or that are invisible."""
WORD = r"[A-Za-z_][A-Za-z0-9_$]*"
"""Expression for a name that needs no quotes."""
SIZE = r"(?:\((?:-?\d+|max|[A-Za-z]+)(?:, ?-?\d+)*\))?"
"""Expression for the size of a type: `(10,2)`, `(max)`, or nothing."""
LABEL = r"'(?:[^'\\]|''|\\.)*'"
"""Expression for a text in quotes."""


@dataclass(frozen=True)
class SqlFiles:
    """The forms of one engine's SQL in files that labctl writes and runs."""

    split: Callable[[str], Iterator[Statement]]
    """Function that yields the statements of a script. It raises ValueError for an open quote."""
    example: str
    """Statements for `{schema}.customer` with two rows, the first table of a new project."""
    type_form: re.Pattern[str]
    """Types as the catalogue shows them; no match can contain an expression."""
    value_form: re.Pattern[str] | None = None
    """A value as the server writes it; None if labctl's own client writes the values."""
    end: str = ";\n"
    """Text that ends a statement."""
    is_atomic: bool = False
    """True if a failing script can be rolled back whole, its DDL included."""
    type_text: Callable[[str], str] = lambda kind: kind
    """Function that returns a type of the catalogue as it is written in a file."""
    value_text: Callable[[str], str] = lambda value: value
    """Function that returns a value of the server as it is written in a file."""
    create_schema: Callable[[Source, str], str | None] = lambda *_: None
    """Function that returns the statement for a schema; None if there is none to create."""
    create_types: Callable[[Source, Collection[str]], Iterator[str]] = lambda *_: iter(())
    """Function that yields the statements for types of the given schemas."""
    create_table: str = "CREATE TABLE IF NOT EXISTS {name} (\n{body}\n)"
    """Statement for a table; `{text}` is its name in a literal."""
