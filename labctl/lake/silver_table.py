"""A silver table, read through hudi-rs into Arrow without a JVM.

hudi-rs merges base and log files by Hudi's own rules. A read of the table as of a moment is Hudi's
time travel. A point in time read does the same and leaves out rows that were not written after
`begin`. That stays correct after Hudi has archived the commits in between, unlike Hudi's own
incremental reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

from labctl.errors import ExitCode, LabError
from labctl.lake.completeness import base_files, left_out
from labctl.lake.instants import LATEST as LATEST_INSTANT
from labctl.lake.lost_files import last_files, lost_file
from labctl.lake.objectstore import LakeStorage
from labctl.lake.safe_reading import TableChangedError, not_written, reading, rebuild_hint
from labctl.lake.table_copies import TableCopies
from labctl.lake.timeline import Timeline
from labctl.lake.view import COMMIT_TIME, LATEST, View, live_rows
from lakecontract.deletes import DELETED
from sqlapi.source import Comparison

# hudi-rs is imported when a table is opened: table names and commits do not need it.
if TYPE_CHECKING:
    from hudi import HudiFileSlice, HudiReadOptions, HudiTable

__all__ = [
    "SilverTable",
    "Snapshot",
    "open_table",
    "plain_schema",
    "to_table",
]

_READ_OPTIMIZED = "hoodie.read.use.read_optimized.mode"
_RECORD_KEY = "hoodie.table.recordkey.fields"
_PARTITIONS = "hoodie.table.partition.fields"
_BATCH_ROWS = 65_536
_ARROW_OF_AVRO: dict[str, pa.DataType] = {
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
}


@dataclass(frozen=True)
class SilverTable:
    """A table of the lake by name. Every read sees the latest commit."""

    name: str
    """`database.table`."""
    path: str
    """Path relative to the bucket."""
    storage: LakeStorage
    copies: TableCopies | None = field(default=None, compare=False, repr=False)
    """Local copies of what was read, for the next read."""

    def timeline(self) -> Timeline:
        """Read the active timeline. Raise FileNotFoundError when there is no such table."""
        return Timeline.load(self.storage, self.path)

    def has_commit(self) -> bool:
        """Return whether the table has a completed write; false while a refill has removed it."""
        try:
            return bool(self.timeline().writes)
        except FileNotFoundError:
            return False

    def check_files(self, timeline: Timeline, view: View = LATEST) -> list[fs.FileInfo]:
        """Return the table's files, listed after `timeline`. Raise LabError when one was lost."""
        entries, why = self._look(timeline, view)
        if why:
            # The table may have been removed and written again between the two looks.
            entries, why = self._look(self.timeline(), view)
        if why:
            raise LabError(
                f"Silver table {self.name} is damaged: {why}.", hint=rebuild_hint(self.name)
            )
        return entries

    def _look(self, timeline: Timeline, view: View) -> tuple[list[fs.FileInfo], str | None]:
        """Return the existing files, and what is wrong with one that should exist."""
        entries = self._files(timeline)
        sizes = {entry.base_name: entry.size or 0 for entry in entries}
        said = timeline.said_last(view.at or LATEST_INSTANT)
        return entries, lost_file(sizes, said, logs=not view.read_optimized)

    def _files(self, timeline: Timeline) -> list[fs.FileInfo]:
        return self.storage.list(self.path, recursive=bool(timeline.properties.get(_PARTITIONS)))

    def file_path(self, name: str) -> str | None:
        """Return the path of the named file, relative to the bucket; None if it does not exist."""
        for entry in self._files(self.timeline()):
            if entry.base_name == name:
                return entry.path.removeprefix(f"{self.storage.root}/")
        return None

    def unreadable_file(self) -> str | None:
        """Return the first of the last written files that exists but cannot be read, or None.

        An object store refuses to return an object that does not match its checksums.
        """
        timeline = self.timeline()
        present = {entry.base_name: entry.path for entry in self._files(timeline)}
        for name in last_files(timeline.said_last()):
            if path := present.get(name):
                try:
                    with self.storage.filesystem.open_input_file(path) as stream:
                        stream.read()
                except OSError:
                    return name
        return None

    def schema(self, view: View = LATEST) -> pa.Schema:
        """Return the columns, Hudi's own (`_hoodie_*`) first; for a past view, its moment's."""
        return reading([self], lambda: Snapshot(self, view).schema)

    def written_schema(self) -> pa.Schema:
        """Return the columns of the last commit, with those declared never to be null as such."""
        return reading([self], lambda: open_table(self).get_schema_with_meta_fields())

    def partitions(self, keys: Sequence[str]) -> list[str]:
        """Return the folders of partitions by `keys` (`year=2024/kind=a%2Fb`); none without
        keys."""
        found = [""]
        for key in keys:
            found = [f"{at}/{name}" for at in found for name in self._inside(at, f"{key}=")]
        return sorted(folder.lstrip("/") for folder in found if folder)

    def _inside(self, folder: str, prefix: str) -> list[str]:
        entries = self.storage.list(f"{self.path}{folder}")
        folders = (e.base_name for e in entries if e.type == fs.FileType.Directory)
        return [name for name in folders if name.startswith(prefix)]

    def read(
        self,
        *,
        columns: Sequence[str] | None = None,
        view: View = LATEST,
        where: Sequence[Comparison] = (),
    ) -> pa.Table:
        """Return the rows that `view` shows, with all columns or just `columns`, in that order.

        Rows that do not meet `where` may be left out if that is certain and saves work. Raise
        LabError for an unknown column, a moment whose files are gone, or a table that this reader
        cannot read correctly.
        """
        return reading([self], lambda: Snapshot(self, view).read(columns, where))

    def slices(self, view: View = LATEST) -> Sequence[HudiFileSlice]:
        """Return the files from which the rows of a view are read."""
        return reading([self], lambda: Snapshot(self, view).slices())


