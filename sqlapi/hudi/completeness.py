"""Check that hudi-rs sees every base file that counts.

hudi-rs decides by the active timeline which files are committed. If a file is on storage, belongs
to no unfinished write and is still left out, its rows are silently missing from an answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass

from pyarrow import fs

__all__ = ["BaseFile", "base_files", "left_out"]

_SUFFIX = ".parquet"


@dataclass(frozen=True, order=True)
class BaseFile:
    """`<file id>_<write token>_<instant>.parquet`; sorts by instant within a file group."""

    file_id: str
    instant: str
    name: str


def base_files(entries: Iterable[fs.FileInfo]) -> list[BaseFile]:
    """Return the base files among the entries of a table's folder."""
    found = []
    for entry in entries:
        parts = entry.base_name.removesuffix(_SUFFIX).split("_")
        if entry.base_name.endswith(_SUFFIX) and len(parts) == 3 and parts[2].isdigit():
            found.append(BaseFile(parts[0], parts[2], entry.base_name))
    return found


def left_out(
    files: Iterable[BaseFile],
    *,
    read: Mapping[str, str],
    completed: Callable[[], Set[str]],
    unfinished: Callable[[], Set[str]],
    replaced: Callable[[], Set[str]],
) -> BaseFile | None:
    """Return a base file that should be read but is not; None when all is well.

    `read` maps file ids to the names of the base files that hudi-rs reads. The other functions are
    called only in doubt: `completed` returns the instants that hudi-rs knows (at least one),
    `unfinished` those of writes under way, `replaced` the file groups that later writes replaced.
    Only a file older than the active timeline can be left out: a newer file is still being written,
    or was committed after the timeline was read.
    """
    groups: dict[str, list[BaseFile]] = defaultdict(list)
    for file in files:
        groups[file.file_id].append(file)
    for file_id, group in groups.items():
        for file in sorted(group, reverse=True):
            if file.name == read.get(file_id) or file.instant in completed():
                break
            if file.instant < min(completed()) and file.instant not in unfinished():
                if file_id in replaced():
                    break
                return file
    return None
