"""Rows that single commits of a table wrote."""

from __future__ import annotations

import pyarrow as pa

from sqlapi.hudi.lost_files import written_files
from sqlapi.hudi.opened import is_unread, stored_rows
from sqlapi.hudi.table_copy import TableCopy
from sqlapi.hudi.timeline import Timeline, said_by
from sqlapi.table_folder import TableFolder
from sqlapi.table_format import History

__all__ = ["CommitRows"]

_MOST_BYTES = 64 * 1024**2
"""Size limit of a copy in bytes; if commits wrote more, their own files are read."""


class CommitRows:
    """Reader of the rows that a table's commits wrote, through a copy of their files."""

    def __init__(self, table: TableFolder) -> None:
        self._table = table
        self._copy = TableCopy(table)

    def between(self, history: History, begin: str, end: str) -> pa.Table:
        """Return the rows of the writes between two completion marks, deleted ones included.

        `history` must know the writes up to `end`, see `Timeline.completion_mark`. Raise an error
        for which `is_unread` is true if files are gone.
        """
        try:
            rows = self.copied(history, begin, end)
        except BaseException as error:  # a panic of hudi-rs is no Exception
            if not is_unread(error) and not isinstance(error, OSError):
                raise
            rows = None
        return stored_rows(self._table, begin, end) if rows is None else rows

    def copied(self, history: History, begin: str, end: str) -> pa.Table | None:
        """Return the rows, read from a copy of the files; None if the files should not be copied.

        Raise an error for which `is_unread` is true if a file is gone or hudi-rs cannot read the
        copy.
        """
        timeline = Timeline.of(history)
        if not TableCopy.is_possible(timeline):
            return None
        known = [w for w in timeline.writes if w.completed and w.completed <= end]
        self._copy.show(timeline, known)
        # hudi-rs asks each of these which file groups it took the place of.
        self._copy.tell(timeline, [w for w in known if w.replaces])
        new = [w for w in known if w.completed and w.completed > begin]
        files: dict[str, int] = {}
        for content in self._copy.tell(timeline, new):
            files |= written_files(said_by(content))
        if sum(files.values()) > _MOST_BYTES:
            return None
        try:
            self._copy.hold(files)
            return stored_rows(self._copy.folder, begin, end)
        finally:
            self._copy.hold({})
