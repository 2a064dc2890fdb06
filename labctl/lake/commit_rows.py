"""Rows that single commits of a table wrote."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from labctl.lake.lost_files import written_files
from labctl.lake.safe_reading import is_unread, reading
from labctl.lake.silver_table import SilverTable, open_table, plain_schema, to_table
from labctl.lake.table_copy import TableCopy
from labctl.lake.timeline import Timeline, said_by

__all__ = ["CommitRows", "stored_rows"]

_MOST_BYTES = 64 * 1024**2
"""Size limit of a copy in bytes; if commits wrote more, their own files are read."""


class CommitRows:
    """Reader of the rows that a table's commits wrote, through a copy of their files."""

    def __init__(self, table: SilverTable) -> None:
        self._table = table
        self._copy = TableCopy(table)

    def between(self, timeline: Timeline, begin: str, end: str) -> pa.Table:
        """Return the rows of the writes between two completion marks, deleted ones included.

        `timeline` must know the writes up to `end`, see `Timeline.completion_mark`.
        """
        try:
            rows = self.copied(timeline, begin, end)
        except BaseException as error:  # a panic of hudi-rs is no Exception
            if not is_unread(error) and not isinstance(error, OSError):
                raise
            rows = None
        if rows is not None:
            return rows
        return reading([self._table], lambda: stored_rows(self._table, begin, end))

    def copied(self, timeline: Timeline, begin: str, end: str) -> pa.Table | None:
        """Return the rows, read from a copy of the files; None if the files should not be copied.

        Raise an error for which `is_unread` is true if a file is gone or hudi-rs cannot read the
        copy.
        """
        if not TableCopy.is_possible(timeline):
            return None
        known = [w for w in timeline.writes if w.completed and w.completed <= end]
        self._copy.show(timeline, known)
        # hudi-rs asks each of these which file groups it took the place of.
        self._copy.tell(timeline, [w for w in known if w.replaces])
        new = [w for w in known if w.completed and w.completed > begin]
        files: dict[str, int] = {}
        for content in self._copy.tell(timeline, new):
            files |= written_files(said_by(content))
        if sum(files.values()) > _MOST_BYTES:
            return None
        try:
            self._copy.hold(files)
            return stored_rows(replace(self._table, storage=self._copy.storage), begin, end)
        finally:
            self._copy.hold({})


def stored_rows(table: SilverTable, begin: str, end: str) -> pa.Table:
    """Return the rows of the writes between two completion marks, from the table's own files."""
    from hudi import HudiQueryType, HudiReadOptions

    opened = open_table(table)
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
    return to_table(batches, plain_schema(schema))
