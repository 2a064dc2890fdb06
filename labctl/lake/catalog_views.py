"""Views of a Glue catalog as tables of rows, for queries in another SQL dialect.

A catalog's view is written in Athena's SQL. This module answers it as the lab's endpoint does, over
the tables that a `View` shows: as they are now, or as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from labctl.config.aws import CATALOG
from labctl.errors import ExitCode, LabError
from labctl.lake.lake import Lake, SparkView
from labctl.lake.spark_text import spark_tree, spark_type
from labctl.lake.table_source import LakeSource
from labctl.lake.view import View
from sqlapi.catalog.definitions import SourceName
from sqlapi.catalog.information_schema import Asked
from sqlapi.catalog.reading import Reader
from sqlapi.catalog.table_inputs import names_of
from sqlapi.catalog.views import is_view, view_text
from sqlapi.protocol.protocol_errors import ApiError
from sqlapi.source import SourceError, TableSource
from sqlapi.sql.arrow import named
from sqlapi.sql.engine import Engine
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.translate import translate
from sqlapi.storage import Storage

__all__ = ["CatalogViews"]

_MEMORY = "1GB"
"""Memory limit of DuckDB for one view."""


class CatalogViews:
    """The views of a Glue catalog over a lake.

    Methods raise LabError, and the errors of a boto3 client of Glue.
    """

    def __init__(self, glue: Any, lake: Lake) -> None:
        self._glue = glue
        self._lake = lake

    def rows(self, names: Iterable[str], view: View) -> dict[str, pa.Table]:
        """Return all rows of each of the names `database.name` that is a view of the catalog."""
        catalog = _Catalog(self._glue, LakeSource(self._lake, view))
        stored = self._stored(catalog, names, view)
        return {name: self._rows(name, told, catalog, view) for name, told in stored}

    def for_spark(self, names: Iterable[str], view: View) -> list[SparkView]:
        """Return the views as Spark SQL; see `labctl.lake.lake.Views`.

        Raise LabError (USAGE) naming the part that Spark may answer differently.
        """
        catalog = _Catalog(self._glue, LakeSource(self._lake, view))
        found = []
        for name, told in self._stored(catalog, names, view):
            try:
                found.append(self._for_spark(name, told, catalog))
            except (SqlError, SourceError) as error:
                raise LabError(
                    f"View {name}: {error}",
                    hint="leave --engine spark out",
                    exit_code=ExitCode.USAGE,
                ) from None
        return found

    def _stored(
        self, catalog: _Catalog, names: Iterable[str], view: View
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield each of the names that is a view, with its stored definition."""
        for name in names:
            database, _, short = name.partition(".")
            definition = (catalog.stored(database, short) or {}).get("definition", {})
            if not is_view(definition):
                continue
            told = view_text(definition.get("ViewOriginalText") or "")
            if told is None:
                raise LabError(f"{name} is no view of Athena's", exit_code=ExitCode.USAGE)
            if view.begin:
                raise LabError(
                    f"{name} is a view, and has no changes since a time",
                    hint="--as-of shows it as it was",
                    exit_code=ExitCode.USAGE,
                )
            yield name, told

    def _reader(self, catalog: _Catalog) -> Reader:
        return Reader(catalog, Storage(self._lake.storage.filesystem), CATALOG)

    def _for_spark(self, name: str, told: Mapping[str, Any], catalog: _Catalog) -> SparkView:
        reader = self._reader(catalog)
        # Athena must be able to answer the query, types included.
        made = translate(told["originalSql"], reader, told["schema"])
        for table, columns in made.read.items():
            if not catalog.is_whole(table):
                raise SqlError("NOT_SUPPORTED", f"It reads {table}, which is no table of silver")
            if hidden := sorted(columns.keys() & made.tables[table].hidden.keys()):
                raise SqlError("NOT_SUPPORTED", f"It reads {hidden[0]}, which Spark has not")
            for column, kind in columns.items():
                spark_type(f"{table}.{column}", kind)
        text = spark_tree(told["originalSql"], reader, told["schema"])
        shown = tuple((label.lower(), spark_type(label, kind)) for label, kind in made.columns)
        return SparkView(name, text.sql, text.inputs, shown)

    def _rows(self, name: str, told: Mapping[str, Any], catalog: _Catalog, view: View) -> pa.Table:
        reader = self._reader(catalog)
        engine = Engine(memory=_MEMORY)
        try:
            made = translate(told["originalSql"], reader, told["schema"])
            if view.at and (other := [key for key in made.read if not catalog.has(key)]):
                raise LabError(
                    f"View {name} reads {other[0]}, which has no past",
                    hint="leave --as-of out",
                    exit_code=ExitCode.USAGE,
                )
            rows = engine.run().answer(made, reader.rows(made.read))
        except (SqlError, SourceError) as error:
            raise LabError(f"View {name}: {error}", exit_code=ExitCode.FAILED) from None
        finally:
            engine.close()
        labels = [label.lower() for label, _ in made.columns]
        columns = [named(rows.column(i), kind) for i, (_, kind) in enumerate(made.columns)]
        return pa.table(columns, names=labels)


class _Catalog:
    """The catalog as a reader of it needs it; see `sqlapi.catalog.reading.Described`."""

    def __init__(self, glue: Any, source: TableSource) -> None:
        self._glue = glue
        self.source = source

    @cached_property
    def _of_lake(self) -> dict[str, SourceName]:
        return {
            f"{table.database}.{name}": (table, view)
            for table in self.source.tables()
            for name, view in names_of(table).items()
        }

    def is_whole(self, key: str) -> bool:
        """Return whether `database.name` is a table's own name, not its compacted part's, say."""
        return any(key == table.full_name for table in self.source.tables())

    def has(self, key: str) -> bool:
        """Return whether `database.name` is a table of the lake."""
        return key in self._of_lake

    def information(self, catalog: str, table: str, asked: Asked) -> pa.Table:
        raise SqlError("NOT_SUPPORTED", "information_schema is read by labctl athena run alone")

    def lake_table(self, database: str, name: str) -> SourceName | None:
        return self._of_lake.get(f"{database}.{name}".lower())

    def stored(self, database: str, name: str) -> Mapping[str, Any] | None:
        try:
            found = self._glue.get_table(DatabaseName=database, Name=name)
        except self._glue.exceptions.EntityNotFoundException:
            return None
        return {"definition": found["Table"]}

    def partitions(self, database: str, name: str) -> Sequence[Mapping[str, Any]]:
        pages = self._glue.get_paginator("get_partitions")
        found = pages.paginate(DatabaseName=database, TableName=name)
        return [one for page in found for one in page["Partitions"]]

    def database(self, name: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self._glue.get_database(Name=name)["Database"]
        except self._glue.exceptions.EntityNotFoundException as error:
            raise ApiError("EntityNotFoundException", str(error)) from None
        return found
