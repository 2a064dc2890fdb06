"""The description of a data set: its tables, their DDL and their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from labctl.engine_names import EngineName

__all__ = ["DataSet", "FollowedRow", "SeedTable", "TextColumn"]


class SeedTable(Protocol):
    """A table of a data set."""

    @property
    def name(self) -> str: ...

    @property
    def engine(self) -> str:
        """Engine of the source that the table belongs to: `postgres`, `mysql` or `sqlserver`."""

    @property
    def schema(self) -> str:
        """Schema of the table in the source; for MySQL its database."""

    @property
    def database(self) -> str | None:
        """Database of the source to prefer if several have the schema; None: the first source."""

    @property
    def key(self) -> str:
        """The column of the primary key."""

    @property
    def label(self) -> str:
        """`schema.table`."""


@dataclass(frozen=True)
class FollowedRow:
    """A row whose change `labctl demo` and `labctl test bench` follow from its source to silver."""

    table: str
    """The silver table."""
    key: str
    """The column of its primary key."""
    value: int
    column: str
    """The column that is changed."""
    next: Callable[[Any], Any]
    """Function that returns a value different from its argument."""


@dataclass(frozen=True)
class TextColumn:
    """A column of one row that takes short texts, so that a change can be recognized."""

    table: str
    """The silver table."""
    key: str
    value: int
    column: str


@dataclass(frozen=True)
class DataSet:
    """Tables, how they are made, and the rows that go into them."""

    name: str
    title: str
    """Contents of the data set, in one line."""
    tables: tuple[SeedTable, ...]
    ddl: Callable[[str], str]
    """Function that returns an engine's DDL script, which is safe to run again."""
    generate: Callable[[float], Mapping[str, pa.Table]]
    """Function that returns the rows at a scale, by table name. Raises LabError for a bad scale."""
    read: Callable[[Path, Sequence[Any]], Mapping[str, pa.Table]] | None = None
    """Function that reads the given tables from the data set's own files, leaving out tables
    without a file; None if the data set has no files. Raises LabError for a file that cannot be
    loaded."""
    written: tuple[str, ...] = ()
    """Tables that scenarios write to, the best first. Most scenarios use one table, some use one
    per source. If a lab has none of these, scenarios use other tables."""
    followed: FollowedRow | None = None
    text_columns: Mapping[EngineName, TextColumn] = field(default_factory=dict)
    """Columns that `labctl test bench --recovery` writes to, by engine."""
