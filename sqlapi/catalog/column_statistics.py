"""Glue's operations on statistics of columns, which Trino's metastore client sends and reads."""

from __future__ import annotations

from psycopg.types.json import Jsonb

from sqlapi.catalog.definitions import Definitions
from sqlapi.protocol.http_app import Members, Operations
from sqlapi.protocol.protocol_errors import ApiError

__all__ = ["ColumnStatistics"]


class ColumnStatistics:
    """The operations, one per method. The endpoint stores statistics and does not use them."""

    def __init__(self, definitions: Definitions) -> None:
        self._all = definitions
        self._store = definitions.store

    def operations(self) -> Operations:
        return {
            "GetColumnStatisticsForTable": self.get,
            "UpdateColumnStatisticsForTable": self.update,
            "DeleteColumnStatisticsForTable": self.delete,
            "GetColumnStatisticsForPartition": self.get,
            "UpdateColumnStatisticsForPartition": self.update,
            "DeleteColumnStatisticsForPartition": self.delete,
        }

    def _place(self, given: Members, *, writes: bool) -> tuple[str, str, list[str]]:
        """Return database, table and partition. Raises ApiError if there is no such table."""
        database, name = given["DatabaseName"].lower(), given["TableName"].lower()
        values = list(given.get("PartitionValues") or [])
        self._all.table(database, name)
        if writes and self._all.stored(database, name) is None:
            raise ApiError(
                "InvalidInputException",
                f"{database}.{name} is a table of the lake: its definition follows from its files",
            )
        if values and self._all.stored(database, name):
            known = [one["Values"] for one in self._all.partitions(database, name)]
            if values not in known:
                raise ApiError("EntityNotFoundException", "Cannot find partition.")
        return database, name, values

    def get(self, given: Members) -> Members:
        place = self._place(given, writes=False)
        names = [name.lower() for name in given["ColumnNames"]]
        rows = self._store.rows(
            "SELECT statistics FROM glue_column_statistics WHERE database = %s AND name = %s"
            " AND partition_values = %s AND column_name = ANY(%s) ORDER BY column_name",
            [*place, names],
        )
        return {"ColumnStatisticsList": [row["statistics"] for row in rows], "Errors": []}

    def update(self, given: Members) -> Members:
        database, name, values = self._place(given, writes=True)
        for one in given["ColumnStatisticsList"]:
            self._store.run(
                "INSERT INTO glue_column_statistics VALUES (%s, %s, %s, %s, %s)"
                " ON CONFLICT (database, name, partition_values, column_name)"
                " DO UPDATE SET statistics = excluded.statistics",
                [database, name, values, one["ColumnName"].lower(), Jsonb(one)],
            )
        return {"Errors": []}

    def delete(self, given: Members) -> Members:
        place = self._place(given, writes=True)
        deleted = self._store.run(
            "DELETE FROM glue_column_statistics WHERE database = %s AND name = %s"
            " AND partition_values = %s AND column_name = %s",
            [*place, given["ColumnName"].lower()],
        )
        if not deleted:
            raise ApiError("EntityNotFoundException", "Cannot find column statistics.")
        return {}
