"""Copies of a lake's tables, for a process that reads the same tables repeatedly."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

from pyarrow import fs

from sqlapi.hudi.names import OWN_FOLDER
from sqlapi.hudi.table_copy import TableCopy
from sqlapi.hudi.timeline import Timeline
from sqlapi.table_folder import TableFolder

__all__ = ["TableCopies"]

_MOST_BYTES = 512 * 1024**2


class TableCopies:
    """Copies of the tables that were read last, `most_bytes` on disk at most.

    They belong to one lake and to this process, and are deleted with this object. Threads share it.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._copies: OrderedDict[str, tuple[TableCopy, int]] = OrderedDict()
        """Copies by address, with the size in bytes; the one that was read last comes last."""

    @property
    def held_bytes(self) -> int:
        """Size of the copied files of all tables, in bytes."""
        return sum(size for _, size in self._copies.values())

    def current(
        self, table: TableFolder, timeline: Timeline, entries: Iterable[fs.FileInfo]
    ) -> TableFolder | None:
        """Return the folder of the copy, with the present files; None if they are too large.

        Return None also if `TableCopy.is_possible` is false. `entries` lists the table's folder and
        was read after its timeline. Only new files are requested. Raise OSError when a file was
        removed meanwhile, or cannot be read.
        """
        paths = ((table.relative(e.path), e.size or 0) for e in entries if e.is_file)
        files = {path: size for path, size in paths if not path.startswith(f"{OWN_FOLDER}/")}
        size = sum(files.values())
        if not TableCopy.is_possible(timeline) or size > self._most_bytes:
            return None
        with self._lock:
            copy, _ = self._copies.pop(table.uri, (None, 0))
            copy = copy or TableCopy(table)
            while self.held_bytes + size > self._most_bytes:
                self._copies.popitem(last=False)
            copy.show(timeline, timeline.instants)
            copy.tell(timeline, timeline.writes)
            copy.hold(files)
            self._copies[table.uri] = copy, size
        return copy.folder
