"""The operations of Glue's Data Catalog."""

from __future__ import annotations

import re
from collections.abc import Sequence

import psycopg
from psycopg.types.json import Jsonb

from sqlapi.catalog.definitions import Definitions, page, seconds, with_token
from sqlapi.catalog.matching import PatternError, matching
from sqlapi.catalog.partition_filter import ExpressionError, partition_filter
from sqlapi.catalog.table_inputs import partition_input
from sqlapi.protocol.http_app import Members, Operations
from sqlapi.protocol.protocol_errors import ApiError
from sqlapi.source import SourceError
from sqlapi.store import Row

__all__ = ["Glue"]

_PAGE = 100
_NAME = re.compile(r"[^\x00-\x1f]{1,255}")


class Glue:
    """The catalog's operations, one per method."""

    def __init__(self, definitions: Definitions) -> None:
        self._all = definitions
        self._store = definitions.store

    def operations(self) -> Operations:
        return {
            "CreateDatabase": self.create_database,
            "GetDatabase": self.get_database,
            "GetDatabases": self.get_databases,
            "UpdateDatabase": self.update_database,
            "DeleteDatabase": self.delete_database,
            "CreateTable": self.create_table,
            "GetTable": self.get_table,
            "GetTables": self.get_tables,
            "UpdateTable": self.update_table,
            "DeleteTable": self.delete_table,
            "BatchDeleteTable": self.batch_delete_table,
            "GetTableVersion": self.get_table_version,
            "GetTableVersions": self.get_table_versions,
            "CreatePartition": self.create_partition,
            "BatchCreatePartition": self.batch_create_partition,
            "GetPartition": self.get_partition,
            "GetPartitions": self.get_partitions,
            "BatchGetPartition": self.batch_get_partition,
            "UpdatePartition": self.update_partition,
            "DeletePartition": self.delete_partition,
            "BatchDeletePartition": self.batch_delete_partition,
        }

    # databases

    def create_database(self, given: Members) -> Members:
        definition = given["DatabaseInput"]
        name = _name(definition["Name"])
        made = self._store.run(
            "INSERT INTO glue_database (name, definition) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            [name, Jsonb(definition | {"Name": name})],
        )
        if not made:
            raise ApiError("AlreadyExistsException", "Database already exists.")
        return {}

    def get_database(self, given: Members) -> Members:
        return {"Database": self._all.database(given["Name"])}

    def get_databases(self, given: Members) -> Members:
        found = self._all.databases()
        items, token = page(found, given.get("NextToken"), given.get("MaxResults", _PAGE))
        return with_token({"DatabaseList": items}, token)

    def update_database(self, given: Members) -> Members:
        name = given["Name"].lower()
        self._all.database(name)
        self._all.store_database(name)
        definition = given["DatabaseInput"] | {"Name": name}
        self._store.run(
            "UPDATE glue_database SET definition = %s WHERE name = %s", [Jsonb(definition), name]
        )
        return {}

    def delete_database(self, given: Members) -> Members:
        name = given["Name"].lower()
        if not self._store.run("DELETE FROM glue_database WHERE name = %s", [name]):
            raise ApiError("EntityNotFoundException", f"Database {name} not found.")
        return {}

    # tables

    def create_table(self, given: Members) -> Members:
        database = given["DatabaseName"].lower()
        self._all.database(database)
        self._all.store_database(database)
        definition = given["TableInput"]
        name = _name(definition["Name"])
        for keys in given.get("PartitionIndexes") or []:
            raise ApiError("OperationNotSupportedException", f"Partition index {keys['IndexName']}")
        if self._all.source_name(database, name):
            raise ApiError("AlreadyExistsException", "Table already exists.")
        made = self._store.run(
            "INSERT INTO glue_table (database, name, definition) VALUES (%s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            [database, name, Jsonb(definition | {"Name": name})],
        )
        if not made:
            raise ApiError("AlreadyExistsException", "Table already exists.")
        return {}

    def get_table(self, given: Members) -> Members:
        return {"Table": self._all.table(given["DatabaseName"], given["Name"])}

    def get_tables(self, given: Members) -> Members:
        names = self._all.names(given["DatabaseName"])
        if pattern := given.get("Expression"):
            try:
                names = matching(names, pattern, whole=True)
            except PatternError as error:
                raise ApiError(
                    "InvalidInputException", f"Invalid expression: {pattern}: {error}"
                ) from None
        items, token = page(names, given.get("NextToken"), given.get("MaxResults", _PAGE))
        found = [self._all.table(given["DatabaseName"], name) for name in items]
        return with_token({"TableList": found}, token)

    def update_table(self, given: Members) -> Members:
        database = given["DatabaseName"].lower()
        definition = given["TableInput"]
        name = _name(definition["Name"])
        row = self._stored(database, name)
        version = given.get("VersionId")
        if version and version != str(row["version"]):
            raise ApiError(
                "ConcurrentModificationException",
                "Update table failed due to concurrent modifications.",
            )
        if not given.get("SkipArchive"):
            self._store.run(
                "INSERT INTO glue_table_version (database, name, version, definition, updated)"
                " SELECT database, name, version, definition, updated FROM glue_table"
                " WHERE database = %s AND name = %s ON CONFLICT DO NOTHING",
                [database, name],
            )
        changed = self._store.run(
            "UPDATE glue_table SET definition = %s, version = version + 1, updated = now()"
            " WHERE database = %s AND name = %s AND version = %s",
            [Jsonb(definition | {"Name": name}), database, name, row["version"]],
        )
        if not changed:
            raise ApiError(
                "ConcurrentModificationException",
                "Update table failed due to concurrent modifications.",
            )
        return {}

    def delete_table(self, given: Members) -> Members:
        row = self._stored(given["DatabaseName"], given["Name"])
        self._store.run(
            "DELETE FROM glue_table WHERE database = %s AND name = %s",
            [row["database"], row["name"]],
        )
        return {}

    def batch_delete_table(self, given: Members) -> Members:
        errors = []
        for name in given["TablesToDelete"]:
            try:
                self.delete_table({"DatabaseName": given["DatabaseName"], "Name": name})
            except ApiError as error:
                detail = {"ErrorCode": error.code, "ErrorMessage": error.message}
                errors.append({"TableName": name, "ErrorDetail": detail})
        return {"Errors": errors} if errors else {}

    def get_table_version(self, given: Members) -> Members:
        found = self._versions(given)
        wanted = given.get("VersionId") or found[0]["VersionId"]
        for version in found:
            if version["VersionId"] == wanted:
                return {"TableVersion": version}
        raise ApiError("EntityNotFoundException", f"Version {wanted} not found.")

    def get_table_versions(self, given: Members) -> Members:
        found = self._versions(given)
        items, token = page(found, given.get("NextToken"), given.get("MaxResults", _PAGE))
        return with_token({"TableVersions": items}, token)

    def _versions(self, given: Members) -> list[Members]:
        row = self._stored(given["DatabaseName"], given["TableName"])
        older = self._store.rows(
            "SELECT * FROM glue_table_version WHERE database = %s AND name = %s"
            " ORDER BY version DESC",
            [row["database"], row["name"]],
        )
        return [
            {"Table": self._all.shown(one), "VersionId": str(one["version"])}
            for one in [row, *older]
        ]

    def _stored(self, database: str, name: str) -> Row:
        row = self._all.stored(database, name)
        if row is None and self._all.source_name(database.lower(), name.lower()):
            raise _of_the_lake(database, name)
        if row is None:
            raise _no_table(name)
        return row

    # partitions

    def create_partition(self, given: Members) -> Members:
        row = self._stored(given["DatabaseName"], given["TableName"])
        definition = given["PartitionInput"]
        values = definition.get("Values") or []
        self._check_count(row, values)
        try:
            self._store.run(
                "INSERT INTO glue_partition (database, name, partition_values, definition)"
                " VALUES (%s, %s, %s, %s)",
                [row["database"], row["name"], values, Jsonb(definition)],
            )
        except psycopg.errors.UniqueViolation:
            raise ApiError("AlreadyExistsException", "Partition already exists.") from None
        return {}

    def _check_count(self, row: Row, values: Sequence[str]) -> None:
        if len(values) != len(row["definition"].get("PartitionKeys") or []):
            raise ApiError(
                "InvalidInputException",
                "The number of partition keys do not match the number of partition values",
            )

    def batch_create_partition(self, given: Members) -> Members:
        errors = []
        for definition in given["PartitionInputList"]:
            try:
                self.create_partition({**given, "PartitionInput": definition})
            except ApiError as error:
                if error.code == "EntityNotFoundException":
                    raise
                detail = {"ErrorCode": error.code, "ErrorMessage": error.message}
                errors.append(
                    {"PartitionValues": definition.get("Values") or [], "ErrorDetail": detail}
                )
        return {"Errors": errors} if errors else {}

    def _partition(self, row: Row) -> Members:
        place = {"DatabaseName": row["database"], "TableName": row["name"]}
        made = {**place, "Values": row["partition_values"]}
        # A lake table's partition has no row in the store, so no time of creation.
        times = {"CreationTime": seconds(row["created"])} if "created" in row else {}
        return dict(row["definition"]) | made | times

    def _partitions(self, given: Members) -> list[Row]:
        table = self._all.table(given["DatabaseName"], given["TableName"])
        try:
            if found := self._all.lake_table(table["DatabaseName"], table["Name"]):
                return _of_folders(table, self._all.source.partitions(found[0]))
        except SourceError as error:
            raise ApiError("InternalServiceException", str(error), status=500) from None
        return self._store.rows(
            "SELECT * FROM glue_partition WHERE database = %s AND name = %s"
            " ORDER BY partition_values",
            [table["DatabaseName"], table["Name"]],
        )

    def get_partition(self, given: Members) -> Members:
        for row in self._partitions(given):
            if row["partition_values"] == given["PartitionValues"]:
                return {"Partition": self._partition(row)}
        raise ApiError("EntityNotFoundException", "Cannot find partition.")

    def get_partitions(self, given: Members) -> Members:
        rows = self._partitions(given)
        if given.get("Expression"):
            table = self._all.table(given["DatabaseName"], given["TableName"])
            keys = {key["Name"]: key.get("Type") or "" for key in table.get("PartitionKeys") or []}
            try:
                wanted = partition_filter(keys, given["Expression"])
            except ExpressionError as error:
                raise ApiError(
                    "InvalidInputException", f"Unsupported expression '{error}'"
                ) from None
            rows = [row for row in rows if wanted(row["partition_values"])]
        items, token = page(rows, given.get("NextToken"), given.get("MaxResults", _PAGE))
        return with_token({"Partitions": [self._partition(row) for row in items]}, token)

    def batch_get_partition(self, given: Members) -> Members:
        wanted = [one["Values"] for one in given["PartitionsToGet"]]
        rows = [row for row in self._partitions(given) if row["partition_values"] in wanted]
        return {"Partitions": [self._partition(row) for row in rows], "UnprocessedKeys": []}

    def update_partition(self, given: Members) -> Members:
        row = self._stored(given["DatabaseName"], given["TableName"])
        values = given["PartitionInput"].get("Values") or given["PartitionValueList"]
        self._check_count(row, values)
        place = [row["database"], row["name"], given["PartitionValueList"]]
        try:
            changed = self._store.run(
                "WITH statistics AS (UPDATE glue_column_statistics SET partition_values = %s"
                " WHERE database = %s AND name = %s AND partition_values = %s)"
                " UPDATE glue_partition SET definition = %s, partition_values = %s"
                " WHERE database = %s AND name = %s AND partition_values = %s",
                [values, *place, Jsonb(given["PartitionInput"]), values, *place],
            )
        except psycopg.errors.UniqueViolation:
            raise ApiError("AlreadyExistsException", "Partition already exists.") from None
        if not changed:
            raise ApiError("EntityNotFoundException", "Cannot find partition.")
        return {}

    def delete_partition(self, given: Members) -> Members:
        place = [given["DatabaseName"].lower(), given["TableName"].lower()]
        deleted = self._store.run(
            "WITH statistics AS (DELETE FROM glue_column_statistics"
            " WHERE database = %s AND name = %s AND partition_values = %s)"
            " DELETE FROM glue_partition"
            " WHERE database = %s AND name = %s AND partition_values = %s",
            [*place, given["PartitionValues"], *place, given["PartitionValues"]],
        )
        if not deleted:
            raise ApiError("EntityNotFoundException", "Cannot find partition.")
        return {}

    def batch_delete_partition(self, given: Members) -> Members:
        errors = []
        for one in given["PartitionsToDelete"]:
            try:
                self.delete_partition({**given, "PartitionValues": one["Values"]})
            except ApiError as error:
                detail = {"ErrorCode": error.code, "ErrorMessage": error.message}
                errors.append({"PartitionValues": one["Values"], "ErrorDetail": detail})
        return {"Errors": errors} if errors else {}


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ApiError("InvalidInputException", f"Invalid name: {name[:255]!r}")
    return name.lower()


def _of_folders(table: Members, folders: Sequence[str]) -> list[Row]:
    made = [partition_input(table, folder) for folder in folders]
    place = {"database": table["DatabaseName"], "name": table["Name"]}
    return [{**place, "partition_values": one["Values"], "definition": one} for one in made]


def _of_the_lake(database: str, name: str) -> ApiError:
    return ApiError(
        "InvalidInputException",
        f"{database}.{name} is a table of the lake: its definition follows from its files",
    )


def _no_table(name: str) -> ApiError:
    return ApiError("EntityNotFoundException", f"Entity Not Found: Table {name} not found.")
