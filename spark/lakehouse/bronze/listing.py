"""The bronze files of a topic, found without listing known files again."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from lakecontract.bronze_files import FileName, beginning
from lakehouse.storage import FileInfo, LakeFiles

__all__ = ["BronzeListing", "ListedFile"]

_FOLDERS_KEPT_SECONDS = 5.0
"""Seconds for which the list of folders is kept."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A bronze file in the object store."""

    path: str
    size: int
    partition: int
    start_offset: int
    modified_ms: int | None = None
    """See `FileInfo`."""

    @classmethod
    def of(cls, info: FileInfo) -> ListedFile | None:
        """Return the bronze file that `info` describes; None when it is something else."""
        name = None if info.is_folder else FileName.parse(info.name)
        if name is None:
            return None
        return cls(info.path, info.size, name.partition, name.start_offset, info.modified_ms)


class BronzeListing:
    """The bronze files of one topic, in the order in which their records were in it.

    The file names alone give the order, whatever the folders are named after.
    """

    def __init__(self, storage: LakeFiles, folder: str) -> None:
        """`folder` is the topic's folder: `…/topics/<topic>`."""
        self._storage = storage
        self._folder = folder
        self._topic = folder.rsplit("/", 1)[1]
        self._newest: list[str] = []
        self._newest_read_at = -_FOLDERS_KEPT_SECONDS

    def has_files(self) -> bool:
        return bool(self._storage.entries(self._folder))

    def every_file(self, *, with_times: bool = False) -> list[ListedFile]:
        """Return all files by partition and start offset."""
        infos = self._storage.files_below(self._folder, with_times=with_times)
        found = map(ListedFile.of, infos)
        return _ordered(file for file in found if file is not None)

    def files_before(
        self, position: Mapping[int, int] | None, *, with_times: bool = False
    ) -> list[ListedFile]:
        """Return the files that begin before `position`, a complete set; all if it is None."""
        files = self.every_file(with_times=with_times)
        if position is None:
            return files
        return [file for file in files if file.start_offset < position.get(file.partition, 0)]

    def from_offsets(self, offsets: Mapping[int, int]) -> list[ListedFile]:
        """Return the files with records at or after `offsets`, and all of other partitions."""
        files = self.every_file()
        first = {
            partition: max(
                (
                    file.start_offset
                    for file in files
                    if file.partition == partition and file.start_offset <= offset
                ),
                default=0,
            )
            for partition, offset in offsets.items()
        }
        return [file for file in files if file.start_offset >= first.get(file.partition, 0)]

    def newer(self, offsets: Mapping[int, int]) -> list[ListedFile]:
        """Return files of these partitions that begin at or after `offsets`, in the newest folders.

        The cost depends only on the number of new files. Older folders are listed first, so that a
        file's predecessors are in the folders that were listed before it.
        """
        return _ordered(
            file
            for folder in self._newest_folders()
            for partition, offset in offsets.items()
            for file in self._after(folder, partition, offset)
        )

    def last_files(self, partitions: Iterable[int]) -> Mapping[int, str]:
        """Return the path of the file with the highest start offset, by partition.

        The file need not be in the last folder: a clock that was set back over midnight leaves a
        later day with lower offsets. Older folders are only asked for higher offsets, mostly none.
        """
        last: dict[int, ListedFile] = {}
        wanted = list(partitions)
        for folder, _ in self._folders_backwards(self._folder):
            for partition in wanted:
                known = last.get(partition)
                beyond = 0 if known is None else known.start_offset + 1
                for file in _ordered(self._after(folder, partition, beyond)):
                    last[partition] = file
        return {partition: file.path for partition, file in last.items()}

    def _after(self, folder: str, partition: int, offset: int) -> Iterator[ListedFile]:
        prefix = beginning(self._topic, partition)
        last = FileName(self._topic, partition, offset - 1)
        for info in self._storage.list_after(folder, prefix, str(last)):
            if (file := ListedFile.of(info)) is not None:
                yield file

    def _newest_folders(self) -> list[str]:
        """Return the last two folders by name, and all `partition=` folders."""
        if time.monotonic() - self._newest_read_at >= _FOLDERS_KEPT_SECONDS:
            parts = (
                path
                for path in self._storage.folders(self._folder, beginning(self._topic))
                if path.rsplit("/", 1)[1].startswith("partition=")
            )
            last = (path for path, is_last in self._folders_backwards(self._folder) if is_last)
            self._newest = list(dict.fromkeys([*parts, *islice(last, 2)]))[::-1]
            self._newest_read_at = time.monotonic()
        return self._newest

    def _folders_backwards(self, folder: str) -> Iterator[tuple[str, bool]]:
        """Yield `folder` and all below it, last name first, and whether each has no subfolder."""
        found = self._storage.folders(folder, beginning(self._topic))
        for path in reversed(found):
            yield from self._folders_backwards(path)
        yield folder, not found


def _ordered(files: Iterable[ListedFile]) -> list[ListedFile]:
    return sorted(files, key=lambda file: (file.partition, file.start_offset))
