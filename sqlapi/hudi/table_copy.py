"""A copy of some of a table's files in a folder of this machine, where hudi-rs reads them.

To see a new commit, hudi-rs has to open its table again, with a dozen requests to the object store,
mostly for what it has seen before. With a local folder it does the same within some milliseconds.
Hudi never changes a file in an object store, so a copy stays correct as long as the file's name
exists.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from sqlapi.hudi.names import OWN_FOLDER, PROPERTIES
from sqlapi.hudi.timeline import Instant, Timeline
from sqlapi.table_folder import TableFolder
from sqlapi.table_format import TableError

__all__ = ["TableCopy"]

_PARALLEL = 8
_TIMELINE = f"{OWN_FOLDER}/timeline"
_PLAIN_LAYOUT = {"hoodie.timeline.path": "timeline"}
"""Timeline layout of the copy, whatever the table's own may be."""


class TableCopy:
    """A copy of some files of one table. One thread at a time may use it.

    Its folder is deleted with this object.
    """

    def __init__(self, table: TableFolder) -> None:
        self._folder = Path(mkdtemp(prefix="labctl-table-")).resolve()
        weakref.finalize(self, rmtree, self._folder, ignore_errors=True)
        self._table = table
        self.folder = TableFolder.local(self._folder)
        """Folder of the copy."""
        self._names: set[str] = set()
        self._contents: dict[str, bytes] = {}
        """Known contents of the files of the timeline, by name."""
        self._files: dict[str, int] = {}
        """Sizes in bytes of the copied data files, by path in the table's folder."""

    @staticmethod
    def is_possible(timeline: Timeline) -> bool:
        """Return whether a copy is read like the table: it must not depend on files' times."""
        return timeline.by_completion

    def show(self, timeline: Timeline, instants: Iterable[Instant]) -> None:
        """Make these actions the copy's timeline. Only those given to `tell` can be read."""
        folder = self._folder / _TIMELINE
        if not folder.exists():
            folder.mkdir(parents=True)
            properties = {**timeline.properties, **_PLAIN_LAYOUT}
            lines = (f"{key}={value}\n" for key, value in properties.items())
            (self._folder / PROPERTIES).write_text("".join(lines), encoding="utf-8")
        names = {instant.file_name for instant in instants}
        for name in self._names - names:
            (folder / name).unlink()
            self._contents.pop(name, None)
        for name in names - self._names:
            (folder / name).write_bytes(self._contents.get(name, b""))
        self._names = names

    def tell(self, timeline: Timeline, instants: Iterable[Instant]) -> list[bytes]:
        """Return the contents of these actions' files, in order, and copy them.

        Each new action takes one request. Raise FileNotFoundError for one that has been archived.
        """
        wanted = list(instants)
        new = [instant for instant in wanted if instant.file_name not in self._contents]
        with ThreadPoolExecutor(_PARALLEL) as pool:
            for instant, content in zip(new, pool.map(timeline.content, new), strict=True):
                self._contents[instant.file_name] = content
                if instant.file_name in self._names:
                    (self._folder / _TIMELINE / instant.file_name).write_bytes(content)
        return [self._contents[instant.file_name] for instant in wanted]

    def hold(self, files: Mapping[str, int]) -> None:
        """Hold these data files and no others: paths in the table's folder, with sizes in bytes.

        Each new file takes one request. Raise FileNotFoundError for a file that is gone, and
        TableError for one outside the folder: the writer of the table's commits is unknown here.
        """
        for path in [path for path, size in self._files.items() if files.get(path) != size]:
            (self._folder / path).unlink()
            del self._files[path]
        new = [path for path in files if path not in self._files]
        with ThreadPoolExecutor(_PARALLEL) as pool:
            for path, size in zip(new, pool.map(self._fetch, new), strict=True):
                self._files[path] = size

    def _fetch(self, path: str) -> int:
        file = self._folder / path
        if ".." in file.parts or not file.is_relative_to(self._folder):
            table = self._table.path
            raise TableError(
                table, f"A commit of the table {table} names a file elsewhere: {path}."
            )
        file.parent.mkdir(parents=True, exist_ok=True)
        return file.write_bytes(self._table.read(path))
