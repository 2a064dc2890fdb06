"""A bucket of Hudi tables and folders of Parquet files, `folder/<database>/<table>`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyarrow import dataset, fs

from sqlapi.source import PATH, Comparison, MergeView, SourceError, SourceTable
from sqlapi.sources.file_slices import Slice, rows_with_paths
from sqlapi.sources.filters import expressions
from sqlapi.sources.parquet_rows import parquet_rows
from sqlapi.storage import Storage

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
        properties = self._properties(location)
        kind = properties.get("hoodie.table.type", "PARQUET")
        keys = properties.get("hoodie.table.partition.fields", "")
        return SourceTable(
            database.lower(), name.lower(), location, kind, tuple(k for k in keys.split(",") if k)
        )

    def _properties(self, location: str) -> dict[str, str]:
        try:
            text = self._storage.read(f"{location}/.hoodie/hoodie.properties").decode()
        except FileNotFoundError:
            return {}
        lines = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
        return {key.strip(): value.strip() for key, _, value in lines if key}

    def schema(self, table: SourceTable) -> pa.Schema:
        if table.kind == "PARQUET":
            return self._dataset(table).schema
        found: pa.Schema = self._hudi(table).get_schema_with_meta_fields()
        return found

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
        folder = table.location
        if table.kind != "PARQUET":
            layout_2 = f"{folder}/.hoodie/timeline"
            folder = layout_2 if self._files(layout_2) else f"{folder}/.hoodie"
        files = self._files(folder, recursive=table.kind == "PARQUET")
        newest = max((file.mtime_ns or 0 for file in files), default=None)
        size = sum(file.size or 0 for file in files)
        return None if newest is None else f"{newest}-{len(files)}-{size}"

    def _files(self, uri: str, *, recursive: bool = False) -> list[fs.FileInfo]:
        selector = fs.FileSelector(
            self._storage.path(uri), allow_not_found=True, recursive=recursive
        )
        try:
            found = self._storage.filesystem.get_file_info(selector)
        except OSError as error:
            raise SourceError(f"{uri} could not be read: {error}") from None
        return [entry for entry in found if entry.is_file]

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
                lambda: self._slices(table, view),
                lambda wanted: self.read(table, wanted, view, where),
            )
        hudi = self._hudi(table)
        schema = hudi.get_schema_with_meta_fields()
        needed = [n for n in schema.names if n in columns or n == _DELETED]
        options = self._options_of(view, needed)
        wanted = pa.schema([schema.field(n) for n in needed])
        rows = pa.Table.from_batches(
            [pa.record_batch(b.select(needed)) for b in hudi.read(options)] or [], wanted
        )
        if _DELETED in needed:
            import pyarrow.compute as pc

            marked = pc.field(_DELETED).cast(pa.string())
            rows = rows.filter(marked.is_null() | (marked != _MARK))
        return rows.select(list(columns))

    @staticmethod
    def _options_of(view: MergeView, needed: list[str] | None = None):  # type: ignore[no-untyped-def]
        from hudi import HudiReadOptions

        options = HudiReadOptions(projection=needed)
        if view.read_optimized:
            options = options.with_hudi_option("hoodie.read.use.read_optimized.mode", "true")
        return options

    def _slices(self, table: SourceTable, view: MergeView) -> Sequence[Slice]:
        found: Sequence[Slice] = self._hudi(table).get_file_slices(self._options_of(view))
        return found

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

    def _hudi(self, table: SourceTable):  # type: ignore[no-untyped-def]
        from hudi import HudiTableBuilder

        try:
            return (
                HudiTableBuilder.from_base_uri(table.location)
                .with_storage_options(self._options)
                .build()
            )
        except Exception as error:
            raise SourceError(f"{table.location} could not be read: {error}") from None
