"""The lake's tables as `sqlapi` asks for them: the one place where the two meet."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from labctl.errors import LabError
from labctl.lake.lake import Lake, TableInfo
from labctl.lake.view import View
from sqlapi.source import MergeView, SourceError, SourceTable

__all__ = ["LakeSource"]


class LakeSource:
    """Silver tables; rows deleted at the source are not shown, as everywhere in the lab."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._known: dict[str, TableInfo] = {}

    def tables(self) -> Sequence[SourceTable]:
        """Tables with a commit. What a table is is asked once: it cannot change."""
        try:
            names = self._lake.table_names()
            if any(name not in self._known for name in names):
                self._known = {info.name: info for info in self._lake.tables()}
        except LabError as error:
            raise SourceError(str(error)) from None
        return [self._table(self._known[name]) for name in names if name in self._known]

    def _table(self, info: TableInfo) -> SourceTable:
        database, _, name = info.name.partition(".")
        return SourceTable(
            database,
            name,
            f"{self._lake.storage.uri}/silver/{database}/{name}",
            info.kind,
            tuple(field for field in info.partition_fields.split(",") if field),
        )

    def schema(self, table: SourceTable, view: MergeView) -> pa.Schema:
        try:
            return self._lake.schema(f"{table.database}.{table.name}", _view(view))
        except LabError as error:
            raise SourceError(str(error)) from None

    def read(self, table: SourceTable, columns: Sequence[str], view: MergeView) -> pa.Table:
        try:
            return self._lake.read(f"{table.database}.{table.name}", columns, _view(view))
        except LabError as error:
            raise SourceError(str(error)) from None


def _view(view: MergeView) -> View:
    return View.parse(as_of=view.as_of, read_optimized=view.read_optimized)
