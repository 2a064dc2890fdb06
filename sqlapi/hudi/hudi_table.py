"""A Hudi table behind the interface `StoredTable`.

hudi-rs merges base and log files by Hudi's own rules. A read of the table as of a moment is Hudi's
time travel, which stays correct after Hudi has archived commits, unlike its own incremental reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any

import pyarrow as pa
from pyarrow import fs

from sqlapi.hudi.commit_rows import CommitRows
from sqlapi.hudi.completeness import base_files, left_out
from sqlapi.hudi.lost_files import last_files, lost_file
from sqlapi.hudi.names import META_PREFIX, OWN_FOLDER
from sqlapi.hudi.opened import Opened, plain_schema
from sqlapi.hudi.table_copies import TableCopies
from sqlapi.hudi.timeline import Instant, Timeline
from sqlapi.instants import LATEST, to_datetime
from sqlapi.source import Comparison
from sqlapi.table_folder import TableFolder
from sqlapi.table_format import (
    CleanedError,
    DamagedError,
    History,
    LeftOutError,
    Slice,
    State,
    TableChangedError,
    TableError,
    UnwrittenError,
)

__all__ = ["HudiTable"]

_ARROW_OF_AVRO: dict[str, pa.DataType] = {
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
}


@dataclass(frozen=True)
class HudiTable:
    """A Hudi table in a folder; see `StoredTable`. `name` is for messages."""

    name: str
    folder: TableFolder
    copies: TableCopies | None = field(default=None, compare=False, repr=False)
    """Local copies of what was read, for the next read."""

    def history(self) -> Timeline:
        return Timeline.load(self.folder)

    def snapshot(self, *, at: str | None = None, read_optimized: bool = False) -> HudiSnapshot:
        return HudiSnapshot(self, at, read_optimized)

    def changes(self) -> CommitRows:
        return CommitRows(self.folder)

    def written_columns(self) -> pa.Schema:
        return Opened(self.folder).columns

    def partitions(self, keys: Sequence[str]) -> list[str]:
        found = [""]
        for key in keys:
            found = [f"{at}/{name}" for at in found for name in self._inside(at, f"{key}=")]
        return sorted(folder.lstrip("/") for folder in found if folder)

    def _inside(self, folder: str, prefix: str) -> list[str]:
        entries = self.folder.list(folder.lstrip("/"))
        folders = (e.base_name for e in entries if e.type == fs.FileType.Directory)
        return [name for name in folders if name.startswith(prefix)]

    def check_moment(self, history: History, at: str) -> None:
        timeline = Timeline.of(history)
        if timeline.zone != "UTC" and datetime.now().astimezone().utcoffset():
            raise TableError(
                self.name,
                f"The commits of {self.name} are named in local time ({timeline.zone}), not in "
                "UTC.",
                hint="Write it with hoodie.table.timeline.timezone=UTC.",
            )
        earliest = timeline.earliest_readable()
        if earliest and at < earliest:
            raise CleanedError(
                self.name,
                f"{self.name} cannot be read as of {at}: its history before {earliest} "
                f"({to_datetime(earliest).isoformat(sep=' ', timespec='milliseconds')}) "
                "has been cleaned.",
            )

    def check_files(
        self, history: History, *, at: str | None = None, read_optimized: bool = False
    ) -> None:
        self.sound_files(Timeline.of(history), at, read_optimized)

    def sound_files(
        self, timeline: Timeline, at: str | None, read_optimized: bool
    ) -> list[fs.FileInfo]:
        """Return the table's files, listed after `timeline`. Raise DamagedError if one was lost."""
        entries, why = self._look(timeline, at, read_optimized)
        if why:
            # The table may have been removed and written again between the two looks.
            entries, why = self._look(self.history(), at, read_optimized)
        if why:
            raise DamagedError(self.name, why)
        return entries

    def _look(
        self, timeline: Timeline, at: str | None, read_optimized: bool
    ) -> tuple[list[fs.FileInfo], str | None]:
        """Return the existing files, and what is wrong with one that should exist."""
        entries = self._files(timeline)
        sizes = {entry.base_name: entry.size or 0 for entry in entries}
        said = timeline.said_last(at or LATEST)
        return entries, lost_file(sizes, said, logs=not read_optimized)

    def _files(self, timeline: Timeline) -> list[fs.FileInfo]:
        return self.folder.list(recursive=bool(timeline.description.partition_fields))

    def has_file(self, name: str) -> bool:
        """Return whether the named file exists."""
        return any(entry.base_name == name for entry in self._files(self.history()))

    def last_files(self) -> dict[str, str | None]:
        timeline = self.history()
        present = {e.base_name: self.folder.relative(e.path) for e in self._files(timeline)}
        return {name: present.get(name) for name in last_files(timeline.said_last())}

    def write_of(self, path: str) -> Instant | None:
        folder, _, name = path.rpartition("/")
        if folder.partition("/")[0] != OWN_FOLDER:
            return None
        instant = Instant.named(name, datetime.now(UTC))
        done = instant is not None and instant.state is State.COMPLETED and instant.writes
        return instant if done else None


