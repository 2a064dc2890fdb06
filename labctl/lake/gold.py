"""Views over silver, one file each (`gold/<database>/<view>.sql`), and their state in a catalog.

A file holds one SELECT in Athena's SQL. This module determines its columns and types from the
catalog's tables, so that Glue alone can create a view, with the same request to the lab and to AWS.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from labctl.config.aws import CATALOG
from labctl.errors import ExitCode, LabError
from labctl.lake.glue_changes import Change, Json, new_database, tables_in, type_changes
from labctl.lake.query_text import read_query, unusable
from labctl.tables import GOLD
from sqlapi.catalog.glue_types import of_glue
from sqlapi.catalog.views import is_view, view_input, view_text
from sqlapi.sql.scope import Table
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.translate import translate
from sqlapi.sql.types import Type

__all__ = ["GoldView", "GoldViews", "load_views", "views_over"]

_NAME = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True)
class GoldView:
    """A view as its file defines it."""

    database: str
    view: str
    file: Path
    sql: str
    """The SELECT, without the comments before it."""
    reads: frozenset[str]
    """Tables and views that it reads, as `database.table`."""

    @property
    def name(self) -> str:
        return f"{self.database}.{self.view}"


def load_views(folder: Path) -> list[GoldView]:
    """Return the views of a `gold` folder, dependencies first; none if there is no folder.

    Raise LabError (USAGE) naming the file that cannot be used.
    """
    views = {view.name: view for view in map(_load, sorted(folder.rglob("*.sql")))}
    graph = {name: sorted(view.reads & views.keys()) for name, view in views.items()}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        circle = error.args[1]
        raise unusable(
            views[circle[0]].file, f"it reads itself: {' → '.join(reversed(circle))}"
        ) from None
    return [views[name] for name in order]


def views_over(views: Sequence[GoldView], tables: Iterable[str]) -> list[GoldView]:
    """Return the views from `load_views` that need no tables other than these."""
    known = set(tables)
    found = []
    for view in views:
        if view.reads <= known:
            known.add(view.name)
            found.append(view)
    return found


def _load(file: Path) -> GoldView:
    database, view = file.parent.name, file.stem
    if file.parents[1].name != GOLD.name or not all(map(_NAME.fullmatch, (database, view))):
        raise unusable(file, "a view is in gold/<database>/<view>.sql, names in small letters")
    found = read_query(file, database)
    return GoldView(database, view, file, found.sql, found.reads)


class GoldViews:
    """Comparison of views with those of a catalog. Raises the errors of a boto3 client of Glue."""

    def __init__(
        self, glue: Any, views: Sequence[GoldView], materialised: Collection[str] = ()
    ) -> None:
        """Compare `views`. Those in `materialised` are tables: checked, but not written."""
        self._glue = glue
        self._materialised = materialised
        self._views = {view.name: view for view in views}
        self._known: dict[str, dict[str, Json] | None] = {}

    def changes(self, names: Iterable[str]) -> list[Change]:
        """Return the changes that make these views in the catalog match their files.

        Raise LabError: USAGE for SQL that is wrong, NOT_READY when a table does not exist.
        """
        wanted = [self._views[name] for name in names]
        made = [(view, self._input(view)) for view in wanted]
        made = [(view, one) for view, one in made if view.name not in self._materialised]
        wanted = [view for view, _ in made]
        missing = sorted({view.database for view in wanted if self._inside(view.database) is None})
        changes = [new_database(name, Description="Views over silver") for name in missing]
        return [*changes, *(change for view, one in made for change in self._of_view(view, one))]

    def _input(self, view: GoldView) -> Json:
        try:
            found = translate(view.sql, _Tables(self, view), view.database)
        except SqlError as error:
            raise unusable(view.file, str(error)) from None
        labels = [label.lower() for label, _ in found.columns]
        if unnamed := [label for label in labels if label.startswith("_col")]:
            raise unusable(view.file, f"a column has no name ({unnamed[0]}): write AS")
        if twice := {label for label in labels if labels.count(label) > 1}:
            raise unusable(view.file, f"two columns are called {min(twice)}")
        return view_input(
            view.view, view.sql, catalog=CATALOG, database=view.database, columns=found.columns
        )

    def _of_view(self, view: GoldView, wanted: Json) -> Iterator[Change]:
        given = {"DatabaseName": view.database, "TableInput": wanted}
        what = f"view {view.name}"
        found = (self._inside(view.database) or {}).get(view.view)
        if found is None:
            yield Change("create", what, (), "create_table", given)
        elif not is_view(found):
            refused = f"{view.name} of the catalog is a table"
            yield Change("update", what, (), "update_table", given, refused)
        elif details := tuple(_differences(wanted, found)):
            yield Change("update", what, details, "update_table", given)

    def _inside(self, database: str) -> dict[str, Json] | None:
        if database not in self._known:
            self._known[database] = tables_in(self._glue, database)
        return self._known[database]

    def table(self, reader: GoldView, database: str, name: str) -> Table:
        """Return what a name in a view refers to: a file's view, or else the catalog's table."""
        if view := self._views.get(f"{database}.{name}"):
            return Table("", database, name, {}, view.sql, view.database)
        found = (self._inside(database) or {}).get(name)
        if found is None:
            raise LabError(
                f"{reader.file} reads {database}.{name}, which is not in the catalog",
                hint="a table is there from its first commit on: labctl catalog list",
                exit_code=ExitCode.NOT_READY,
            )
        if is_view(found):
            told = view_text(found.get("ViewOriginalText") or "")
            if told is None:
                raise SqlError("INVALID_VIEW", f"View {database}.{name} is no Presto view")
            return Table("", database, name, {}, told["originalSql"], told["schema"])
        columns = [*found["StorageDescriptor"]["Columns"], *(found.get("PartitionKeys") or [])]
        return Table(f"{database}.{name}", database, name, dict(_typed(columns)))


@dataclass(frozen=True)
class _Tables:
    """Table lookup for the translation of one view."""

    views: GoldViews
    reader: GoldView

    def table(self, catalog: str | None, database: str, name: str, as_of: str | None) -> Table:
        if catalog and catalog.lower() != CATALOG.lower():
            raise SqlError("CATALOG_NOT_FOUND", f"Catalog '{catalog}' not found")
        if as_of:
            raise SqlError("NOT_SUPPORTED", "A view shows tables as they are")
        return self.views.table(self.reader, database, name)


def _typed(columns: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Type]]:
    for column in columns:
        try:
            yield column["Name"].lower(), of_glue(column["Type"])
        except SqlError:
            continue  # Athena does not have this type, so no view can use it


def _differences(wanted: Json, found: Json) -> Iterator[str]:
    ours, there = _told(wanted), _told(found)
    if ours.get("originalSql") != there.get("originalSql"):
        yield "its SQL"
    types = {column["name"]: column["type"] for column in ours.get("columns", [])}
    before = {column["name"]: column["type"] for column in there.get("columns", [])}
    yield from type_changes("column", types, before)
    if ours.get("schema") != there.get("schema"):
        yield f"database of its names: {there.get('schema')} → {ours.get('schema')}"


def _told(definition: Json) -> dict[str, Any]:
    return view_text(definition.get("ViewOriginalText") or "") or {}
