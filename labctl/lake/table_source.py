"""The lake's tables as a source of `sqlapi`; only this module connects the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa

from labctl.errors import LabError
from labctl.lake.column_comments import read_comments
from labctl.lake.lake import Lake, TableInfo
from labctl.lake.table_cache import TableCache
from labctl.lake.view import LATEST, View
from lakecontract.lake_folders import OWN_FOLDERS
from sqlapi.hudi.file_slices import rows_with_paths
from sqlapi.source import PATH, Comparison, MergeView, SourceError, SourceTable
from sqlapi.sources.filters import expressions
from sqlapi.storage import OwnFolder

__all__ = ["LakeSource", "own_folders"]

_BESIDE = (*OWN_FOLDERS, "warehouse", "comments.json")
"""Paths beside silver in the bucket, which the lab's other services write."""


def own_folders(bucket: str, bronze: Sequence[str]) -> tuple[OwnFolder, ...]:
    """Return the folders of a lab's bucket that belong to its lake; `bronze` names bronze's."""
    lake = f"s3://{bucket}"
    return (
        OwnFolder(f"{lake}/silver", "the lake's tables", tables=True),
        *(OwnFolder(f"{lake}/{folder}", "the bronze files") for folder in bronze),
        *(OwnFolder(f"{lake}/{name}", "the lab's own files") for name in _BESIDE),
    )


class LakeSource:
    """Silver tables. Rows deleted at the source are not shown, as everywhere in the lab.

    `view` shows other rows, or the tables as they were. With a `cache`, rows that were read are not
    read again until the next commit.
    """

    def __init__(self, lake: Lake, view: View = LATEST, cache: TableCache | None = None) -> None:
        self._lake = lake
        self._shown = view
        self._cache = cache
        self._schemas: dict[str, tuple[str, pa.Schema]] = {}
        """Schemas by table, with the commit for which they were read."""
        self._known: dict[str, TableInfo] = {}

    def tables(self) -> Sequence[SourceTable]:
        """Return the tables with a commit. Their properties cannot change and are read once."""
        with _explained():
            names = self._lake.table_names()
            if any(name not in self._known for name in names):
                self._known = {info.name: info for info in self._lake.tables() if info.commits}
            comments = read_comments(self._lake.storage)
        return [
            self._table(self._known[name], comments.get(name, {}))
            for name in names
            if name in self._known
        ]

    def _table(self, info: TableInfo, comments: Mapping[str, str]) -> SourceTable:
        database, _, name = info.name.partition(".")
        return SourceTable(
            database,
            name,
            f"{self._lake.storage.uri}/{info.path}",
            info.kind,
            tuple(field for field in info.partition_fields.split(",") if field),
            comments,
        )

    def schema(self, table: SourceTable) -> pa.Schema:
        name = table.full_name
        with _explained():
            if self._shown.at:
                return self._lake.table(name).schema(self._shown)
            commit = self.last_commit(table) if self._cache else None
            known = self._schemas.get(name)
            if known and known[0] == commit:
                return known[1]
            schema = self._lake.table(name).written_schema()
            if commit:
                self._schemas[name] = (commit, schema)
            return schema

    def partitions(self, table: SourceTable) -> Sequence[str]:
        with _explained():
            return self._lake.table(table.full_name).partitions(table.partition_keys)

    def last_commit(self, table: SourceTable) -> str | None:
        with _explained():
            timeline = self._lake.timeline(table.full_name)
        return timeline.completion_mark() if timeline else None

    def read(
        self,
        table: SourceTable,
        columns: Sequence[str],
        view: MergeView,
        where: Sequence[Comparison] = (),
    ) -> pa.Table:
        shown, name = self._view(view), table.full_name
        if PATH in columns:
            with _explained():
                return rows_with_paths(
                    table,
                    columns,
                    lambda: self._lake.table(name).slices(shown),
                    lambda wanted: self.read(table, wanted, view, where),
                )

        def read(wanted: Sequence[str], only: Sequence[Comparison] = ()) -> pa.Table:
            return self._lake.read(name, wanted, shown, only)

        def read_some() -> pa.Table:
            return read(columns, where)

        with _explained():
            # The past is seldom read twice. For a table without a commit, `read` raises the error.
            commit = self._cache and not (shown.at or shown.begin) and self.last_commit(table)
            if not self._cache or not commit:
                return read_some()
            rows = self._cache.rows(
                (name, shown),
                commit,
                columns,
                lambda wanted: _packed(read(wanted)),
                last_commit=lambda: self.last_commit(table) or "",
                read_some=read_some if where else None,
            )
            return _unpacked(_without(rows, where))

    def _view(self, view: MergeView) -> View:
        if view.as_of or view.read_optimized:
            return replace(
                self._shown,
                as_of=View.parse(as_of=view.as_of).as_of if view.as_of else self._shown.as_of,
                read_optimized=view.read_optimized or self._shown.read_optimized,
            )
        return self._shown


def _without(rows: pa.Table, where: Sequence[Comparison]) -> pa.Table:
    """Filter rows by whole-number comparisons, because the cache keeps all of a table's rows."""
    sure = [
        one
        for one in where
        if one[0] in rows.column_names and pa.types.is_integer(rows.schema.field(one[0]).type)
    ]
    for condition in expressions(sure):
        rows = rows.filter(condition)
    return rows


def _packed(rows: pa.Table) -> pa.Table:
    """Dictionary-encode text if that is smaller, as for Hudi's names of files and commits."""
    rows = rows.combine_chunks()
    for index, field in enumerate(rows.schema):
        if pa.types.is_string(field.type):
            packed = rows.column(index).dictionary_encode()
            if packed.nbytes < rows.column(index).nbytes:
                rows = rows.set_column(index, field.name, packed)
    return rows


def _unpacked(rows: pa.Table) -> pa.Table:
    for index, field in enumerate(rows.schema):
        if pa.types.is_dictionary(field.type):
            rows = rows.set_column(index, field.name, rows.column(index).cast(pa.string()))
    return rows


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except LabError as error:
        raise SourceError(str(error)) from None
