"""The lakehouse as one object: its tables, their history, and SQL over them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
from pyarrow import fs

from labctl.errors import ExitCode, LabError, did_you_mean
from labctl.lake.objectstore import LakeStorage
from labctl.lake.reading import reading
from labctl.lake.silver import SilverTable, Snapshot
from labctl.lake.table_copies import TableCopies
from labctl.lake.timeline import Instant, Timeline
from labctl.lake.view import LATEST, View
from labctl.lake.watch import Watch
from lakehouse.table_names import AmbiguousTableError, find_table
from sqlapi.source import Comparison

if TYPE_CHECKING:
    from labctl.config.endpoints import ObjectStore
    from labctl.lake.sql import Scan, SqlQuery

__all__ = ["Engine", "Lake", "SparkView", "TableInfo", "Views"]

_PARALLEL = 8
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_SHOW_TABLES = re.compile(r"\s*show\s+tables\s*;?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class TableInfo:
    """What a silver table says about itself. Instants are Hudi's, in UTC."""

    name: str
    """`database.table`."""
    path: str
    """Relative to the bucket."""
    kind: str
    """`COPY_ON_WRITE` or `MERGE_ON_READ`"""
    version: int
    """Hudi table version."""
    record_key: str
    partition_fields: str
    """The columns it is partitioned by; empty of a table in one piece."""
    ordering: str
    commits: int
    """Completed writes on the active timeline."""
    latest: str | None
    earliest_readable: str | None
    """None: all of the past can be travelled to."""


class Engine(Protocol):
    """Another way to answer a query over the same tables."""

    def query(
        self, sql: str, tables: Sequence[SilverTable], view: View, views: Views | None
    ) -> pa.Table:
        """The answer, with the columns and types that `Lake.query` gives by itself."""
        ...


@dataclass(frozen=True)
class SparkView:
    """A view in Spark's SQL, whose tables are called `lab_in_<number>`."""

    name: str
    """`database.view`."""
    sql: str
    inputs: tuple[str, ...]
    """By their numbers, the tables of the lake that it reads, `database.table`."""
    columns: tuple[tuple[str, str], ...]
    """Names, and Spark's types."""


class Views(Protocol):
    """Where views are known."""

    def rows(self, names: Iterable[str], view: View) -> Mapping[str, pa.Table]:
        """All rows of those of the names `database.name` that are views, as `view` shows tables."""
        ...

    def for_spark(self, names: Iterable[str], view: View) -> Sequence[SparkView]:
        """The same as queries. Raises LabError (USAGE) for what Spark may not answer alike."""
        ...


