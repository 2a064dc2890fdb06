"""What a data set says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from labctl.config.model import SourceEngine

__all__ = ["DataSet", "FollowedRow", "SeedTable", "TextColumn"]


class SeedTable(Protocol):
    """One table of a data set."""

    @property
    def name(self) -> str: ...

    @property
    def engine(self) -> str:
        """The engine whose source it belongs to: `postgres`, `mysql` or `sqlserver`."""

    @property
    def schema(self) -> str:
        """Its schema there; for MySQL the database."""

    @property
    def database(self) -> str | None:
        """Which source is meant where several have the schema; None: whichever comes first."""

    @property
    def key(self) -> str:
        """The column of the primary key."""

    @property
    def label(self) -> str:
        """`schema.table`."""


@dataclass(frozen=True)
class FollowedRow:
    """A row whose change `labctl demo` and `labctl bench` follow from its source to silver."""

    table: str
    """The silver table."""
    key: str
    """The column of its primary key."""
    value: int
    column: str
    """The column that is changed."""
    next: Callable[[Any], Any]
    """A value that differs from the one given."""


@dataclass(frozen=True)
class TextColumn:
    """A column that short words can be written to, in one row: a change that is found again."""

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
    """In one line, what it holds."""
    tables: tuple[SeedTable, ...]
    ddl: Callable[[str], str]
    """The DDL script of an engine. Safe to run again."""
    generate: Callable[[float], Mapping[str, pa.Table]]
    """The rows of every table, by its name, at a scale. Raises LabError for a bad scale."""
    read: Callable[[Path, Sequence[Any]], Mapping[str, pa.Table]] | None = None
    """The rows of those of these tables that the data set's own files have; None where there are no
    such files. Raises LabError for a file that cannot be loaded."""
    written: tuple[str, ...] = ()
    """Its tables that scenarios write to, the best first. Most scenarios take one, some one of each
    source. Where these are not in a lab, others are taken."""
    followed: FollowedRow | None = None
    text_columns: Mapping[SourceEngine, TextColumn] = field(default_factory=dict)
    """By engine, where `labctl bench --recovery` writes."""
