"""Rows of tables in memory, for a process that is asked for the same commit again and again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from threading import Lock

import pyarrow as pa

__all__ = ["TableCache"]


@dataclass(frozen=True)
class _Kept:
    """Columns of a table as of a commit."""

    commit: str
    rows: pa.Table


class TableCache:
    """Keeps the columns that were read last, `limit` bytes at most. May be used by several threads.

    An answer is never older than the table was when it was asked for: whoever asks says what the
    last commit is. Threads that ask for the same table at the same time read it once.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        """The one that was asked for last is the last."""
        self._reading: defaultdict[Hashable, Lock] = defaultdict(Lock)
        self._asked: dict[Hashable, str] = {}
        """The commit for which some rows of a table were read."""
        self._too_large: set[Hashable] = set()

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

        `commit` was the last one a moment ago; `last_commit` looks again.

        `read_some` reads only those rows that are wanted, which may be cheaper; it is used when the
        table is asked for the first time since its last commit, or is too large to be kept.
        """
        if (rows := self._find(table, commit, columns)) is not None:
            return rows
        if table in self._too_large or (read_some and self._is_first(table, commit)):
            return read_some() if read_some else read(columns)
        with self._lock:
            reading = self._reading[table]
        with reading:
            # Another thread may have read it meanwhile, and there may have been a commit.
            commit = last_commit()
            if (rows := self._find(table, commit, columns)) is not None:
                return rows
            rows = read(self._with_kept(table, commit, columns))
            # What was written since `commit` is in these rows, too: with the next commit they
            # are read again.
            self._keep(table, _Kept(commit, rows))
            return rows.select(list(columns))

    def _find(self, table: Hashable, commit: str, columns: Sequence[str]) -> pa.Table | None:
        with self._lock:
            kept = self._kept.get(table)
            if kept is None or kept.commit != commit or {*columns} - {*kept.rows.column_names}:
                return None
            self._kept.move_to_end(table)
        return kept.rows.select(list(columns))

    def _is_first(self, table: Hashable, commit: str) -> bool:
        with self._lock:
            before = self._asked.get(table)
            self._asked[table] = commit
        return before != commit

    def _with_kept(self, table: Hashable, commit: str, columns: Sequence[str]) -> list[str]:
        """`columns`, and those that were asked for before: so all of them come to be kept."""
        with self._lock:
            kept = self._kept.get(table)
        before = kept.rows.column_names if kept and kept.commit == commit else []
        return [*columns, *(name for name in before if name not in columns)]

    def _keep(self, table: Hashable, kept: _Kept) -> None:
        with self._lock:
            self._kept.pop(table, None)
            if kept.rows.nbytes > self._limit:
                self._too_large.add(table)
                return
            self._kept[table] = kept
            while sum(one.rows.nbytes for one in self._kept.values()) > self._limit:
                self._kept.popitem(last=False)
