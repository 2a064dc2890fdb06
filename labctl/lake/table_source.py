"""The lake's tables as `sqlapi` asks for them: the one place where the two meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa

from labctl.errors import LabError
from labctl.lake.lake import Lake, TableInfo
from labctl.lake.view import LATEST, View
from sqlapi.source import Comparison, MergeView, SourceError, SourceTable

__all__ = ["LakeSource"]


class LakeSource:
    """Silver tables; rows deleted at the source are not shown, as everywhere in the lab.

    `view` shows others, or the tables as they were.
    """

    def __init__(self, lake: Lake, view: View = LATEST) -> None:
        self._lake = lake
        self._shown = view
        self._known: dict[str, TableInfo] = {}

    def tables(self) -> Sequence[SourceTable]:
        """Tables with a commit. What a table is is asked once: it cannot change."""
        with _explained():
            names = self._lake.table_names()
            if any(name not in self._known for name in names):
                self._known = {info.name: info for info in self._lake.tables() if info.commits}
        return [self._table(self._known[name]) for name in names if name in self._known]

    def _table(self, info: TableInfo) -> SourceTable:
        database, _, name = info.name.partition(".")
        return SourceTable(
            database,
            name,
            f"{self._lake.storage.uri}/{info.path}",
            info.kind,
            tuple(field for field in info.partition_fields.split(",") if field),
        )

    def schema(self, table: SourceTable) -> pa.Schema:
        with _explained():
            found = self._lake.table(_name(table))
            return found.schema(self._shown) if self._shown.at else found.written_schema()

    def partitions(self, table: SourceTable) -> Sequence[str]:
        with _explained():
            return self._lake.table(_name(table)).partitions(table.partition_keys)

    def last_commit(self, table: SourceTable) -> str | None:
        with _explained():
            timeline = self._lake.timeline(_name(table))
        return timeline.completion_mark() if timeline else None

    def read(
        self,
        table: SourceTable,
        columns: Sequence[str],
        view: MergeView,
        where: Sequence[Comparison] = (),
    ) -> pa.Table:
        with _explained():
            return self._lake.read(_name(table), columns, self._view(view), where)

    def _view(self, view: MergeView) -> View:
        if view.as_of or view.read_optimized:
            return replace(
                self._shown,
                as_of=View.parse(as_of=view.as_of).as_of if view.as_of else self._shown.as_of,
                read_optimized=view.read_optimized or self._shown.read_optimized,
            )
        return self._shown


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except LabError as error:
        raise SourceError(str(error)) from None


def _name(table: SourceTable) -> str:
    return f"{table.database}.{table.name}"
