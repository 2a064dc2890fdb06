"""Where tables come from that nobody had to define: the lake of a lab, a bucket, Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

__all__ = ["PATH", "Comparison", "MergeView", "SourceError", "SourceTable", "TableSource"]

PATH = "$path"
"""A column of every table: the address of the file that a row is in, `s3://…`."""
Comparison = tuple[str, str, str]
"""Column, operator (`=`, `<`, `<=`, `>`, `>=`) and a whole number."""


class SourceError(Exception):
    """A table could not be read; the message says why."""


@dataclass(frozen=True)
class MergeView:
    """Which state of a table is read."""

    read_optimized: bool = False
    """Only what has been compacted into base files (`t_ro`)."""
    as_of: str | None = None
    """A moment of the past, as SQL writes it; in UTC."""


@dataclass(frozen=True)
class SourceTable:
    """A table of a source. Names are in small letters."""

    database: str
    name: str
    location: str
    """`s3://…` of its folder."""
    kind: str = "COPY_ON_WRITE"
    """`COPY_ON_WRITE`, `MERGE_ON_READ` or `PARQUET`. Of the second there are `t_ro` and `t_rt`."""
    partition_keys: tuple[str, ...] = ()
    comments: Mapping[str, str] = field(default_factory=dict)
    """What its columns are said to be, by name in small letters."""
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """`database.name`."""
        return f"{self.database}.{self.name}"


class TableSource(Protocol):
    """What the service asks of a lake."""

    def tables(self) -> Sequence[SourceTable]:
        """All tables. Raises SourceError."""
        ...

    def schema(self, table: SourceTable) -> pa.Schema:
        """Its columns, in order, with what may be null; every view has them. Raises SourceError."""
        ...

    def partitions(self, table: SourceTable) -> Sequence[str]:
        """Folders of its partitions, below its location: `year=2024/kind=a%2Fb`.

        None of a table without partition keys. Raises SourceError.
        """
        ...

    def last_commit(self, table: SourceTable) -> str | None:
        """A text that is another one after every commit; None where there is none to tell.

        It is asked for often, and must be cheap. Raises SourceError.
        """
        ...

    def read(
        self,
        table: SourceTable,
        columns: Sequence[str],
        view: MergeView,
        where: Sequence[Comparison] = (),
    ) -> pa.Table:
        """Those columns, PATH perhaps among them, of all rows the view shows; deleted rows are not.

        Rows that do not meet all of `where` may be left out, where that saves work. Raises
        SourceError.
        """
        ...
