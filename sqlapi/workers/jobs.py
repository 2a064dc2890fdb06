"""The messages between the service and a worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlapi.athena.layout import Layout
from sqlapi.athena.tables_written import Target
from sqlapi.source import TableSource
from sqlapi.sql.types import Type
from sqlapi.storage import Storage

__all__ = [
    "Answered", "Begun", "Call", "Called", "Describe", "Explain", "Failed", "Job", "Ready",
    "Select", "Setup", "Write",
]  # fmt: skip


@dataclass(frozen=True)
class Setup:
    """The settings and objects of a worker, which receives a copy."""

    source: TableSource
    storage: Storage
    catalog: str
    memory: str
    """DuckDB's memory, in DuckDB's notation; beyond it, DuckDB spills up to `spill` to files. The
    kernel limits the worker to twice as much."""
    spill: str
    threads: int
    result_bytes: int
    """Largest size of a result in bytes."""
    scratch: Path
    """Folder for the files of all workers, on a disk."""


# from the service to a worker


@dataclass(frozen=True)
class Job:
    """A query in Athena's SQL."""

    sql: str
    database: str
    """Default database of names without one."""
    parameters: tuple[str, ...] = ()
    """Values, one per `?`."""


@dataclass(frozen=True)
class Describe(Job):
    """A job that returns only the columns."""


@dataclass(frozen=True)
class Explain(Job):
    """A job that returns the plan."""


@dataclass(frozen=True)
class Select(Job):
    """A job that writes the rows to a result file."""

    location: str = ""
    scan_limit: int | None = None
    """Largest number of bytes that may be read."""


@dataclass(frozen=True)
class Write(Job):
    """A job that writes the rows to a table's files."""

    target: Target = field(default_factory=lambda: Target(""))
    name: str = ""
    """Prefix of the files' names."""
    scan_limit: int | None = None


@dataclass(frozen=True)
class Called:
    """The answer to a `Call`."""

    value: Any = None
    error: Exception | None = None
    """Error that the worker may handle: SqlError, SourceError or ApiError."""
    gives_up: bool = False
    """True if the service failed with another error, so that the worker drops its job."""


# from a worker to the service


@dataclass(frozen=True)
class Ready:
    """The worker waits for a job."""


@dataclass(frozen=True)
class Begun:
    """The worker has received the job. If it ends before that, it was killed while idle."""


@dataclass(frozen=True)
class Call:
    """A call of one of the `CatalogCalls`, by name."""

    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Answered:
    """The result of a job; parts that the job does not have are empty."""

    columns: Sequence[tuple[str, Type]] = ()
    rows: int = 0
    scanned: int = 0
    input_rows: int = 0
    lines: Sequence[str] = ()
    """The plan."""
    files: Sequence[tuple[str, list[str]]] = ()
    """Files written, with their partitions' values."""
    layout: Layout = field(default_factory=Layout)
    """Layout of the result file."""
    beginning: bytes = b""
    """The first block of the result, which most clients ask for at once."""


@dataclass(frozen=True)
class Failed:
    """The failure of a job. None: the service knows the error already."""

    error: Exception | None
