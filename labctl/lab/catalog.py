"""The catalog of a lab: the Glue that its own endpoint speaks, or AWS's on a promoted profile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labctl.errors import ExitCode, LabError
from labctl.lab.athena_connection import Connection, connection_of
from labctl.lab.athena_files import KeptFiles
from labctl.lab.lab import Lab
from labctl.lab.source_comments import source_comments
from labctl.lake.column_comments import Comments, CommentsInLake
from labctl.lake.glue_changes import Change, tables_in, write
from labctl.lake.glue_sync import GlueSync
from labctl.lake.gold import GoldViews, load_views
from labctl.lake.lake import Lake
from labctl.lake.queries import QUERIES, load_queries
from labctl.lake.table_source import LakeSource
from labctl.tables import GOLD, full_name
from sqlapi.catalog.views import is_view
from sqlapi.source import SourceError, SourceTable, TableSource

__all__ = ["Catalog", "CatalogTable", "catalog_of"]


@dataclass(frozen=True)
class CatalogTable:
    """A table or view as the catalog has it; `definition` is Glue's own."""

    name: str
    """`database.table`."""
    kind: str
    """`table`, `read optimized`, `real time` or `view`."""
    columns: int
    partition_keys: tuple[str, ...]
    location: str
    definition: dict[str, Any]


def catalog_of(lab: Lab) -> Catalog:
    """Raises LabError when the lab does not run, or what is promoted is not known."""
    lake = Lake(lab.endpoints.objectstore)
    glue = connection_of(lab, "glue")
    # On AWS they are views: the application there keeps none.
    materialised = () if glue.on_aws else lab.config.gold.materialised
    return Catalog(
        glue,
        connection_of(lab),
        LakeSource(lake),
        lab.project,
        CommentsInLake(lake.storage, lambda: source_comments(lab)),
        materialised,
    )


class Catalog:
    """What the catalog has, and what it should have. Raises LabError."""

    def __init__(
        self,
        connection: Connection,
        athena: Connection,
        source: TableSource,
        project: Path,
        comments: CommentsInLake,
        materialised: Collection[str] = (),
    ) -> None:
        """Of Glue and of Athena; `project` has the files of views and kept statements.

        `materialised` are the views that are tables of the lake.
        """
        self._materialised = materialised
        self._comments = comments
        self._connection = connection
        self._athena = athena
        self._glue = connection.client
        self._source = source
        self._gold = project / GOLD
        self._queries = project / QUERIES
        self._sync = GlueSync(self._glue, source)

    def tables(self, databases: Iterable[str]) -> list[CatalogTable]:
        """Tables and views of `databases`; those that are not there have none."""
        with self._explained():
            found = [tables_in(self._glue, database) or {} for database in databases]
            return [_shown(table) for tables in found for table in tables.values()]

    def databases(self) -> list[str]:
        """Those of the lake's tables, and of the views over them."""
        of_gold = {view.database for view in load_views(self._gold)}
        with self._explained():
            return sorted({table.database for table in self._source.tables()} | of_gold)

    def table(self, name: str) -> CatalogTable:
        """By `database.table`, or its name alone where one of the lake's databases has it."""
        database = name.rpartition(".")[0]
        found = {t.name: t for t in self.tables([database] if database else self.databases())}
        return found[full_name(name, found)]

    def changes(self, names: Sequence[str] = ()) -> list[Change]:
        """What `sync` would write, of all tables of the lake or of those named."""
        with self._explained():
            tables, told, _ = self._described(names)
            return [*self._sync.changes(tables), *told]

    def sync(self, names: Sequence[str] = ()) -> list[Change]:
        """Writes it; what was written."""
        with self._explained():
            tables, told, comments = self._described(names)
            changes = self._sync.changes(tables)
            write(self._glue, changes)
            if told:
                self._comments.write(comments)
            return [*changes, *told]

    def apply(self, names: Sequence[str] = ()) -> list[Change]:
        """Writes what is lacking of the views in `gold/` and the statements in `queries/`.

        All of them, or those named.
        """
        views, queries = load_views(self._gold), load_queries(self._queries)
        known = [*(view.name for view in views), *(query.full_name for query in queries)]
        if not known:
            raise LabError(
                f"There is nothing in {self._gold} or {self._queries}",
                hint="write a view into gold/<database>/<view>.sql (docs/sql.md)",
                exit_code=ExitCode.USAGE,
            )
        chosen = {full_name(name, known, word="view or statement") for name in names} or set(known)
        with self._explained():
            changes = GoldViews(self._glue, views, self._materialised).changes(
                view.name for view in views if view.name in chosen
            )
            write(self._glue, changes)
        with self._athena.explained():
            kept = KeptFiles(self._athena).changes([q for q in queries if q.full_name in chosen])
            write(self._athena.client, kept)
        return [*changes, *kept]

    def _described(self, names: Sequence[str]) -> tuple[list[SourceTable], list[Change], Comments]:
        """The tables as the catalog is to have them; what is new in the lake's comments, and all.

        The lab's own endpoint reads these from the lake: there they are not written to it.
        """
        tables = self._wanted(names)
        told, comments = self._comments.changes(tables)
        if self._connection.on_aws:
            tables = [
                replace(table, comments=comments.get(table.full_name, {})) for table in tables
            ]
        return tables, told, comments

    def _wanted(self, names: Sequence[str]) -> list[SourceTable]:
        tables = {table.full_name: table for table in self._source.tables()}
        chosen = [full_name(name, tables) for name in names] or list(tables)
        return [tables[name] for name in dict.fromkeys(chosen)]

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            with self._connection.explained():
                yield
        except SourceError as error:
            raise LabError(str(error), exit_code=ExitCode.NOT_READY) from None


def _shown(table: dict[str, Any]) -> CatalogTable:
    storage = table.get("StorageDescriptor") or {}
    keys = tuple(key["Name"] for key in table.get("PartitionKeys") or [])
    return CatalogTable(
        f"{table['DatabaseName']}.{table['Name']}",
        _kind(table),
        len(storage.get("Columns") or []) + len(keys),
        keys,
        storage.get("Location") or "",
        {key: value for key, value in table.items() if key != "ResponseMetadata"},
    )


def _kind(table: dict[str, Any]) -> str:
    if is_view(table):
        return "view"
    storage = table.get("StorageDescriptor") or {}
    if "Realtime" in (storage.get("InputFormat") or ""):
        return "real time"
    serde = (storage.get("SerdeInfo") or {}).get("Parameters") or {}
    return "read optimized" if serde.get("hoodie.query.as.ro.table") == "true" else "table"
