"""Databases and tables as Glue describes them, both stored ones and the source's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pyarrow as pa
from psycopg.types.json import Jsonb

from sqlapi.catalog.information_schema import Asked
from sqlapi.catalog.information_schema import rows as information_rows
from sqlapi.catalog.table_inputs import names_of, place_of, s3_place, table_input
from sqlapi.catalog.views import is_view
from sqlapi.protocol.protocol_errors import ApiError
from sqlapi.source import MergeView, SourceError, SourceTable, TableSource
from sqlapi.store import Row, Store

__all__ = ["Definitions", "SourceName"]

_SECONDS = 1.0
_PARALLEL = 8
_OWNER = "hadoop"
"""Owner of views whose definition has none."""
_COMMIT = "last_commit_completion_time_sync"
"""The table parameter in which Hudi's own catalog sync stores the last commit."""
SourceName = tuple[SourceTable, MergeView]


class Definitions:
    """All databases and tables. Their names are in lower case."""

    def __init__(self, store: Store, source: TableSource, *, account: str) -> None:
        self.store = store
        self.source = source
        self._account = account
        self._listed: tuple[float, dict[str, dict[str, SourceName]]] = (0.0, {})
        self._schemas: dict[tuple[str, str], tuple[str, pa.Schema]] = {}
        """Schemas of the source's tables with their commits, by database and name."""

    # the source

    def of_source(self) -> dict[str, dict[str, SourceName]]:
        """Return the source's tables by database and name; MERGE_ON_READ adds `t_ro`, `t_rt`."""
        at, found = self._listed
        if time.monotonic() - at < _SECONDS and found:
            return found
        found = {}
        for table in self.source.tables():
            names = found.setdefault(table.database, {})
            names |= {name: (table, view) for name, view in names_of(table).items()}
        self._listed = (time.monotonic(), found)
        return found

    def source_name(self, database: str, name: str) -> SourceName | None:
        return self.of_source().get(database, {}).get(name)

    def lake_table(self, database: str, name: str) -> SourceName | None:
        """Return the source's table of this name; None if a client defined another one first.

        A definition at the same location counts as the source's table, so that each table has one
        description. Raises SourceError.
        """
        found = self.source_name(database.lower(), name.lower())
        row = self.stored(database, name) if found else None
        return found if found and _is_of(found[0], row and row["definition"]) else None

    def calls(self) -> dict[str, Callable[..., Any]]:
        """Return what workers may call, by name; see `sqlapi.catalog.reading.Described`."""
        return {
            "lake_table": self.lake_table,
            "stored": self.stored,
            "partitions": self.partitions,
            "database": self.database,
            "schema": self.source.schema,
            "information": self.information,
        }

    # databases

    def databases(self) -> list[dict[str, Any]]:
        stored = {
            row["name"]: self._database(row)
            for row in self.store.rows("SELECT * FROM glue_database")
        }
        for name in self._safe_source():
            stored.setdefault(name, {"Name": name, "CatalogId": self._account})
        return [stored[name] for name in sorted(stored)]

    def _safe_source(self) -> dict[str, dict[str, SourceName]]:
        try:
            return self.of_source()
        except SourceError as error:
            raise ApiError("InternalServiceException", str(error), status=500) from None

    def _database(self, row: Row) -> dict[str, Any]:
        made = {"CreateTime": seconds(row["created"]), "CatalogId": self._account}
        return dict(row["definition"]) | made

    def database(self, name: str) -> dict[str, Any]:
        """Return Glue's Database. Raises ApiError (EntityNotFoundException)."""
        row = self.store.row("SELECT * FROM glue_database WHERE name = %s", [name.lower()])
        if row:
            return self._database(row)
        if name.lower() in self._safe_source():
            return {"Name": name.lower(), "CatalogId": self._account}
        raise ApiError("EntityNotFoundException", f"Database {name} not found.")

    def store_database(self, name: str) -> None:
        """Store a row for a source's database, so that tables can be defined in it."""
        self.store.run(
            "INSERT INTO glue_database (name, definition) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            [name, Jsonb({"Name": name})],
        )

    # tables

    def stored(self, database: str, name: str) -> Row | None:
        return self.store.row(
            "SELECT * FROM glue_table WHERE database = %s AND name = %s",
            [database.lower(), name.lower()],
        )

    def partitions(self, database: str, name: str) -> list[dict[str, Any]]:
        """Return the partitions of a stored table, without their times."""
        rows = self.store.rows(
            "SELECT partition_values, definition FROM glue_partition"
            " WHERE database = %s AND name = %s ORDER BY partition_values",
            [database.lower(), name.lower()],
        )
        return [{**row["definition"], "Values": row["partition_values"]} for row in rows]

    def table(self, database: str, name: str) -> dict[str, Any]:
        """Return Glue's Table. Raises ApiError (EntityNotFoundException)."""
        try:
            if found := self.lake_table(database, name):
                return self._described(database.lower(), name.lower(), found)
        except SourceError as error:
            raise ApiError("InternalServiceException", str(error), status=500) from None
        if row := self.stored(database, name):
            return self.shown(row)
        self.database(database)
        raise ApiError("EntityNotFoundException", f"Entity Not Found: Table {name} not found.")

    def names(self, database: str) -> list[str]:
        """Return a database's table names. Raises ApiError if the database does not exist."""
        self.database(database)
        stored = self.store.rows(
            "SELECT name FROM glue_table WHERE database = %s", [database.lower()]
        )
        names = {row["name"] for row in stored} | set(self._safe_source().get(database.lower(), {}))
        return sorted(names)

    def tables(self, database: str) -> list[dict[str, Any]]:
        return [self.table(database, name) for name in self.names(database)]

    def listed(
        self, wanted: Callable[[str, str], bool]
    ) -> list[tuple[str, str, Mapping[str, Any] | None]]:
        """Return database, name and definition of the tables that `wanted` selects, in order.

        The definition of a table of the lake is None: it follows from the table's files.
        """
        stored = {
            (row["database"], row["name"]): row["definition"]
            for row in self.store.rows("SELECT database, name, definition FROM glue_table")
            if wanted(row["database"], row["name"])
        }
        source = {
            (database, name): found[0]
            for database, names in self._safe_source().items()
            for name, found in names.items()
            if wanted(database, name)
        }
        return [
            (*place, None if _is_of(source.get(place), stored.get(place)) else stored[place])
            for place in sorted({*stored, *source})
        ]

    def described(
        self, wanted: Callable[[str, str], bool]
    ) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Yield the same as `listed`, with the lake tables' definitions. Raises SourceError."""
        listed = self.listed(wanted)
        names = self._safe_source()
        lake = {
            found[0].full_name: found[0]
            for database, name, definition in listed
            if definition is None and (found := names.get(database, {}).get(name))
        }
        with ThreadPoolExecutor(_PARALLEL) as pool:
            read = pool.map(lambda t: self._schema(t, self.source.last_commit(t)), lake.values())
            schemas = dict(zip(lake, read, strict=True))
        for database, name, definition in listed:
            if definition is not None:
                yield database, name, definition
            elif found := names.get(database, {}).get(name):
                table, view = found
                yield database, name, table_input(name, table, view, schemas[table.full_name])

    def information(self, catalog: str, table: str, asked: Asked) -> pa.Table:
        """Return the rows of a table of `information_schema`."""
        return information_rows(self, catalog, table, asked)

    def shown(self, row: Row) -> dict[str, Any]:
        """Return a stored table as in GetTable's answer."""
        made = {
            "DatabaseName": row["database"],
            "CreateTime": seconds(row["created"]) if "created" in row else None,
            "UpdateTime": seconds(row["updated"]),
            "CatalogId": self._account,
            "VersionId": str(row["version"]),
            "IsRegisteredWithLakeFormation": False,
        }
        # Trino runs a view as its owner, and refuses one without.
        owner = {"Owner": _OWNER} if is_view(row["definition"]) else {}
        return (
            owner
            | dict(row["definition"])
            | {key: value for key, value in made.items() if value is not None}
        )

    def _described(self, database: str, name: str, found: SourceName) -> dict[str, Any]:
        table, view = found
        commit = self.source.last_commit(table)
        made = table_input(name, table, view, self._schema(table, commit))
        if commit:
            made["Parameters"] = {**made["Parameters"], _COMMIT: commit}
        return made | {
            "DatabaseName": database,
            "CatalogId": self._account,
            "IsRegisteredWithLakeFormation": False,
        }

    def _schema(self, table: SourceTable, commit: str | None) -> pa.Schema:
        """Return the table's schema, which is read only after a new commit, since clients poll."""
        known = self._schemas.get((table.database, table.name))
        if known and known[0] == commit:
            return known[1]
        schema = self.source.schema(table)
        if commit:
            self._schemas[table.database, table.name] = (commit, schema)
        return schema


def _is_of(source: SourceTable | None, definition: Mapping[str, Any] | None) -> bool:
    """Return whether a name means the source's table: see `Definitions.lake_table`."""
    return source is not None and (definition is None or _same(definition, source))


def _same(definition: Mapping[str, Any], source: SourceTable) -> bool:
    """Return whether a stored table has the location of the source's table."""
    return place_of(definition) == s3_place(source.location)


def seconds(moment: datetime) -> float:
    """Return a time as in AWS's JSON, in seconds."""
    return moment.timestamp()


def page(items: Sequence[Any], token: str | None, limit: int) -> tuple[list[Any], str | None]:
    """Return a page of a list and the next page's token. Raises ApiError for an invalid token."""
    try:
        start = int(token or 0)
    except ValueError:
        start = -1
    if start < 0:
        raise ApiError("InvalidRequestException", "NextToken is invalid.")
    end = start + limit
    return list(items[start:end]), str(end) if end < len(items) else None


def with_token(members: dict[str, Any], token: str | None) -> dict[str, Any]:
    """Return an answer's members, with the token of the next page if there is one."""
    return members | ({"NextToken": token} if token else {})
