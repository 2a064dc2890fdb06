"""Tables of earlier versions lay directly in the silver folder, before there were databases."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from lakehouse.storage import LakeFiles

__all__ = ["move_in"]

_log = logging.getLogger(__name__)
_PARALLEL = 8
_MARK = "/.hoodie/hoodie.properties"
"""The file by which Hudi knows a table."""


def move_in(storage: LakeFiles, old: str, new: str) -> None:
    """Move the table at `old`, if there is one, to `new`, with all its history.

    Files are moved one by one, and the file by which Hudi knows a table comes last. A process that
    dies on the way continues where it stopped, and no reader takes a part for the whole table.
    """
    if not storage.exists(f"{old}{_MARK}"):
        return
    files = [path for path in _files(storage, old) if path != _MARK]
    if new.startswith(f"{old}/"):  # The database has the name that the table had.
        inside = f"{new.removeprefix(old)}/"
        files = [path for path in files if not path.startswith(inside)]
    _log.info("moving %s to %s, %d files", old, new, len(files) + 1)
    with ThreadPoolExecutor(_PARALLEL) as pool:
        for _ in pool.map(lambda path: storage.move(f"{old}{path}", f"{new}{path}"), files):
            """Wait for each move, and raise its error."""
    storage.move(f"{old}{_MARK}", f"{new}{_MARK}")
    storage.delete(f"{old}/.hoodie")


def _files(storage: LakeFiles, folder: str, below: str = "") -> Iterator[str]:
    """Yield the paths below `folder`, each with a leading slash."""
    for entry in storage.entries(f"{folder}{below}"):
        if entry.is_folder:
            yield from _files(storage, folder, f"{below}/{entry.name}")
        else:
            yield f"{below}/{entry.name}"
