"""Tables of earlier versions lay directly in the silver folder, before there were databases."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from lakehouse.storage import Storage

__all__ = ["move_in"]

_log = logging.getLogger(__name__)
_PARALLEL = 8
_MARK = "/.hoodie/hoodie.properties"
"""By this file Hudi knows a table."""


def move_in(storage: Storage, old: str, new: str) -> None:
    """Move the table at `old`, if there is one, to `new`, with all its history.

    File by file, and the one that Hudi knows a table by at the end: a process that dies on the way
    goes on where it stopped, and until the end nobody takes a part of the table for the whole.
    """
    if not storage.exists(f"{old}{_MARK}"):
        return
    files = [
        path for path in _files(storage, old) if not path.endswith(_MARK) and f"{new}/" not in path
    ]
    _log.info("moving %s to %s, %d files", old, new, len(files) + 1)

    def move(path: str) -> None:
        storage.move(path, f"{new}{path[path.index(f'{old}/') + len(old) :]}")

    with ThreadPoolExecutor(_PARALLEL) as pool:
        for _ in pool.map(move, files):
            """Wait for each, and raise what it raises."""
    storage.move(f"{old}{_MARK}", f"{new}{_MARK}")
    storage.delete(f"{old}/.hoodie")


def _files(storage: Storage, folder: str) -> Iterator[str]:
    for entry in storage.entries(folder):
        if entry.is_folder:
            yield from _files(storage, entry.path)
        else:
            yield entry.path