class Snapshot:
    """A table opened once, so that schema and rows come from the same commit."""

    def __init__(self, source: SilverTable, view: View) -> None:
        self._source = source
        self._view = view
        self._entries: list[fs.FileInfo] | None = None
        self._table = open_table(self._place())
        if not any(completed() for completed in self._completed_writes()):
            raise not_written(source.name)

    def _place(self) -> SilverTable:
        """Return the table to read: the table itself, or its copy, which does not have the past."""
        if self._source.copies is None or self._view.at:
            return self._source
        timeline = self._source.timeline()
        entries = self._source.check_files(timeline, self._view)
        try:
            copy = self._source.copies.current(self._source, timeline, entries)
        except OSError:  # hudi-rs may be more patient, or report what is wrong with a file
            copy = None
        if copy is None:
            return self._source
        self._entries = entries
        return copy

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns at the moment of the view."""
        now: pa.Schema = self._table.get_schema_with_meta_fields()
        if self._view.at is None:
            return plain_schema(now)
        timeline = self._source.timeline()
        self._view.check_readable(self._source.name, timeline)
        then = timeline.schema_at(self._view.at)
        return plain_schema(_schema_then(now, then) if then else now)

    def read(
        self, columns: Sequence[str] | None = None, where: Sequence[Comparison] = ()
    ) -> pa.Table:
        """Return the rows of the view; see `SilverTable.read`."""
        wanted = list(self.schema.names if columns is None else columns)
        rows = self.stored(wanted, where)
        if self._view.begin:
            rows = rows.filter(pc.field(COMMIT_TIME) > pc.scalar(self._view.begin))
        if not self._view.deleted:
            rows = live_rows(rows)
        return rows.select(wanted)

    def stored(self, columns: Sequence[str], where: Sequence[Comparison] = ()) -> pa.Table:
        """Return all rows at the moment, with `columns` and those that `View.filters` needs.

        Rows that do not meet `where` may be left out if that is certain and saves work.
        """
        schema = self.schema
        if unknown := [c for c in columns if c not in schema.names]:
            raise LabError(
                f"{self._source.name} has no column {', '.join(unknown)}.",
                hint=f"Columns: {', '.join(schema.names)}.",
                exit_code=ExitCode.USAGE,
            )
        needed = [c for c in schema.names if c in columns or c in self._looked_at()]
        options = self._options(projection=needed, filters=self._safe(where))
        self._check_complete(options)
        batches = self._table.read_stream(options)
        return to_table(batches, pa.schema([schema.field(c) for c in needed]))

    def slices(self) -> Sequence[HudiFileSlice]:
        return self._table.get_file_slices(self._options())

    def _options(self, **given: Any) -> HudiReadOptions:
        from hudi import HudiReadOptions

        options = HudiReadOptions(**given).with_batch_size(_BATCH_ROWS)
        if self._view.at:
            options = options.with_as_of_timestamp(self._view.at)
        if self._view.read_optimized:
            options = options.with_hudi_option(_READ_OPTIMIZED, "true")
        return options

    def _check_complete(self, options: HudiReadOptions) -> None:
        from hudi import HudiReadOptions

        entries = self._entries
        if entries is None:
            entries = self._source.check_files(self._source.timeline(), self._view)
        at = self._view.at or LATEST_INSTANT
        slices = self._table.get_file_slices(HudiReadOptions(hudi_options=options.hudi_options))
        timeline = cache(self._source.timeline)
        missing = left_out(
            [file for file in base_files(entries) if file.instant <= at],
            read={slice_.file_id: slice_.base_file_name for slice_ in slices},
            completed=cache(self._completed),
            unfinished=cache(lambda: timeline().unfinished()),
            replaced=cache(lambda: timeline().replaced(at)),
        )
        if missing:
            if not self._source.file_path(missing.name):
                raise TableChangedError(f"{missing.name} was there and is gone")
            raise LabError(
                f"hudi-rs would leave out rows of {self._source.name}: it does not take "
                f"{missing.name} for committed.",
                hint="Use --engine spark for this table.",
            )

    def _completed_writes(self) -> Sequence[Callable[[], Sequence[Any]]]:
        """Return functions that each list the writes of one kind that hudi-rs sees as completed."""
        timeline = self._table.get_timeline()
        return (
            timeline.get_completed_commits,
            timeline.get_completed_deltacommits,
            timeline.get_completed_replacecommits,
        )

    def _completed(self) -> frozenset[str]:
        """Return the instants of the writes that hudi-rs considers committed; at least one."""
        instants = frozenset(
            commit.timestamp for completed in self._completed_writes() for commit in completed()
        )
        if not instants:
            raise TableChangedError("its commits were there and are gone")
        return instants

    def _looked_at(self) -> list[str]:
        return [COMMIT_TIME] * bool(self._view.begin) + [DELETED] * (not self._view.deleted)

    def _safe(self, where: Sequence[Comparison]) -> list[Comparison]:
        """Return the comparisons of record keys: never null, in every file, of one type."""
        options = self._table.hudi_options()
        keys = options.get(_RECORD_KEY, "").split(",")
        # For a partition's column, hudi-rs would compare the names of folders.
        folders = options.get(_PARTITIONS, "").split(",")
        return [one for one in where if one[0] in keys and one[0] not in folders]


def open_table(source: SilverTable) -> HudiTable:
    """Open a table as its last commit left it: the object will see no later one."""
    from hudi import HudiTableBuilder

    uri = f"{source.storage.uri}/{source.path}"
    return (
        HudiTableBuilder.from_base_uri(uri)
        .with_storage_options(dict(source.storage.hudi_options))
        .build()
    )


def to_table(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """Return batches (of file slices written under older schemas, perhaps) as one table."""
    alike = groupby(batches, key=lambda batch: batch.schema)
    tables = [pa.Table.from_batches(group).select(schema.names) for _, group in alike]
    return pa.concat_tables([schema.empty_table(), *(table.cast(schema) for table in tables)])


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema without metadata, in which every column may be null."""
    return pa.schema([field.with_nullable(True).remove_metadata() for field in schema])


def _schema_then(now: pa.Schema, then: dict[str, Any]) -> pa.Schema:
    """Return the columns of that time, in today's form, with numbers no wider than they were."""
    types = {field["name"]: _arrow_type(field["type"]) for field in then["fields"]}
    return pa.schema(
        [
            field.with_type(types.get(field.name) or field.type)
            for field in now
            if field.name in types or field.name.startswith("_hoodie_")
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
