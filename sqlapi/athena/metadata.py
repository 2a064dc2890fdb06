"""Athena's own operations on the catalog."""

from __future__ import annotations

from sqlapi.catalog.definitions import Definitions, page, with_token
from sqlapi.catalog.matching import PatternError, matching
from sqlapi.protocol.http_app import Members, Operations
from sqlapi.protocol.protocol_errors import ApiError

__all__ = ["Metadata"]

_PAGE = 50


class Metadata:
    """The catalog's operations, one per method."""

    def __init__(self, definitions: Definitions, catalog: str) -> None:
        self._all = definitions
        self._catalog = catalog

    def operations(self) -> Operations:
        return {
            "GetDatabase": self.get_database,
            "ListDatabases": self.list_databases,
            "GetTableMetadata": self.get_table,
            "ListTableMetadata": self.list_tables,
        }

    def _check(self, given: Members) -> None:
        if given["CatalogName"].lower() != self._catalog.lower():
            raise _metadata(f"Catalog {given['CatalogName']} was not found")

    def get_database(self, given: Members) -> Members:
        self._check(given)
        try:
            return {"Database": _database(self._all.database(given["DatabaseName"]))}
        except ApiError as error:
            raise _metadata(error.message) from None

    def list_databases(self, given: Members) -> Members:
        self._check(given)
        found = [_database(one) for one in self._all.databases()]
        items, token = page(found, given.get("NextToken"), given.get("MaxResults", _PAGE))
        return with_token({"DatabaseList": items}, token)

    def get_table(self, given: Members) -> Members:
        self._check(given)
        try:
            table = self._all.table(given["DatabaseName"], given["TableName"])
        except ApiError as error:
            raise _metadata(error.message) from None
        return {"TableMetadata": _table(table)}

    def list_tables(self, given: Members) -> Members:
        self._check(given)
        try:
            names = self._all.names(given["DatabaseName"])
        except ApiError as error:
            raise _metadata(error.message) from None
        if pattern := given.get("Expression"):
            try:
                names = matching(names, pattern, whole=False)
            except PatternError as error:
                raise ApiError(
                    "InvalidRequestException", f"Invalid expression {pattern}: {error}"
                ) from None
        items, token = page(names, given.get("NextToken"), given.get("MaxResults", _PAGE))
        shown = [_table(self._all.table(given["DatabaseName"], name)) for name in items]
        return with_token({"TableMetadataList": shown}, token)


def _metadata(message: str) -> ApiError:
    return ApiError("MetadataException", message)


def _database(one: Members) -> Members:
    shown = {"Name": one["Name"], "Parameters": one.get("Parameters") or {}}
    return shown | ({"Description": one["Description"]} if one.get("Description") else {})


def _column(one: Members) -> Members:
    return {key: one[key] for key in ("Name", "Type", "Comment") if one.get(key)}


def _table(table: Members) -> Members:
    storage = table.get("StorageDescriptor") or {}
    parameters = {
        **(table.get("Parameters") or {}),
        "location": storage.get("Location") or "",
        "inputformat": storage.get("InputFormat") or "",
        "outputformat": storage.get("OutputFormat") or "",
        "serde.serialization.lib": (storage.get("SerdeInfo") or {}).get("SerializationLibrary")
        or "",
    }
    shown = {
        "Name": table["Name"],
        "TableType": table.get("TableType") or "EXTERNAL_TABLE",
        "Columns": [_column(c) for c in storage.get("Columns") or []],
        "PartitionKeys": [_column(c) for c in table.get("PartitionKeys") or []],
        "Parameters": parameters,
    }
    for key, to in (("CreateTime", "CreateTime"), ("LastAccessTime", "LastAccessTime")):
        if table.get(key):
            shown[to] = table[key]
    return shown
