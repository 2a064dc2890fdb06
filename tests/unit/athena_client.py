"""A client of Athena's API that answers from memory: what the shell's own tests need of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

__all__ = ["Client"]

AT_ONCE = 50
"""Saved statements that one request may ask for."""
_COLUMNS = {
    "sale": [("saleid", "int"), ("Price", "decimal(8,2)")],
    "event": [("eventid", "int"), ("eventname", "string")],
    "order": [("n", "int")],
}


class Client:
    """Of two databases. `asked` has every statement, `stopped` every execution that was stopped."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.stopped: list[str] = []
        self.named: dict[str, dict[str, Any]] = {}
        self.prepared: dict[str, dict[str, Any]] = {}
        self.interrupt_start = False
        self.down = False

    def start_query_execution(self, **request: Any) -> dict[str, str]:
        known = [one["ClientRequestToken"] for one in self.asked]
        if request["ClientRequestToken"] not in known:
            self.asked.append(request)
        if self.interrupt_start:
            self.interrupt_start = False
            raise KeyboardInterrupt
        return {"QueryExecutionId": str(len(self.asked) - 1)}

    def stop_query_execution(self, *, QueryExecutionId: str) -> None:  # noqa: N803 - as boto3 has it
        self.stopped.append(QueryExecutionId)

    def get_query_execution(self, *, QueryExecutionId: str) -> dict[str, Any]:  # noqa: N803
        sql = self.asked[int(QueryExecutionId)]["QueryString"]
        status: dict[str, Any] = {"State": "SUCCEEDED"}
        if "forever" in sql:
            status["State"] = "RUNNING"
            os.kill(os.getpid(), signal.SIGINT)
        if "wrong" in sql:
            reason = "COLUMN_NOT_FOUND: line 1:8: Column 'wrong' cannot be resolved"
            error = {"ErrorCategory": 2}
            status = {"State": "FAILED", "StateChangeReason": reason, "AthenaError": error}
        return {
            "QueryExecution": {
                "QueryExecutionId": QueryExecutionId,
                "Status": status,
                "ResultConfiguration": {"OutputLocation": "s3://b/x.csv"},
            }
        }

    def get_table_metadata(self, **request: str) -> dict[str, Any]:
        if request["TableName"] not in _COLUMNS:
            message = f"{request['TableName']} not found"
            told: Any = {"Code": "MetadataException", "Message": message}
            raise ClientError({"Error": told}, "GetTableMetadata")
        return {"TableMetadata": _table(request["TableName"])}

    def create_named_query(self, **request: str) -> None:
        id_ = f"id-{len(self.named)}"
        self.named[id_] = request | {"NamedQueryId": id_}

    def batch_get_named_query(self, *, NamedQueryIds: list[str]) -> dict[str, Any]:  # noqa: N803
        assert len(NamedQueryIds) <= AT_ONCE
        return {"NamedQueries": [self.named[id_] for id_ in NamedQueryIds]}

    def delete_named_query(self, *, NamedQueryId: str) -> None:  # noqa: N803
        del self.named[NamedQueryId]

    def create_prepared_statement(self, **request: str) -> None:
        self.prepared[request["StatementName"]] = request

    def list_prepared_statements(self, **request: str) -> dict[str, Any]:
        first = int(request.get("NextToken", "0"))
        names = [{"StatementName": name} for name in [*self.prepared][first : first + 2]]
        more = {"NextToken": str(first + 2)} if first + 2 < len(self.prepared) else {}
        return {"PreparedStatements": names, **more}

    def batch_get_prepared_statement(self, **request: Any) -> dict[str, Any]:
        assert len(request["PreparedStatementNames"]) <= AT_ONCE
        found = [self.prepared[name] for name in request["PreparedStatementNames"]]
        return {"PreparedStatements": found}

    def delete_prepared_statement(self, *, StatementName: str, WorkGroup: str) -> None:  # noqa: N803
        assert WorkGroup == "primary"
        del self.prepared[StatementName]

    def get_paginator(self, operation: str) -> _Pages:
        return _Pages(self, operation)


class _Pages:
    def __init__(self, client: Client, operation: str) -> None:
        self._client = client
        self._operation = operation

    def paginate(self, **request: str) -> Iterator[dict[str, Any]]:
        if self._client.down:
            told: Any = {"Code": "InternalServerException", "Message": "it is down"}
            raise ClientError({"Error": told}, self._operation)
        if self._operation == "list_databases":
            # One a page.
            yield {"DatabaseList": [{"Name": "moma", "Description": "art"}]}
            yield {"DatabaseList": [{"Name": "tickit"}]}
        elif self._operation == "list_named_queries":
            for id_ in self._client.named:
                yield {"NamedQueryIds": [id_]}
        elif self._operation == "list_table_metadata":
            names = _COLUMNS if request["DatabaseName"] == "tickit" else ()
            yield {"TableMetadataList": [_table(name) for name in names]}
        else:
            column = {"Name": "n", "Label": "n", "Type": "integer"}
            sql = self._client.asked[int(request["QueryExecutionId"])]["QueryString"]
            rows = [[{"VarCharValue": value}] for value in ("n", str(len(sql)))]
            yield {
                "ResultSet": {
                    "ResultSetMetadata": {"ColumnInfo": [column]},
                    "Rows": [{"Data": row} for row in rows],
                }
            }


def _table(name: str) -> dict[str, Any]:
    columns = [{"Name": column, "Type": type_} for column, type_ in _COLUMNS[name]]
    kind = "VIRTUAL_VIEW" if name == "event" else "EXTERNAL_TABLE"
    return {"Name": name, "TableType": kind, "Columns": columns}
