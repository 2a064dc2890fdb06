"""Databases and tables as Glue describes them, stored ones and those of the source together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from sqlapi.protocol.errors import ApiError
from sqlapi.source import MergeView, SourceError, SourceTable, TableSource
from sqlapi.sql.types import of_arrow
from sqlapi.store import Row, Store

__all__ = ["Definitions", "SourceName"]

_SECONDS = 1.0
_PARQUET = "org.apache.hadoop.hive.ql.io.parquet."
_HUDI = "org.apache.hudi.hadoop."
_INPUTS = {
    "COPY_ON_WRITE": f"{_HUDI}HoodieParquetInputFormat",
    "READ_OPTIMIZED": f"{_HUDI}HoodieParquetInputFormat",
    "MERGE_ON_READ": f"{_HUDI}realtime.HoodieParquetRealtimeInputFormat",
    "PARQUET": f"{_PARQUET}MapredParquetInputFormat",
}
SourceName = tuple[SourceTable, MergeView]


class Definitions:
    """What there is. Names are in small letters."""

    def __init__(self, store: Store, source: TableSource, *, account: str) -> None:
        self.store = store
        self.source = source
        self._account = account
        self._listed: tuple[float, dict[str, dict[str, SourceName]]] = (0.0, {})

    # the source

    def of_source(self) -> dict[str, dict[str, SourceName]]:
        """The source's tables by database and name: `t`, and of MERGE_ON_READ `t_ro`, `t_rt`."""
        at, found = self._listed
        if time.monotonic() - at < _SECONDS and found:
            return found
        found = {}
        for table in self.source.tables():
            names = found.setdefault(table.database, {})
            names[table.name] = (table, MergeView())
            if table.kind == "MERGE_ON_READ":
                names[f"{table.name}_rt"] = (table, MergeView())
                names[f"{table.name}_ro"] = (table, MergeView(read_optimized=True))
        self._listed = (time.monotonic(), found)
        return found

    def source_name(self, database: str, name: str) -> SourceName | None:
        return self.of_source().get(database, {}).get(name)

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
        """Raises ApiError (EntityNotFoundException)."""
        row = self.store.row("SELECT * FROM glue_database WHERE name = %s", [name.lower()])
        if row:
            return self._database(row)
        if name.lower() in self._safe_source():
            return {"Name": name.lower(), "CatalogId": self._account}
        raise ApiError("EntityNotFoundException", f"Database {name} not found.")

    def store_database(self, name: str) -> None:
        """A source's database gets a row, so that tables can be defined in it."""
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

    def table(self, database: str, name: str) -> dict[str, Any]:
        """Glue's Table. Raises ApiError (EntityNotFoundException)."""
        if row := self.stored(database, name):
            return self.shown(row)
        try:
            if found := self.source_name(database.lower(), name.lower()):
                return self._described(database.lower(), name.lower(), found)
        except SourceError as error:
            raise ApiError("InternalServiceException", str(error), status=500) from None
        self.database(database)
        raise ApiError("EntityNotFoundException", f"Entity Not Found: Table {name} not found.")

    def names(self, database: str) -> list[str]:
        """All tables of a database. Raises ApiError when there is no such database."""
        self.database(database)
        stored = self.store.rows(
            "SELECT name FROM glue_table WHERE database = %s", [database.lower()]
        )
        names = {row["name"] for row in stored} | set(self._safe_source().get(database.lower(), {}))
        return sorted(names)

    def tables(self, database: str) -> list[dict[str, Any]]:
        return [self.table(database, name) for name in self.names(database)]

    def shown(self, row: Row) -> dict[str, Any]:
        """A stored table as GetTable answers it."""
        made = {
            "DatabaseName": row["database"],
            "CreateTime": seconds(row["created"]) if "created" in row else None,
            "UpdateTime": seconds(row["updated"]),
            "CatalogId": self._account,
            "VersionId": str(row["version"]),
            "IsRegisteredWithLakeFormation": False,
        }
        return dict(row["definition"]) | {
            key: value for key, value in made.items() if value is not None
        }

    def _described(self, database: str, name: str, found: SourceName) -> dict[str, Any]:
        table, view = found
        schema = self.source.schema(table, view)
        keys = {key.lower() for key in table.partition_keys}
        columns = [
            {"Name": field.name.lower(), "Type": of_arrow(field.type).glue} for field in schema
        ]
        kind = "READ_OPTIMIZED" if view.read_optimized else table.kind
        return {
            "Name": name,
            "DatabaseName": database,
            "CatalogId": self._account,
            "TableType": "EXTERNAL_TABLE",
            "Parameters": {"EXTERNAL": "TRUE", "classification": "parquet", **table.parameters},
            "PartitionKeys": [c for c in columns if c["Name"] in keys],
            "StorageDescriptor": {
                "Columns": [c for c in columns if c["Name"] not in keys],
                "Location": table.location,
                "InputFormat": _INPUTS[kind],
                "OutputFormat": f"{_PARQUET}MapredParquetOutputFormat",
                "SerdeInfo": {
                    "SerializationLibrary": f"{_PARQUET}serde.ParquetHiveSerDe",
                    "Parameters": {"path": table.location},
                },
            },
            "IsRegisteredWithLakeFormation": False,
        }


def seconds(moment: datetime) -> float:
    """A time as AWS's JSON has it."""
    return moment.timestamp()


def page(items: Sequence[Any], token: str | None, limit: int) -> tuple[list[Any], str | None]:
    """A page of a list, and the token of the next. Raises ApiError for a token of no page."""
    try:
        start = int(token or 0)
    except ValueError:
        start = -1
    if start < 0:
        raise ApiError("InvalidRequestException", "NextToken is invalid.")
    end = start + limit
    return list(items[start:end]), str(end) if end < len(items) else None