class HudiSnapshot:
    """A table opened once; see `Snapshot`."""

    def __init__(self, source: HudiTable, at: str | None, read_optimized: bool) -> None:
        self._source = source
        self._at = at
        self._read_optimized = read_optimized
        self._entries: list[fs.FileInfo] | None = None
        self._opened = Opened(self._place(), at=at, read_optimized=read_optimized)
        if not any(completed() for completed in self._opened.completed_writes()):
            raise UnwrittenError(source.name, f"{source.name} has no commit yet.")

    def _place(self) -> TableFolder:
        """Return the folder to read: the table's, or that of its copy, which has no past."""
        source = self._source
        if source.copies is None or self._at:
            return source.folder
        timeline = source.history()
        entries = source.sound_files(timeline, None, self._read_optimized)
        try:
            copy = source.copies.current(source.folder, timeline, entries)
        except OSError:  # hudi-rs may be more patient, or report what is wrong with a file
            copy = None
        if copy is None:
            return source.folder
        self._entries = entries
        return copy

    @cached_property
    def columns(self) -> pa.Schema:
        now = self._opened.columns
        if self._at is None:
            return plain_schema(now)
        timeline = self._source.history()
        self._source.check_moment(timeline, self._at)
        then = timeline.schema_at(self._at)
        return plain_schema(_schema_then(now, then) if then else now)

    def read(self, columns: Sequence[str], where: Sequence[Comparison] = ()) -> pa.Table:
        schema = pa.schema([field for field in self.columns if field.name in columns])
        self._check_complete()
        return self._opened.read(schema, where)

    def slices(self) -> Sequence[Slice]:
        return self._opened.slices()

    def _check_complete(self) -> None:
        source, entries = self._source, self._entries
        if entries is None:
            entries = source.sound_files(source.history(), self._at, self._read_optimized)
        at = self._at or LATEST
        timeline = cache(source.history)
        missing = left_out(
            [file for file in base_files(entries) if file.instant <= at],
            read={slice_.file_id: slice_.base_file_name for slice_ in self._opened.slices()},
            completed=cache(self._completed),
            unfinished=cache(lambda: timeline().unfinished()),
            replaced=cache(lambda: timeline().replaced(at)),
        )
        if missing:
            if not source.has_file(missing.name):
                raise TableChangedError(source.name, f"{missing.name} was there and is gone")
            raise LeftOutError(
                source.name,
                f"hudi-rs would leave out rows of {source.name}: it does not take "
                f"{missing.name} for committed.",
            )

    def _completed(self) -> frozenset[str]:
        """Return the instants of the writes that hudi-rs considers committed; at least one."""
        instants = frozenset(
            commit.timestamp
            for completed in self._opened.completed_writes()
            for commit in completed()
        )
        if not instants:
            raise TableChangedError(self._source.name, "its commits were there and are gone")
        return instants


def _schema_then(now: pa.Schema, then: dict[str, Any]) -> pa.Schema:
    """Return the columns of that time, in today's form, with numbers no wider than they were."""
    types = {field["name"]: _arrow_type(field["type"]) for field in then["fields"]}
    return pa.schema(
        [
            field.with_type(types.get(field.name) or field.type)
            for field in now
            if field.name in types or field.name.startswith(META_PREFIX)
        ]
    )


def _arrow_type(avro: Any) -> pa.DataType | None:
    """Return the Arrow type of a number; None for all types that Hudi never widens."""
    if isinstance(avro, list):
        return next((t for t in map(_arrow_type, avro) if t), None)
    if isinstance(avro, dict):
        if avro.get("logicalType") == "decimal":
            return pa.decimal128(avro["precision"], avro.get("scale", 0))
        return None
    return _ARROW_OF_AVRO.get(str(avro))