class Lake:
    """Silver tables, `silver/<database>/<table>` in the bucket, read without a JVM.

    A table is called `database.table`, or by its short name while that is unique.
    """

    def __init__(
        self,
        storage: LakeStorage | ObjectStore,
        *,
        folder: str = "silver",
        copies: TableCopies | None = None,
    ) -> None:
        """With `copies`, what was read of the tables as they are now is kept on this machine."""
        self.storage = storage if isinstance(storage, LakeStorage) else LakeStorage.of(storage)
        self._folder = folder
        self._copies = copies

    def table_names(self) -> list[str]:
        """Names of the tables there are, `database.table`.

        Raises LabError when the bucket cannot be read.
        """
        try:
            with ThreadPoolExecutor(_PARALLEL) as pool:
                databases = self._folders(self._folder)
                found = pool.map(lambda name: self._folders(f"{self._folder}/{name}"), databases)
                tables = zip(databases, found, strict=True)
                return sorted(f"{name}.{table}" for name, inside in tables for table in inside)
        except OSError as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: OSError) -> LabError:
        return LabError(
            f"The object store could not be read ({self.storage.uri}): {error}",
            hint="Is it running? labctl status.",
            exit_code=ExitCode.NOT_READY,
        )

    def _folders(self, folder: str) -> list[str]:
        """The folders in one, but for what Hudi keeps beside a table's files."""
        entries = self.storage.list(folder)
        found = (e.base_name for e in entries if e.type == fs.FileType.Directory)
        return [name for name in found if _NAME.fullmatch(name)]

    def table(self, name: str, names: Sequence[str] | None = None) -> SilverTable:
        """The table of that name. Raises LabError (USAGE) naming those there are.

        `names` are the tables there are, for who knows them.
        """
        names = self.table_names() if names is None else names
        try:
            full = find_table(name, names)
        except AmbiguousTableError as error:
            raise LabError(
                f"There is more than one silver table '{name}'.",
                hint=f"Write the database, too: {', '.join(error.tables)}.",
                exit_code=ExitCode.USAGE,
            ) from None
        if full is None:
            raise LabError(
                f"There is no silver table '{name}'.",
                hint=f"{did_you_mean(name, names)}Tables: {', '.join(names) or 'none yet'}.",
                exit_code=ExitCode.USAGE,
            )
        return self._table(full)

    def tables(self) -> list[TableInfo]:
        """All tables with what their properties and timelines say; no rows are read."""
        with ThreadPoolExecutor(_PARALLEL) as pool:
            found = pool.map(self._info, self.table_names())
            return [info for info in found if info]

    def latest(self, names: Sequence[str]) -> dict[str, str | None]:
        """The last instant of each table `database.table`; None where nothing was written yet.

        Raises LabError when the bucket cannot be read.
        """
        with ThreadPoolExecutor(_PARALLEL) as pool:
            found = zip(names, pool.map(self.timeline, names), strict=True)
            return {name: timeline.latest if timeline else None for name, timeline in found}

    def has_commit(self, name: str) -> bool:
        """Whether `database.table` is there and has been written; asks for that table alone."""
        return self._table(name).has_commit()

    def timeline(self, name: str) -> Timeline | None:
        """The active timeline of `database.table`; None when there is no such table.

        Raises LabError when the bucket cannot be read.
        """
        try:
            return self._table(name).timeline()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(error) from None

    def instants(self, name: str) -> list[Instant]:
        """The active timeline of a table, oldest first, with actions still under way."""
        return list(self.table(name).timeline().instants)

    def read(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        view: View = LATEST,
        where: Sequence[Comparison] = (),
    ) -> pa.Table:
        """Rows of a table, see `SilverTable.read`."""
        return self.table(name).read(columns=columns, view=view, where=where)

    def watch(self, name: str) -> Watch:
        """Follows what is written to a table from now on."""
        return Watch(self.table(name))

    def query(
        self,
        sql: str,
        view: View = LATEST,
        *,
        engine: Engine | None = None,
        views: Views | None = None,
        names: Sequence[str] | None = None,
    ) -> pa.Table:
        """The answer to one SELECT over silver tables, all shown as `view` says, or SHOW TABLES.

        `views` has what is no table; `names` are the tables there are, for who knows them. Raises
        LabError (USAGE) for bad SQL, an unknown table, or a moment whose files are gone.
        """
        if _SHOW_TABLES.fullmatch(sql):
            return self._shown()
        names = self.table_names() if names is None else names
        if engine:
            return engine.query(sql, [self._table(name) for name in names], view, views)
        # Not above: DuckDB is for queries alone, and `labctl status` has none.
        from labctl.lake.sql import SqlQuery

        query = SqlQuery(sql, names)
        shown: Mapping[str, pa.Table] = {}
        if views and (others := query.others()):
            shown = views.rows(sorted(others), view)
            query = SqlQuery(sql, [*names, *shown])
        used = query.tables()
        tables = [self._table(name) for name in names if name in used]
        return reading(tables, lambda: _answer(query, tables, view, shown))

    def _shown(self) -> pa.Table:
        """What SHOW TABLES answers: name, kind, commits and latest instant of each table."""
        infos = self.tables()
        return pa.table(
            {
                "table_name": pa.array([info.name for info in infos], pa.string()),
                "type": pa.array([info.kind for info in infos], pa.string()),
                "commits": pa.array([info.commits for info in infos], pa.int64()),
                "latest_commit": pa.array([info.latest for info in infos], pa.string()),
            }
        )

    def _table(self, name: str) -> SilverTable:
        database, _, table = name.partition(".")
        path = f"{self._folder}/{database}/{table}"
        return SilverTable(name, path, self.storage, self._copies)

    def _info(self, name: str) -> TableInfo | None:
        table = self._table(name)
        try:
            timeline = table.timeline()
        except FileNotFoundError:
            return None
        properties = timeline.properties
        return TableInfo(
            name=name,
            path=table.path,
            kind=properties["hoodie.table.type"],
            version=int(properties["hoodie.table.version"]),
            record_key=properties.get("hoodie.table.recordkey.fields", ""),
            partition_fields=properties.get("hoodie.table.partition.fields", ""),
            ordering=properties.get("hoodie.table.ordering.fields")
            or properties.get("hoodie.table.precombine.field", ""),
            commits=len(timeline.writes),
            latest=timeline.latest,
            earliest_readable=timeline.earliest_readable(),
        )


def _answer(
    query: SqlQuery, tables: Sequence[SilverTable], view: View, shown: Mapping[str, pa.Table]
) -> pa.Table:
    """`shown` are the rows of the views that the query reads, too."""
    from labctl.lake.sql import Scan, UnreadColumnError

    names = [table.name for table in tables]
    with ThreadPoolExecutor(_PARALLEL) as pool:
        snapshots = list(pool.map(lambda table: Snapshot(table, view), tables))
        own = dict(zip(names, pool.map(attrgetter("schema"), snapshots), strict=True))
        schemas = {**own, **{name: rows.schema for name, rows in shown.items()}}
        scans = query.plan(schemas)
        conditions = {name: view.filters(schema.names) for name, schema in own.items()}

        def run(scans: Mapping[str, Scan]) -> pa.Table:
            rows = pool.map(
                lambda snapshot, scan: snapshot.stored(scan.columns, scan.where),
                snapshots,
                [scans[name] for name in names],
            )
            return query.run({**dict(zip(names, rows, strict=True)), **shown}, schemas, conditions)

        try:
            return run(scans)
        except UnreadColumnError:
            return run({name: Scan(schemas[name].names, []) for name in names})
