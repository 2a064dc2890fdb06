"""Which bronze files a topic has, without listing what is known already."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from lakehouse.bronze.files import FileName
from lakehouse.storage import FileInfo, Storage

__all__ = ["BronzeListing", "BronzeObject"]

_DAYS_KEPT_SECONDS = 5.0
"""How old the knowledge may be which day folders there are."""


@dataclass(frozen=True, slots=True)
class BronzeObject:
    """A bronze file in the object store."""

    path: str
    size: int
    partition: int
    start_offset: int

    @classmethod
    def of(cls, info: FileInfo) -> BronzeObject | None:
        """None when `info` is something else."""
        name = None if info.is_folder else FileName.parse(info.name)
        if name is None:
            return None
        return cls(info.path, info.size, name.partition, name.start_offset)


class BronzeListing:
    """The bronze files of one topic, in the order in which their records were in it."""

    def __init__(self, storage: Storage, folder: str) -> None:
        """`folder` is the topic's: `…/topics/<topic>`."""
        self._storage = storage
        self._folder = folder
        self._topic = folder.rsplit("/", 1)[1]
        self._days: list[str] = []
        self._days_read_at = -_DAYS_KEPT_SECONDS

    def has_files(self) -> bool:
        return next(self._days_backwards(), None) is not None

    def every_file(self) -> list[BronzeObject]:
        """All files, by partition and start offset."""
        return _ordered(file for day in self._days_backwards() for file in self._files(day))

    def from_offsets(self, offsets: Mapping[int, int]) -> list[BronzeObject]:
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

    def newer(self, offsets: Mapping[int, int]) -> list[BronzeObject]:
        """Files of these partitions that begin at or after `offsets`, in the last two days.

        Costs as much as there is new, however many files there are. Older days are listed first:
        a file that is seen in one has its predecessors in the ones before.
        """
        return _ordered(
            file
            for day in self._last_days()
            for partition, offset in offsets.items()
            for file in self._after(day, partition, offset)
        )

    def last_files(self, partitions: Iterable[int]) -> Mapping[int, str]:
        """By partition, the path of the file with the highest start offset.

        It need not lie in the last day: a clock that was set back over midnight leaves a later day
        with lower offsets. An older day is only asked for what is higher, mostly nothing.
        """
        last: dict[int, BronzeObject] = {}
        wanted = list(partitions)
        for day in self._days_backwards():
            for partition in wanted:
                known = last.get(partition)
                beyond = 0 if known is None else known.start_offset + 1
                for file in _ordered(self._after(day, partition, beyond)):
                    last[partition] = file
        return {partition: file.path for partition, file in last.items()}

    def _files(self, day: str) -> Iterator[BronzeObject]:
        for info in self._storage.entries(day):
            if (file := BronzeObject.of(info)) is not None:
                yield file

    def _after(self, day: str, partition: int, offset: int) -> Iterator[BronzeObject]:
        prefix = f"{self._topic}+{partition}+"
        for info in self._storage.list_after(day, prefix, f"{prefix}{offset - 1:010d}.avro"):
            if (file := BronzeObject.of(info)) is not None:
                yield file

    def _last_days(self) -> list[str]:
        if time.monotonic() - self._days_read_at >= _DAYS_KEPT_SECONDS:
            self._days = list(islice(self._days_backwards(), 2))[::-1]
            self._days_read_at = time.monotonic()
        return self._days

    def _days_backwards(self) -> Iterator[str]:
        for year in self._folders(self._folder, "year="):
            for month in self._folders(year, "month="):
                yield from self._folders(month, "day=")

    def _folders(self, folder: str, prefix: str) -> list[str]:
        return [
            info.path
            for info in reversed(self._storage.entries(folder))
            if info.is_folder and info.name.startswith(prefix)
        ]


def _ordered(files: Iterable[BronzeObject]) -> list[BronzeObject]:
    return sorted(files, key=lambda file: (file.partition, file.start_offset))
