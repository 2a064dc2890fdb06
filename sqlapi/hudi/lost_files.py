"""Check that the files that a table's commits wrote still exist.

Readers list a table's folder and read the files that they find. If a file is gone, its rows would
be missing, or older ones would show instead, without any error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["last_files", "lost_file", "written_files"]

_BASE_FILE = ".parquet"
_OVERWRITE = "INSERT_OVERWRITE_TABLE"


def lost_file(
    sizes: Mapping[str, int], writes: Iterable[Mapping[str, Any]], *, logs: bool = True
) -> str | None:
    """Return what is wrong with the first file that a read needs; None if all are as written.

    `sizes` has the bytes of the existing files, by name; `writes` the metadata of commits, the last
    completed one first. Of each file group, a read needs the newest base file and (unless not
    `logs`) the log files after it. A write is also reported if it merged a base file other than the
    one that the write before it had made: it did so because that one was missing.
    """
    based: set[str] = set()
    merged: dict[str, str] = {}
    for metadata in writes:
        for stat in _stats(metadata):
            group, name = stat["fileId"], _name(stat.get("path"))
            if not name:
                continue
            if not name.endswith(_BASE_FILE):
                if group not in based and logs and (why := _unlike(name, stat, sizes)):
                    return why
                continue
            if group not in based and (why := _unlike(name, stat, sizes)):
                return why
            based.add(group)
            if merged.get(group, name) != name:
                return f"{name} was lost, and a later commit went on without it"
            merged[group] = _name(stat.get("prevBaseFile")) or ""
            if not merged[group]:
                del merged[group]
        if metadata.get("operationType") == _OVERWRITE:
            # It does not list a file group whose only file was lost as replaced.
            return None
        for replaced in (metadata.get("partitionToReplaceFileIds") or {}).values():
            based.update(replaced)
    return None


def last_files(writes: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the names of the files that commits wrote, the last completed commit first."""
    for metadata in writes:
        for stat in _stats(metadata):
            if name := _name(stat.get("path")):
                yield name


def written_files(metadata: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes in bytes of the files that a write made, by path in the table's folder."""
    stats = _stats(metadata)
    return {s["path"]: int(s.get("fileSizeInBytes") or 0) for s in stats if s.get("path")}


def _stats(metadata: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    for stats in (metadata.get("partitionToWriteStats") or {}).values():
        yield from stats


def _name(path: str | None) -> str:
    return (path or "").rpartition("/")[2]


def _unlike(name: str, stat: Mapping[str, Any], sizes: Mapping[str, int]) -> str | None:
    """Return how a file differs from what was written; None if it does not.

    A file may have grown: if a store can append, several commits share a log file.
    """
    if name not in sizes:
        return f"its file {name} is missing"
    written = int(stat.get("fileSizeInBytes") or 0)
    if sizes[name] < written:
        return f"its file {name} has {sizes[name]:,} bytes of {written:,}"
    return None
