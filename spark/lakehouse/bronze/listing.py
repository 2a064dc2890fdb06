"""Which bronze files a topic has, without listing what is known already."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from lakehouse.bronze.files import FileName, beginning
from lakehouse.storage import FileInfo, LakeFiles

__all__ = ["BronzeListing", "ListedFile"]

_FOLDERS_KEPT_SECONDS = 5.0
"""How old the knowledge may be which folders there are."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A bronze file in the object store."""

    path: str
    size: int
    partition: int
    start_offset: int

    @classmethod
    def of(cls, info: FileInfo) -> ListedFile | None:
        """None when `info` is something else."""
        name = None if info.is_folder else FileName.parse(info.name)
        if name is None:
            return None
        return cls(info.path, info.size, name.partition, name.start_offset)


class BronzeListing:
    """The bronze files of one topic, in the order in which their records were in it.

    Whatever their folders are named after: the names of the files alone tell their order.
    """

    def __init__(self, storage: LakeFiles, folder: str) -> None:
        """`folder` is the topic's: `…/topics/<topic>`."""
        self._storage = storage
        self._folder = folder
        self._topic = folder.rsplit("/", 1)[1]
        self._newest: list[str] = []
        self._newest_read_at = -_FOLDERS_KEPT_SECONDS

    def has_files(self) -> bool:
        return bool(self._storage.entries(self._folder))

    def every_file(self) -> list[ListedFile]:
        """All files, by partition and start offset."""
        found = map(ListedFile.of, self._storage.files_below(self._folder))
        return _ordered(file for file in found if file is not None)

    def files_before(self, position: Mapping[int, int] | None) -> list[ListedFile]:
        """All files that begin before `position`, which are whole together; all without one."""
        files = self.every_file()
        if position is None:
            return files
        return [file for file in files if file.start_offset < position.get(file.partition, 0)]

    def from_offsets(self, offsets: Mapping[int, int]) -> list[ListedFile]:
        """The files with records at or after `offsets`, and all of partitions not among them."""
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
        """Files of these partitions that begin at or after `offsets`, in the newest folders.

        Costs as much as there is new, however many files there are. Older folders are listed first:
        a file that is seen in one has its predecessors in the ones before.
        """
        return _ordered(
            file
            for folder in self._newest_folders()
            for partition, offset in offsets.items()
            for file in self._after(folder, partition, offset)
        )

    def last_files(self, partitions: Iterable[int]) -> Mapping[int, str]:
        """By partition, the path of the file with the highest start offset.

        It need not be in the last folder: a clock that was set back over midnight leaves a later
        day with lower offsets. An older one is only asked for what is higher, mostly nothing.
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
        """The last two folders by name; of folders by partition, all."""
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
        """Every folder below `folder`, by name backwards, and whether it has none in it."""
        found = self._storage.folders(folder, beginning(self._topic))
        for path in reversed(found):
            yield from self._folders_backwards(path)
        yield folder, not found


def _ordered(files: Iterable[ListedFile]) -> list[ListedFile]:
    return sorted(files, key=lambda file: (file.partition, file.start_offset))
