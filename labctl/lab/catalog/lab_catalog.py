"""The catalog of a lab: the Glue API of its own endpoint, or AWS Glue on a promoted profile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labctl.errors import ExitCode, LabError
from labctl.lab.catalog.athena_connection import Connection, connection_of
from labctl.lab.catalog.athena_files import KeptFiles
from labctl.lab.lab import Lab
from labctl.lab.tables.source_comments import source_comments
from labctl.lake.column_comments import Comments, CommentsInLake
from labctl.lake.glue_changes import Change, tables_in, write
from labctl.lake.glue_sync import GlueSync
from labctl.lake.gold import GoldViews, load_views
from labctl.lake.lake import Lake
from labctl.lake.queries import QUERIES, load_queries
from labctl.lake.table_source import LakeSource
from labctl.tables import GOLD, full_name
from sqlapi.catalog.views import is_view
from sqlapi.hudi.hive_form import is_read_optimized
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
    """Return the lab's catalog.

    Raises LabError if the lab does not run, or if it is not known what was promoted.
    """
    lake = Lake(lab.endpoints.objectstore)
    glue = connection_of(lab, "glue")
    # On AWS they are views: the application there stores none as a table.
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
    """Contents of the catalog, and the changes that it needs. Raises LabError."""

    def __init__(
        self,
        connection: Connection,
        athena: Connection,
        source: TableSource,
        project: Path,
        comments: CommentsInLake,
        materialised: Collection[str] = (),
    ) -> None:
        """Use Glue (`connection`) and Athena; `project` has the files of views and statements.

        `materialised` names the views that are stored as tables of the lake.
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
        """Return the tables and views of `databases`; a database that does not exist has none."""
        with self._explained():
            found = [tables_in(self._glue, database) or {} for database in databases]
            return [_shown(table) for tables in found for table in tables.values()]

    def databases(self) -> list[str]:
        """Return the databases of the lake's tables and of the views over them, sorted."""
        of_gold = {view.database for view in load_views(self._gold)}
        with self._explained():
            return sorted({table.database for table in self._source.tables()} | of_gold)

    def table(self, name: str) -> CatalogTable:
        """Return the table `database.table`.

        The name alone is enough if only one of the lake's databases has such a table.
        """
        database = name.rpartition(".")[0]
        found = {t.name: t for t in self.tables([database] if database else self.databases())}
        return found[full_name(name, found)]

    def changes(self, names: Sequence[str] = ()) -> list[Change]:
        """Return what `sync` would write, for all tables of the lake or for `names`."""
        with self._explained():
            tables, told, _ = self._described(names)
            return [*self._sync.changes(tables), *told]

    def sync(self, names: Sequence[str] = ()) -> list[Change]:
        """Write the changes to the catalog, and return them."""
        with self._explained():
            tables, told, comments = self._described(names)
            changes = self._sync.changes(tables)
            write(self._glue, changes)
            if told:
                self._comments.write(comments)
            return [*changes, *told]

    def apply(self, names: Sequence[str] = ()) -> list[Change]:
        """Write what the catalog lacks of the views in `gold/` and the statements in `queries/`.

        Writes all of them, or those in `names`, and returns the changes.
        """
        views, queries = load_views(self._gold), load_queries(self._queries)
        known = [*(view.name for view in views), *(query.full_name for query in queries)]
        if not known:
            raise LabError(
                f"There is nothing in {self._gold} or {self._queries}",
                hint="write a view into gold/<database>/<view>.sql (docs/sql.md)",
                exit_code=ExitCode.USAGE,
            )
        chosen = {
            full_name(name, known, word="view or statement", words="views and statements")
            for name in names
        } or set(known)
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
        """Return the tables for the catalog, the new comments for the lake, and all comments.

        The lab's own endpoint reads comments from the lake, so they are not written to its catalog.
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
    return "read optimized" if is_read_optimized(serde) else "table"
