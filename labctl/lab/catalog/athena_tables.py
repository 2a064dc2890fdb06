"""Databases and tables of the catalog, as Athena's API returns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labctl.config.aws import CATALOG
from labctl.lab.catalog.athena_connection import Connection

__all__ = ["Column", "Database", "Table", "Tables"]


@dataclass(frozen=True)
class Database:
    name: str
    description: str


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    comment: str
    partition: bool
    """True for a partition column of the table."""


@dataclass(frozen=True)
class Table:
    """A table or a view."""

    name: str
    kind: str
    """`table` or `view`."""
    columns: tuple[Column, ...]


class Tables:
    """Databases and tables, without caching. Raises LabError if the API refuses a request."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def databases(self) -> list[Database]:
        found = self._all("list_databases", "DatabaseList")
        return [Database(one["Name"], one.get("Description", "")) for one in found]

    def tables(self, database: str) -> list[Table]:
        found = self._all("list_table_metadata", "TableMetadataList", DatabaseName=database)
        return [_table(one) for one in found]

    def table(self, database: str, name: str) -> Table:
        with self._connection.explained():
            answer = self._connection.client.get_table_metadata(
                CatalogName=CATALOG, DatabaseName=database, TableName=name
            )
        return _table(answer["TableMetadata"])

    def _all(self, operation: str, key: str, **request: Any) -> list[dict[str, Any]]:
        with self._connection.explained():
            pages = self._connection.client.get_paginator(operation).paginate(
                CatalogName=CATALOG, **request
            )
            return [one for page in pages for one in page[key]]


def _table(told: dict[str, Any]) -> Table:
    parts = ((told.get("Columns", ()), False), (told.get("PartitionKeys", ()), True))
    columns = tuple(
        Column(one["Name"], one.get("Type", ""), one.get("Comment", ""), partition)
        for part, partition in parts
        for one in part
    )
    view = told.get("TableType") == "VIRTUAL_VIEW"
    return Table(told["Name"], "view" if view else "table", columns)
