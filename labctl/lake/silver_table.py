"""A silver table: what a lab's reads add to its format's, which `sqlapi.hudi` reads.

Rows that are marked deleted are hidden, and a point in time read leaves out rows that were not
written after `begin`. That stays correct after commits in between have been archived, unlike Hudi's
own incremental reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from labctl.errors import ExitCode, LabError
from labctl.lake.objectstore import LakeStorage
from labctl.lake.safe_reading import explained, reading
from labctl.lake.view import COMMIT_TIME, LATEST, View, live_rows
from lakecontract.deletes import DELETED
from sqlapi.hudi.hudi_table import HudiTable
from sqlapi.hudi.table_copies import TableCopies
from sqlapi.source import Comparison
from sqlapi.table_format import History, Slice, StoredTable

__all__ = ["SilverTable", "Snapshot"]


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

    @property
    def stored(self) -> StoredTable:
        """The table in its format."""
        return HudiTable(self.name, self.storage.folder(self.path), self.copies)

    def timeline(self) -> History:
        """Read the active timeline. Raise FileNotFoundError when there is no such table."""
        return self.stored.history()

    def has_commit(self) -> bool:
        """Return whether the table has a completed write; false while a refill has removed it."""
        try:
            return bool(self.timeline().writes)
        except FileNotFoundError:
            return False

    def check(self, timeline: History, view: View = LATEST) -> None:
        """Raise LabError if a file is lost, or the moment of `view` cannot be read.

        The table's files are listed after `timeline`.
        """
        with explained():
            self.stored.check_files(timeline, at=view.at, read_optimized=view.read_optimized)
            if view.at:
                self.stored.check_moment(timeline, view.at)

    def last_files(self) -> dict[str, str | None]:
        """Return the last written files, the newest first, by name, with their paths.

        Paths are relative to the bucket; None for a file that does not exist.
        """
        found = self.stored.last_files()
        return {name: f"{self.path}/{path}" if path else None for name, path in found.items()}

    def unreadable_file(self) -> str | None:
        """Return the first of the last written files that exists but cannot be read, or None.

        An object store refuses to return an object that does not match its checksums.
        """
        for name, path in self.last_files().items():
            if path:
                try:
                    self.storage.read_bytes(path)
                except OSError:
                    return name
        return None

    def schema(self, view: View = LATEST) -> pa.Schema:
        """Return the columns, Hudi's own first; for a past view, its moment's."""
        return reading([self], lambda: Snapshot(self, view).schema)

    def written_schema(self) -> pa.Schema:
        """Return the columns of the last commit, with those declared never to be null as such."""
        return reading([self], self.stored.written_columns)

    def partitions(self, keys: Sequence[str]) -> list[str]:
        """Return the folders of partitions by `keys` (`year=2024/kind=a%2Fb`); none without
        keys."""
        return self.stored.partitions(keys)

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

    def slices(self, view: View = LATEST) -> Sequence[Slice]:
        """Return the files from which the rows of a view are read."""
        return reading([self], lambda: Snapshot(self, view).slices())


class Snapshot:
    """A table opened once, so that schema and rows come from the same commit."""

    def __init__(self, source: SilverTable, view: View) -> None:
        self._name = source.name
        self._view = view
        self._stored = source.stored.snapshot(at=view.at, read_optimized=view.read_optimized)

    @property
    def schema(self) -> pa.Schema:
        """The columns at the moment of the view."""
        return self._stored.columns

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
        names = self.schema.names
        if unknown := [c for c in columns if c not in names]:
            raise LabError(
                f"{self._name} has no column {', '.join(unknown)}.",
                hint=f"Columns: {', '.join(names)}.",
                exit_code=ExitCode.USAGE,
            )
        return self._stored.read([*columns, *self._looked_at()], where)

    def slices(self) -> Sequence[Slice]:
        """Return the files from which the rows are read."""
        return self._stored.slices()

    def _looked_at(self) -> list[str]:
        return [COMMIT_TIME] * bool(self._view.begin) + [DELETED] * (not self._view.deleted)
