"""A table opened by hudi-rs, which reads it into Arrow without a JVM."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlapi.hudi.names import PARTITION_FIELDS, READ_OPTIMIZED, RECORD_KEY
from sqlapi.source import Comparison
from sqlapi.table_folder import TableFolder
from sqlapi.table_format import Slice, TableChangedError

# hudi-rs is imported when a table is opened: table names and commits do not need it.
if TYPE_CHECKING:
    from hudi import HudiReadOptions, HudiTable

__all__ = ["PANIC", "Opened", "is_unread", "open_table", "plain_schema", "stored_rows"]

_BATCH_ROWS = 65_536
# hudi-rs exports none of its exception types.
_HUDI_ERROR = "HudiCoreError"
PANIC = "PanicException"


def is_unread(error: BaseException) -> bool:
    """Return whether hudi-rs could not read a table, or files that it requested were missing."""
    names = (_HUDI_ERROR, PANIC, TableChangedError.__name__, FileNotFoundError.__name__)
    return type(error).__name__ in names


def open_table(folder: TableFolder) -> HudiTable:
    """Open a table as its last commit left it: the object will see no later one."""
    from hudi import HudiTableBuilder

    builder = HudiTableBuilder.from_base_uri(folder.uri)
    return builder.with_storage_options(dict(folder.options)).build()


class Opened:
    """A table as its last commit left it, or as it was `at` an instant."""

    def __init__(
        self, folder: TableFolder, *, at: str | None = None, read_optimized: bool = False
    ) -> None:
        self._table = open_table(folder)
        self._at = at
        self._read_optimized = read_optimized

    @cached_property
    def columns(self) -> pa.Schema:
        """The columns of the last commit, those that are never null as such."""
        found: pa.Schema = self._table.get_schema_with_meta_fields()
        return found

    def read(self, schema: pa.Schema, where: Sequence[Comparison] = ()) -> pa.Table:
        """Return the columns of `schema`; leave out rows by those of `where` that are certain."""
        options = self._options(projection=schema.names, filters=self._safe(where))
        return _to_table(self._table.read_stream(options), schema)

    def slices(self) -> Sequence[Slice]:
        """Return the files from which the rows are read."""
        found: Sequence[Slice] = self._table.get_file_slices(self._options())
        return found

    def completed_writes(self) -> Sequence[Callable[[], Sequence[Any]]]:
        """Return functions that each list the writes of one kind that hudi-rs sees as completed."""
        timeline = self._table.get_timeline()
        return (
            timeline.get_completed_commits,
            timeline.get_completed_deltacommits,
            timeline.get_completed_replacecommits,
        )

    def _options(self, **given: Any) -> HudiReadOptions:
        from hudi import HudiReadOptions

        options = HudiReadOptions(**given).with_batch_size(_BATCH_ROWS)
        if self._at:
            options = options.with_as_of_timestamp(self._at)
        if self._read_optimized:
            options = options.with_hudi_option(READ_OPTIMIZED, "true")
        return options

    def _safe(self, where: Sequence[Comparison]) -> list[Comparison]:
        """Return the comparisons of record keys: never null, in every file, of one type."""
        options = self._table.hudi_options()
        keys = options.get(RECORD_KEY, "").split(",")
        # For a partition's column, hudi-rs would compare the names of folders.
        folders = options.get(PARTITION_FIELDS, "").split(",")
        return [one for one in where if one[0] in keys and one[0] not in folders]


def stored_rows(folder: TableFolder, begin: str, end: str) -> pa.Table:
    """Return the rows of the writes between two completion marks, from the table's own files."""
    from hudi import HudiQueryType, HudiReadOptions

    opened = open_table(folder)
    options = (
        HudiReadOptions()
        .with_query_type(HudiQueryType.Incremental)
        .with_start_timestamp(begin)
        .with_end_timestamp(end)
    )
    batches = opened.read(options)
    # The table's schema is another request: batches of one schema have it already.
    alike = len({batch.schema for batch in batches}) == 1
    schema = batches[0].schema if alike else opened.get_schema_with_meta_fields()
    return _to_table(batches, plain_schema(schema))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema without metadata, in which every column may be null."""
    return pa.schema([field.with_nullable(True).remove_metadata() for field in schema])


def _to_table(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """Return batches (of file slices written under older schemas, perhaps) as one table."""
    alike = groupby(batches, key=lambda batch: batch.schema)
    tables = [pa.Table.from_batches(group).select(schema.names) for _, group in alike]
    return pa.concat_tables([schema.empty_table(), *(table.cast(schema) for table in tables)])
