"""A cache of table rows in files, for processes that read the same commit repeatedly."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa

__all__ = ["TableCache"]

_COMMIT = b"commit"
log = logging.getLogger("sqlapi")


class TableCache:
    """A cache of the columns that were read last, in a folder of `limit` bytes at most.

    Several threads and processes may use it at once, and a process that uses it may be killed. All
    share the same memory: cached rows are mapped from their file, and the system reclaims that
    memory when it needs it.

    An answer is never older than the table was at the request, because the caller says what the
    last commit is. Callers that request the same table at the same time read it once.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        """Create the cache. The folder is for this cache alone and need not exist yet."""
        self._folder = folder
        self._limit = limit

    def rows(
        self,
        table: Hashable,
        commit: str,
        columns: Sequence[str],
        read: Callable[[Sequence[str]], pa.Table],
        *,
        last_commit: Callable[[], str],
        read_some: Callable[[], pa.Table] | None = None,
    ) -> pa.Table:
        """Return all rows of a table with `columns`: cached ones, or what `read` returns.

        `commit` was the last commit a moment ago; `last_commit` looks again. The `repr` of `table`
        must distinguish it from other tables, in every process.

        `read_some` reads only the wanted rows, which may be cheaper. It is used for the first
        request since the table's last commit, and for a table that is too large to be cached.
        """
        kept = _Kept(self._folder, table)
        if (rows := kept.find(commit, columns)) is not None:
            return rows
        if kept.is_too_large or (read_some and kept.is_first(commit)):
            return read_some() if read_some else read(columns)
        with kept.reading():
            # Another caller may have read it meanwhile, and there may be a new commit.
            commit = last_commit()
            if (rows := kept.find(commit, columns)) is not None:
                return rows
            rows = read([*columns, *kept.columns_beside(commit, columns)])
            # These rows may include what was written since `commit`: they are read again with
            # the next commit.
            if rows.nbytes > self._limit:
                kept.note_too_large()
            else:
                kept.keep(commit, rows)
                self._forget_old()
            return rows.select(list(columns))

    def _forget_old(self) -> None:
        """Remove the least recently used files until the others fit."""
        files = []
        for file in self._folder.glob("*.arrow"):
            # Another process may remove it as well.
            with suppress(FileNotFoundError):
                files.append((file.stat(), file))
        size = sum(status.st_size for status, _ in files)
        for status, file in sorted(files, key=lambda found: found[0].st_mtime_ns):
            if size <= self._limit:
                return
            # A process that has mapped the file keeps its contents.
            file.unlink(missing_ok=True)
            size -= status.st_size


class _Kept:
    """The cached files of one table."""

    def __init__(self, folder: Path, table: Hashable) -> None:
        self._folder = folder
        name = hashlib.sha256(repr(table).encode()).hexdigest()
        self._rows = folder / f"{name}.arrow"
        self._asked = folder / f"{name}.asked"
        """File with the commit for which some rows of the table were read."""
        self._too_large = folder / f"{name}.large"
        self._lock = folder / f"{name}.lock"

    def find(self, commit: str, columns: Sequence[str]) -> pa.Table | None:
        """Return the cached rows if they are of that commit and have the columns, else None."""
        with self._mapped() as reader:
            if reader is None or not _is_of(reader.schema, commit):
                return None
            if {*columns} - {*reader.schema.names}:
                return None
            with suppress(OSError):
                _note_use(self._rows)
            rows: pa.Table = reader.read_all()
            return rows.select(list(columns)).replace_schema_metadata()

    def columns_beside(self, commit: str, columns: Sequence[str]) -> list[str]:
        """Return the cached columns besides `columns`, so that all of them stay cached."""
        with self._mapped() as reader:
            if reader is None or not _is_of(reader.schema, commit):
                return []
            return [name for name in reader.schema.names if name not in columns]

    @contextmanager
    def _mapped(self) -> Iterator[pa.RecordBatchFileReader | None]:
        try:
            source = pa.memory_map(str(self._rows))
        except OSError:
            yield None
            return
        with pa.ipc.open_file(source) as reader:
            yield reader

    def keep(self, commit: str, rows: pa.Table) -> None:
        """Replace the cached rows. If the disk is full, the new rows are not cached."""
        schema = rows.schema.with_metadata({_COMMIT: commit.encode()})
        new = self._rows.with_suffix(".new")
        try:
            with pa.OSFile(str(new), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
                writer.write_table(rows)
            _note_use(new)
            new.replace(self._rows)
        except OSError as error:
            log.warning("rows of a table are not kept: %s", error)
            new.unlink(missing_ok=True)

    @property
    def is_too_large(self) -> bool:
        return self._too_large.exists()

    def note_too_large(self) -> None:
        """Note that the table is too large, so that it is no longer cached."""
        self._too_large.touch()
        self._rows.unlink(missing_ok=True)

    def is_first(self, commit: str) -> bool:
        """Return whether this is the first request for that commit, and note the request."""
        try:
            before = self._asked.read_text(encoding="utf-8")
        except FileNotFoundError:
            before = ""
        if before == commit:
            return False
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._asked.write_text(commit, encoding="utf-8")
        return True

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the right to read the table, which one thread of all processes has at a time."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._lock.open("ab") as file:
            # The kernel releases the lock of a process that is killed.
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _note_use(file: Path) -> None:
    """Note the time of use exactly: the kernel's own notes may not change for some milliseconds."""
    now = time.time_ns()
    os.utime(file, ns=(now, now))


def _is_of(schema: pa.Schema, commit: str) -> bool:
    return (schema.metadata or {}).get(_COMMIT) == commit.encode()
