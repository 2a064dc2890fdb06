"""A bucket of Hudi tables and folders of Parquet files, `folder/<database>/<table>`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyarrow import dataset, fs

from sqlapi.hudi.file_slices import rows_with_paths
from sqlapi.hudi.opened import Opened
from sqlapi.hudi.timeline import actions_in, description_in
from sqlapi.source import PATH, Comparison, MergeView, SourceError, SourceTable
from sqlapi.sources.filters import expressions
from sqlapi.sources.parquet_rows import parquet_rows
from sqlapi.storage import Storage
from sqlapi.table_folder import TableFolder

__all__ = ["BucketSource"]

_DELETED, _MARK = "__deleted", "true"
"""Mark of a row that was deleted at its source. lakecontract.deletes has the same for the lab's
readers; this package must not import it."""


class BucketSource:
    """Source that reads Hudi tables with hudi-rs and other folders with Arrow."""

    def __init__(
        self, storage: Storage, uri: str, hudi_options: Mapping[str, str] | None = None
    ) -> None:
        """Use the databases in the folder `uri`, `s3://bucket/folder`; options are for hudi-rs."""
        self._storage = storage
        self._uri = uri.rstrip("/")
        self._options = dict(hudi_options or {})

    def tables(self) -> Sequence[SourceTable]:
        found = []
        try:
            for database in self._folders(self._uri):
                for name in self._folders(f"{self._uri}/{database}"):
                    found.append(self._table(database, name))
        except OSError as error:
            raise SourceError(f"The bucket could not be read: {error}") from None
        return found

    def _folders(self, uri: str) -> list[str]:
        selector = fs.FileSelector(self._storage.path(uri), allow_not_found=True)
        entries = self._storage.filesystem.get_file_info(selector)
        names = (e.base_name for e in entries if e.type == fs.FileType.Directory)
        return sorted(name for name in names if not name.startswith("."))

    def _table(self, database: str, name: str) -> SourceTable:
        location = f"{self._uri}/{database}/{name}"
        found = description_in(self._folder(location))
        kind, keys = (found.kind, found.partition_keys) if found else ("", ())
        return SourceTable(database.lower(), name.lower(), location, kind or "PARQUET", keys)

    def _folder(self, location: str) -> TableFolder:
        path = self._storage.path(location)
        return TableFolder(self._storage.filesystem, path, location, self._options)

    def schema(self, table: SourceTable) -> pa.Schema:
        if table.kind == "PARQUET":
            return self._dataset(table).schema
        return self._opened(table).columns

    def partitions(self, table: SourceTable) -> Sequence[str]:
        found = [""]
        try:
            for _ in table.partition_keys:
                found = [f"{at}{name}/" for at in found for name in self._inside(table, at)]
        except OSError as error:
            raise SourceError(f"{table.location} could not be read: {error}") from None
        return [at.rstrip("/") for at in found if at]

    def _inside(self, table: SourceTable, folder: str) -> list[str]:
        return self._folders(f"{table.location}/{folder}")

    def last_commit(self, table: SourceTable) -> str | None:
        """Return newest time, number and size of the timeline's files, or of the Parquet files."""
        folder = self._folder(table.location)
        try:
            found = folder.list(recursive=True) if table.kind == "PARQUET" else actions_in(folder)
        except OSError as error:
            raise SourceError(f"{table.location} could not be read: {error}") from None
        files = [entry for entry in found if entry.is_file]
        newest = max((file.mtime_ns or 0 for file in files), default=None)
        size = sum(file.size or 0 for file in files)
        return None if newest is None else f"{newest}-{len(files)}-{size}"

    def read(
        self,
        table: SourceTable,
        columns: Sequence[str],
        view: MergeView,
        where: Sequence[Comparison] = (),
    ) -> pa.Table:
        if view.as_of:
            raise SourceError("Time travel is not offered for this table")
        if table.kind == "PARQUET":
            found = self._dataset(table)
            for condition in expressions(where):
                found = found.filter(condition)
            with_path = PATH in columns and PATH not in found.schema.names
            plain = [column for column in columns if not with_path or column != PATH]
            return parquet_rows(found, plain, with_path=with_path).select(list(columns))
        if PATH in columns:
            return rows_with_paths(
                table,
                columns,
                lambda: self._opened(table, view).slices(),
                lambda wanted: self.read(table, wanted, view, where),
            )
        opened = self._opened(table, view)
        needed = [f for f in opened.columns if f.name in columns or f.name == _DELETED]
        rows = opened.read(pa.schema(needed))
        if _DELETED in rows.column_names:
            import pyarrow.compute as pc

            marked = pc.field(_DELETED).cast(pa.string())
            rows = rows.filter(marked.is_null() | (marked != _MARK))
        return rows.select(list(columns))

    def _dataset(self, table: SourceTable) -> dataset.Dataset:
        try:
            return dataset.dataset(
                self._storage.path(table.location),
                filesystem=self._storage.filesystem,
                format="parquet",
                partitioning="hive",
            )
        except (OSError, pa.ArrowInvalid) as error:
            raise SourceError(f"{table.location} could not be read: {error}") from None

    def _opened(self, table: SourceTable, view: MergeView | None = None) -> Opened:
        try:
            return Opened(
                self._folder(table.location),
                read_optimized=view is not None and view.read_optimized,
            )
        except Exception as error:
            raise SourceError(f"{table.location} could not be read: {error}") from None
