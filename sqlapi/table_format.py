"""The interface of a lake's table in files, whose format only one folder knows: `sqlapi.hudi`.

Instants are 17 digits in UTC (`sqlapi.instants`). Where a method takes `at`, None is the present.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import pyarrow as pa

from sqlapi.source import Comparison

__all__ = [
    "Changes",
    "CleanedError",
    "Commit",
    "DamagedError",
    "Description",
    "History",
    "LeftOutError",
    "Slice",
    "Snapshot",
    "State",
    "StoredTable",
    "TableChangedError",
    "TableError",
    "UnwrittenError",
]


class TableError(Exception):
    """A table cannot be read, or not correctly; the message says why, `hint` what may help."""

    def __init__(self, table: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.table = table
        self.hint = hint


class DamagedError(TableError):
    """A file of the table is missing, or is shorter than it was written."""


class UnwrittenError(TableError):
    """The table has no commit yet."""


class LeftOutError(TableError):
    """The reader would leave out rows."""


class CleanedError(TableError):
    """The table's history no longer reaches back to a moment."""


class TableChangedError(TableError):
    """The table was removed or rewritten between two looks at it: another read may succeed."""


@dataclass(frozen=True)
class Description:
    """Properties of a table that do not change."""

    kind: str
    """`COPY_ON_WRITE` or `MERGE_ON_READ`; empty if the table does not say it."""
    version: int
    """Version of the table's format."""
    record_key: str
    partition_fields: str
    """The partition columns, separated by commas; empty for an unpartitioned table."""
    ordering: str

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """The partition columns, in their order."""
        return tuple(name for name in self.partition_fields.split(",") if name)


class State(StrEnum):
    """Progress of an action."""

    REQUESTED = "requested"
    INFLIGHT = "inflight"
    COMPLETED = "completed"


@dataclass(frozen=True, order=True)
class Commit:
    """An action on a table, finished or not."""

    requested: str
    """The instant that names the action."""
    action: str
    state: State
    completed: str | None


class History(Protocol):
    """A table's actions, as they were when they were listed."""

    @property
    def description(self) -> Description: ...

    @property
    def instants(self) -> Sequence[Commit]:
        """Actions by request time, those under way included."""
        ...

    @property
    def writes(self) -> Sequence[Commit]:
        """Completed actions that wrote rows, compactions included."""
        ...

    @property
    def first(self) -> str | None:
        """Instant of the first completed write that is still known."""
        ...

    @property
    def latest(self) -> str | None:
        """Instant of the last completed write."""
        ...

    def unfinished_writes(self) -> Sequence[str]:
        """Return the instants of writes under way, or left behind by a writer that died."""
        ...

    def completion_mark(self, writes: Iterable[Commit] | None = None) -> str | None:
        """Return the instant at which these writes end, for `Changes`; None without a write.

        By default, all writes of the history are meant.
        """
        ...

    def earliest_readable(self) -> str | None:
        """Return the oldest instant that can be read; None if the entire past can be."""
        ...

    def refreshed(self) -> History:
        """Return the history as it is now."""
        ...

    def extended(self, done: Iterable[Commit]) -> History:
        """Return the history with actions that have been completed since."""
        ...


class Slice(Protocol):
    """The files of one group of rows, in one state of the table."""

    @property
    def partition_path(self) -> str: ...

    @property
    def file_id(self) -> str: ...

    @property
    def base_file_name(self) -> str: ...

    @property
    def log_file_names(self) -> Sequence[str]: ...


class Snapshot(Protocol):
    """A table opened once, so that columns and rows come from the same commit."""

    @property
    def columns(self) -> pa.Schema:
        """The columns, the format's own first, all of which may be null."""
        ...

    def read(self, columns: Sequence[str], where: Sequence[Comparison] = ()) -> pa.Table:
        """Return all rows, those marked deleted included, with `columns` in the table's order.

        Rows that do not meet `where` may be left out if that is certain and saves work. Raise
        TableError if the result would not be correct.
        """
        ...

    def slices(self) -> Sequence[Slice]:
        """Return the files from which the rows are read."""
        ...


class Changes(Protocol):
    """Reader of the rows that single commits of a table wrote."""

    def between(self, history: History, begin: str, end: str) -> pa.Table:
        """Return the rows of the writes between two completion marks, deleted ones included.

        `history` must know the writes up to `end`.
        """
        ...


class StoredTable(Protocol):
    """A table in files."""

    def history(self) -> History:
        """Read the table's history. Raise FileNotFoundError when there is no such table."""
        ...

    def snapshot(self, *, at: str | None = None, read_optimized: bool = False) -> Snapshot:
        """Open the table as it was `at` an instant, or only its compacted files.

        Raise UnwrittenError for a table without a commit.
        """
        ...

    def changes(self) -> Changes:
        """Return a reader of what commits wrote."""
        ...

    def written_columns(self) -> pa.Schema:
        """Return the columns of the last commit, with those declared never to be null as such."""
        ...

    def partitions(self, keys: Sequence[str]) -> list[str]:
        """Return the folders of partitions by `keys` (`year=2024/kind=a%2Fb`); none without
        keys."""
        ...

    def check_moment(self, history: History, at: str) -> None:
        """Raise TableError for a moment that the table's files cannot show, or not correctly."""
        ...

    def check_files(
        self, history: History, *, at: str | None = None, read_optimized: bool = False
    ) -> None:
        """Raise DamagedError if a file that a read needs is lost; list files after `history`."""
        ...

    def last_files(self) -> dict[str, str | None]:
        """Return the names of the last written files, the newest first, each with its path.

        Paths are relative to the table's folder; None for a file that does not exist.
        """
        ...

    def write_of(self, path: str) -> Commit | None:
        """Return the completed write that the file at `path`, just written, announces, if any."""
        ...
