"""The lakehouse as one object: its tables, their history, and SQL over them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
from pyarrow import fs

from labctl.errors import ExitCode, LabError, did_you_mean
from labctl.lake.objectstore import LakeStorage
from labctl.lake.safe_reading import reading
from labctl.lake.silver_table import SilverTable, Snapshot
from labctl.lake.view import LATEST, View
from labctl.lake.watch import Watch
from lakecontract.table_names import AmbiguousTableError, find_table
from sqlapi.hudi.table_copies import TableCopies
from sqlapi.source import Comparison
from sqlapi.table_format import Commit, History

if TYPE_CHECKING:
    from labctl.config.endpoints import ObjectStore
    from labctl.lake.arrow_sql import Scan, SqlQuery

__all__ = ["Engine", "Lake", "SparkView", "TableInfo", "Views"]

_PARALLEL = 8
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_SHOW_TABLES = re.compile(r"\s*show\s+tables\s*;?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class TableInfo:
    """Properties of a silver table. Instants are Hudi's, in UTC."""

    name: str
    """`database.table`."""
    path: str
    """Path relative to the bucket."""
    kind: str
    """`COPY_ON_WRITE` or `MERGE_ON_READ`"""
    version: int
    """Hudi table version."""
    record_key: str
    partition_fields: str
    """The partition columns; empty for an unpartitioned table."""
    ordering: str
    commits: int
    """Number of completed writes on the active timeline."""
    latest: str | None
    earliest_readable: str | None
    """The oldest instant for time travel; None if the entire past is readable."""


class Engine(Protocol):
    """Another way to answer a query over the same tables."""

    def query(
        self, sql: str, tables: Sequence[SilverTable], view: View, views: Views | None
    ) -> pa.Table:
        """Return the answer, with the columns and types that `Lake.query` gives by itself."""
        ...


@dataclass(frozen=True)
class SparkView:
    """A view in Spark's SQL, whose tables are called `lab_in_<number>`."""

    name: str
    """`database.view`."""
    sql: str
    inputs: tuple[str, ...]
    """The lake's tables that it reads (`database.table`), in the order of their numbers."""
    columns: tuple[tuple[str, str], ...]
    """Column names and their Spark types."""


class Views(Protocol):
    """A provider of views."""

    def rows(self, names: Iterable[str], view: View) -> Mapping[str, pa.Table]:
        """Return all rows of each `database.name` that is a view, on tables as `view` shows
        them."""
        ...

    def for_spark(self, names: Iterable[str], view: View) -> Sequence[SparkView]:
        """Return the views as queries. Raise LabError (USAGE) if Spark may answer differently."""
        ...


class Lake:
    """Silver tables, `silver/<database>/<table>` in the bucket, read without a JVM.

    A table is named `database.table`, or by its short name while that is unique.
    """

    def __init__(
        self,
        storage: LakeStorage | ObjectStore,
        *,
        folder: str = "silver",
        copies: TableCopies | None = None,
    ) -> None:
        """Open the lake; `copies` keeps what was read of the current tables on this machine."""
        self.storage = storage if isinstance(storage, LakeStorage) else LakeStorage.of(storage)
        self._folder = folder
        self._copies = copies

    def table_names(self) -> list[str]:
        """Return the names of all tables, as `database.table`.

        Raise LabError when the bucket cannot be read.
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
        """Return the names of a folder's subfolders, without those of Hudi's own files."""
        entries = self.storage.list(folder)
        found = (e.base_name for e in entries if e.type == fs.FileType.Directory)
        return [name for name in found if _NAME.fullmatch(name)]

    def table(self, name: str, names: Sequence[str] | None = None) -> SilverTable:
        """Return the table with that name. Raise LabError (USAGE) naming the tables that exist.

        `names` are the existing tables, for a caller that knows them already.
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
        """Return all tables as their properties and timelines describe them; read no rows."""
        with ThreadPoolExecutor(_PARALLEL) as pool:
            found = pool.map(self._info, self.table_names())
            return [info for info in found if info]

    def latest(self, names: Sequence[str]) -> dict[str, str | None]:
        """Return the last instant of each table (`database.table`); None for one without a write.

        Raise LabError when the bucket cannot be read.
        """
        with ThreadPoolExecutor(_PARALLEL) as pool:
            found = zip(names, pool.map(self.timeline, names), strict=True)
            return {name: timeline.latest if timeline else None for name, timeline in found}

    def has_commit(self, name: str) -> bool:
        """Return whether `database.table` exists and has a write; check that table alone."""
        return self._table(name).has_commit()

    def timeline(self, name: str) -> History | None:
        """Return the active timeline of `database.table`; None when there is no such table.

        Raise LabError when the bucket cannot be read.
        """
        try:
            return self._table(name).timeline()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(error) from None

    def instants(self, name: str) -> list[Commit]:
        """Return the active timeline of a table, oldest first, with actions still under way."""
        return list(self.table(name).timeline().instants)

    def read(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        view: View = LATEST,
        where: Sequence[Comparison] = (),
    ) -> pa.Table:
        """Return rows of a table; see `SilverTable.read`."""
        return self.table(name).read(columns=columns, view=view, where=where)

    def watch(self, name: str) -> Watch:
        """Follow what is written to a table from now on."""
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
        """Answer one SELECT over silver tables, all shown as `view` says, or SHOW TABLES.

        `views` provides the names that are not tables. `names` are the existing tables, for a
        caller that knows them already. Raise LabError (USAGE) for bad SQL, an unknown table, or a
        moment whose files are gone.
        """
        if _SHOW_TABLES.fullmatch(sql):
            return self._shown()
        names = self.table_names() if names is None else names
        if engine:
            return engine.query(sql, [self._table(name) for name in names], view, views)
        # Imported here because only queries need DuckDB, and `labctl status` runs none.
        from labctl.lake.arrow_sql import SqlQuery

        query = SqlQuery(sql, names)
        shown: Mapping[str, pa.Table] = {}
        if views and (others := query.others()):
            shown = views.rows(sorted(others), view)
            query = SqlQuery(sql, [*names, *shown])
        used = query.tables()
        tables = [self._table(name) for name in names if name in used]
        return reading(tables, lambda: _answer(query, tables, view, shown))

    def before_history(self, sql: str, view: View) -> dict[str, str]:
        """Return the first instant of each table in `sql` that had no commit yet, by its name.

        Empty if `view` shows the present. It tells why a query of the past has no rows.
        """
        from labctl.lake.arrow_sql import SqlQuery

        if view.at is None or _SHOW_TABLES.fullmatch(sql):
            return {}
        try:
            used = SqlQuery(sql, self.table_names()).tables()
        except LabError:
            return {}  # another engine's SQL
        timelines = {name: self.timeline(name) for name in used}
        firsts = {name: found.first for name, found in timelines.items() if found is not None}
        return {name: first for name, first in firsts.items() if first and first > view.at}

    def _shown(self) -> pa.Table:
        """Answer SHOW TABLES with the name, kind, commits and latest instant of each table."""
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
        return TableInfo(
            name=name,
            path=table.path,
            **asdict(timeline.description),
            commits=len(timeline.writes),
            latest=timeline.latest,
            earliest_readable=timeline.earliest_readable(),
        )


def _answer(
    query: SqlQuery, tables: Sequence[SilverTable], view: View, shown: Mapping[str, pa.Table]
) -> pa.Table:
    """Answer `query`; `shown` holds the rows of the views that it reads."""
    from labctl.lake.arrow_sql import Scan, UnreadColumnError

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
