"""Arrow tables in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

import pyarrow as pa

from sqlapi.source import PATH, Comparison, MergeView, SourceTable
from sqlapi.sources.filters import expressions

__all__ = ["MemorySource"]


class MemorySource:
    """Source of tables by `database.table`; `optimized` has the rows of some tables' `t_ro`."""

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        optimized: Mapping[str, pa.Table] | None = None,
        partition_keys: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._tables = tables
        self._optimized = optimized or {}
        self._keys = partition_keys or {}

    def tables(self) -> Sequence[SourceTable]:
        return [self._table(name) for name in self._tables]

    def _table(self, name: str) -> SourceTable:
        database, _, table = name.partition(".")
        kind = "MERGE_ON_READ" if name in self._optimized else "COPY_ON_WRITE"
        keys = tuple(self._keys.get(name, ()))
        return SourceTable(database, table, f"s3://memory/{database}/{table}", kind, keys)

    def _rows(self, table: SourceTable, view: MergeView) -> pa.Table:
        name = f"{table.database}.{table.name}"
        return (self._optimized if view.read_optimized else self._tables)[name]

    def schema(self, table: SourceTable) -> pa.Schema:
        return self._rows(table, MergeView()).schema

    def partitions(self, table: SourceTable) -> Sequence[str]:
        if not table.partition_keys:
            return []
        rows = self._rows(table, MergeView()).select(list(table.partition_keys)).to_pylist()
        return sorted(
            {"/".join(f"{k}={quote(str(v), safe='')}" for k, v in r.items()) for r in rows}
        )

    def last_commit(self, table: SourceTable) -> str | None:
        return None

    def read(
        self,
        table: SourceTable,
        columns: Sequence[str],
        view: MergeView,
        where: Sequence[Comparison] = (),
    ) -> pa.Table:
        rows = self._rows(table, view)
        for condition in expressions(where):
            rows = rows.filter(condition)
        if PATH in columns and PATH not in rows.column_names:
            paths = [f"{table.location}/rows.parquet"] * len(rows)
            rows = rows.append_column(PATH, pa.array(paths, pa.string()))
        return rows.select(list(columns))
