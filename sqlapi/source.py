"""Sources of tables that need no definition: a lab's lake, a bucket, Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

__all__ = ["PATH", "Comparison", "MergeView", "SourceError", "SourceTable", "TableSource"]

PATH = "$path"
"""A hidden column of every table: the address `s3://…` of the file that a row is in."""
Comparison = tuple[str, str, str]
"""Column, operator (`=`, `<`, `<=`, `>`, `>=`) and an integer."""


class SourceError(Exception):
    """A table could not be read; the message says why."""


@dataclass(frozen=True)
class MergeView:
    """The state of a table that is read."""

    read_optimized: bool = False
    """True if only compacted base files are read (`t_ro`)."""
    as_of: str | None = None
    """A time in the past, in SQL's notation and in UTC."""


@dataclass(frozen=True)
class SourceTable:
    """A table of a source. Names are in lower case."""

    database: str
    name: str
    location: str
    """Address `s3://…` of its folder."""
    kind: str = "COPY_ON_WRITE"
    """`COPY_ON_WRITE`, `MERGE_ON_READ` (which adds `t_ro` and `t_rt`) or `PARQUET`."""
    partition_keys: tuple[str, ...] = ()
    comments: Mapping[str, str] = field(default_factory=dict)
    """Comments on its columns, by name in lower case."""
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """`database.name`."""
        return f"{self.database}.{self.name}"


class TableSource(Protocol):
    """The interface of a lake."""

    def tables(self) -> Sequence[SourceTable]:
        """Return all tables. Raises SourceError."""
        ...

    def schema(self, table: SourceTable) -> pa.Schema:
        """Return a table's columns in order, with nullability. All its views have the same columns.

        Raises SourceError."""
        ...

    def partitions(self, table: SourceTable) -> Sequence[str]:
        """Return the folders of a table's partitions, below its location: `year=2024/kind=a%2Fb`.

        A table without partition keys has none. Raises SourceError.
        """
        ...

    def last_commit(self, table: SourceTable) -> str | None:
        """Return a string that changes with every commit, or None if that is not known.

        It is called often and must be cheap. Raises SourceError.
        """
        ...

    def read(
        self,
        table: SourceTable,
        columns: Sequence[str],
        view: MergeView,
        where: Sequence[Comparison] = (),
    ) -> pa.Table:
        """Return the columns, which may include PATH, of all rows of the view except deleted ones.

        Rows that do not meet all of `where` may be left out to save work. Raises SourceError.
        """
        ...
