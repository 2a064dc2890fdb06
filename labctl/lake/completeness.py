"""Which files that count hudi-rs does not see.

hudi-rs takes a file for committed when the active timeline has its instant. Of a file group that no
commit has touched for as long as that reaches back, it would leave out the rows without a word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import PurePosixPath

from pyarrow import fs

__all__ = ["BaseFile", "base_files", "left_out", "logged_since"]

_SUFFIX = ".parquet"
_LOG = ".log."


@dataclass(frozen=True, order=True)
class BaseFile:
    """`<file id>_<write token>_<instant>.parquet`; sorts by instant within a file group."""

    file_id: str
    instant: str
    path: str

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name


def base_files(entries: Iterable[fs.FileInfo]) -> list[BaseFile]:
    """The base files among the entries of a table's folder."""
    found = []
    for entry in entries:
        parts = entry.base_name.removesuffix(_SUFFIX).split("_")
        if entry.base_name.endswith(_SUFFIX) and len(parts) == 3 and parts[2].isdigit():
            found.append(BaseFile(parts[0], parts[2], entry.path))
    return found


def left_out(
    files: Iterable[BaseFile],
    *,
    read: Mapping[str, str],
    completed: Callable[[], Set[str]],
    unfinished: Callable[[], Set[str]],
    replaced: Callable[[], Set[str]],
) -> list[BaseFile]:
    """The base files that should be read and are not, one of a file group at most.

    `read` has the base file's name by file id as hudi-rs reads it. The others are asked only when
    in doubt: `completed` for the instants that hudi-rs knows, one at least, `unfinished` for those
    of writes under way, `replaced` for the file groups that later writes took the place of. Only
    what is older than the active timeline can be left out: a newer file is being written, or was
    committed after the timeline was read.
    """
    groups: dict[str, list[BaseFile]] = defaultdict(list)
    for file in files:
        groups[file.file_id].append(file)
    found = []
    for file_id, group in sorted(groups.items()):
        for file in sorted(group, reverse=True):
            if file.name == read.get(file_id) or file.instant in completed():
                break
            if file.instant < min(completed()) and file.instant not in unfinished():
                if file_id not in replaced():
                    found.append(file)
                break
    return found


def logged_since(file: BaseFile, entries: Iterable[fs.FileInfo]) -> bool:
    """Whether there are log files with changes to `file` among the entries of its table's folder.

    They are called `.<file id>_<instant>.log.<version>_<write token>`.
    """
    for entry in entries:
        file_id, _, rest = entry.base_name.removeprefix(".").partition("_")
        instant, is_log, _ = rest.partition(_LOG)
        if is_log and file_id == file.file_id and instant > file.instant:
            return True
    return False
