"""What the service and a worker tell each other."""

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
    """What a worker is made of. It reaches the worker as a copy."""

    source: TableSource
    storage: Storage
    catalog: str
    memory: str
    """For DuckDB, as it writes sizes; beyond it DuckDB writes to files, up to `spill`. The kernel
    lets the worker take twice as much."""
    spill: str
    threads: int
    result_bytes: int
    """The largest result."""
    scratch: Path
    """A folder for files of all workers, on a disk."""


# from the service to a worker


@dataclass(frozen=True)
class Job:
    """A query in Athena's SQL."""

    sql: str
    database: str
    """Of names without one."""
    parameters: tuple[str, ...] = ()
    """A value for each `?`."""


@dataclass(frozen=True)
class Describe(Job):
    """Asks for the columns alone."""


@dataclass(frozen=True)
class Explain(Job):
    """Asks for the plan."""


@dataclass(frozen=True)
class Select(Job):
    """Writes the rows as a result."""

    location: str = ""
    scan_limit: int | None = None
    """Bytes that may be read."""


@dataclass(frozen=True)
class Write(Job):
    """Writes the rows as files of a table."""

    target: Target = field(default_factory=lambda: Target(""))
    name: str = ""
    """What the names of the files begin with."""
    scan_limit: int | None = None


@dataclass(frozen=True)
class Called:
    """The answer to a `Call`."""

    value: Any = None
    error: Exception | None = None
    """What the worker may handle: SqlError, SourceError or ApiError."""
    gives_up: bool = False
    """Whether the service failed in another way, so that the worker drops its job."""


# from a worker to the service


@dataclass(frozen=True)
class Ready:
    """The worker waits for a job."""


@dataclass(frozen=True)
class Begun:
    """The worker has the job. One that ends before was killed while it waited."""


@dataclass(frozen=True)
class Call:
    """A question about the catalog, by the name of one of `CatalogCalls`' methods."""

    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Answered:
    """A job's end; what it does not tell of is empty."""

    columns: Sequence[tuple[str, Type]] = ()
    rows: int = 0
    scanned: int = 0
    input_rows: int = 0
    lines: Sequence[str] = ()
    """The plan."""
    files: Sequence[tuple[str, list[str]]] = ()
    """Those written, with the values of their partitions."""
    layout: Layout = field(default_factory=Layout)
    """Of the result's file."""
    beginning: bytes = b""
    """The first block of the result, which most clients ask for at once."""


@dataclass(frozen=True)
class Failed:
    """A job's other end. Without an error the service knows it already."""

    error: Exception | None
