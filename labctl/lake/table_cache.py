"""Rows of tables in files, for processes that are asked for the same commit again and again."""

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
    """Keeps the columns that were read last, in a folder, `limit` bytes at most.

    May be used by several threads and processes at once, and by one that is killed. All see the
    same memory: what is kept is mapped from its file, and the system takes it back when it needs
    memory.

    An answer is never older than the table was when it was asked for: whoever asks says what the
    last commit is. Those that ask for the same table at the same time read it once.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        """The folder is this cache's alone; it need not be there yet."""
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
        """All rows of a table, with `columns`: kept ones, or what `read` gives for some columns.

        `commit` was the last one a moment ago; `last_commit` looks again. The text of `table` must
        tell it from others, in every process.

        `read_some` reads only those rows that are wanted, which may be cheaper; it is used when the
        table is asked for the first time since its last commit, or is too large to be kept.
        """
        kept = _Kept(self._folder, table)
        if (rows := kept.find(commit, columns)) is not None:
            return rows
        if kept.is_too_large or (read_some and kept.is_first(commit)):
            return read_some() if read_some else read(columns)
        with kept.reading():
            # Another one may have read it meanwhile, and there may have been a commit.
            commit = last_commit()
            if (rows := kept.find(commit, columns)) is not None:
                return rows
            rows = read([*columns, *kept.columns_beside(commit, columns)])
            # What was written since `commit` is in these rows, too: with the next commit they
            # are read again.
            if rows.nbytes > self._limit:
                kept.note_too_large()
            else:
                kept.keep(commit, rows)
                self._forget_old()
            return rows.select(list(columns))

    def _forget_old(self) -> None:
        """Remove files that were not asked for in the longest time, until the others fit."""
        files = []
        for file in self._folder.glob("*.arrow"):
            # Another process may remove it as well.
            with suppress(FileNotFoundError):
                files.append((file.stat(), file))
        size = sum(status.st_size for status, _ in files)
        for status, file in sorted(files, key=lambda found: found[0].st_mtime_ns):
            if size <= self._limit:
                return
            # Who has mapped it keeps it.
            file.unlink(missing_ok=True)
            size -= status.st_size


class _Kept:
    """The files of one table."""

    def __init__(self, folder: Path, table: Hashable) -> None:
        self._folder = folder
        name = hashlib.sha256(repr(table).encode()).hexdigest()
        self._rows = folder / f"{name}.arrow"
        self._asked = folder / f"{name}.asked"
        """The commit for which some rows of it were read."""
        self._too_large = folder / f"{name}.large"
        self._lock = folder / f"{name}.lock"

    def find(self, commit: str, columns: Sequence[str]) -> pa.Table | None:
        """Its rows, if they are of that commit and have the columns."""
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
        """Columns that were asked for before: so all of them come to be kept."""
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
        """Put rows in the place of those that are kept. Where the disk is full, none are."""
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
        """From now on it is not kept."""
        self._too_large.touch()
        self._rows.unlink(missing_ok=True)

    def is_first(self, commit: str) -> bool:
        """Whether this is asked for that commit for the first time."""
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
        """The right to read it, for one thread of all processes."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._lock.open("ab") as file:
            # The kernel gives it back for who is killed.
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _note_use(file: Path) -> None:
    """Note the time exactly: the kernel's own notes may be the same for some milliseconds."""
    now = time.time_ns()
    os.utime(file, ns=(now, now))


def _is_of(schema: pa.Schema, commit: str) -> bool:
    return (schema.metadata or {}).get(_COMMIT) == commit.encode()
