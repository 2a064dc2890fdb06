"""Whether the files are there that a table's commits wrote.

Readers list a table's folder and take what they find. A file that is gone would be rows missing, or
older ones shown in their place, and nobody would say so.
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
    """What is wrong with the first file that a read needs and that is not as it was written.

    `sizes` has the bytes of the files there are, by name; `writes` what commits say of themselves,
    the last one completed first. Of a file group, the newest base file is needed and the log files
    (unless not `logs`) behind it. A write that merged another base file than the one before it had
    made is told too: it did so because that one was missing.
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
            # Of a group whose only file was lost it does not know that it replaces it.
            return None
        for replaced in (metadata.get("partitionToReplaceFileIds") or {}).values():
            based.update(replaced)
    return None


def last_files(writes: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Names of the files that commits wrote, the last one completed first."""
    for metadata in writes:
        for stat in _stats(metadata):
            if name := _name(stat.get("path")):
                yield name


def written_files(metadata: Mapping[str, Any]) -> dict[str, int]:
    """Sizes in bytes of the files that a write made, by their paths in the table's folder."""
    stats = _stats(metadata)
    return {s["path"]: int(s.get("fileSizeInBytes") or 0) for s in stats if s.get("path")}


def _stats(metadata: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    for stats in (metadata.get("partitionToWriteStats") or {}).values():
        yield from stats


def _name(path: str | None) -> str:
    return (path or "").rpartition("/")[2]


def _unlike(name: str, stat: Mapping[str, Any], sizes: Mapping[str, int]) -> str | None:
    """A file may have grown: where a store can append, several commits share a log file."""
    if name not in sizes:
        return f"its file {name} is missing"
    written = int(stat.get("fileSizeInBytes") or 0)
    if sizes[name] < written:
        return f"its file {name} has {sizes[name]:,} bytes of {written:,}"
    return None
