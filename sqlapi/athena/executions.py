"""StartQueryExecution, and the operations on an execution."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import psycopg
from psycopg.types.json import Jsonb

from sqlapi.athena.executor import Executor
from sqlapi.athena.layout import PAGE_ROWS
from sqlapi.athena.outcome import Work
from sqlapi.athena.results import Line, Page, Results
from sqlapi.athena.statements import Statement, parse
from sqlapi.athena.workgroups import ENGINE, Workgroups
from sqlapi.catalog.definitions import page, seconds, with_token
from sqlapi.protocol.http_app import Members, Operations
from sqlapi.protocol.protocol_errors import ApiError, invalid_request
from sqlapi.settings import Settings
from sqlapi.sql.statement_errors import SqlError
from sqlapi.storage import LocationError
from sqlapi.store import Row, Store

__all__ = ["Executions"]

_LIST = 50
_ON_THE_WAY = ("QUEUED", "RUNNING")
_HELD_SECONDS = 0.1
"""Seconds for which GetQueryExecution waits for the end of a query."""


class Executions:
    """The operations on executions, one per method."""

    def __init__(
        self, settings: Settings, store: Store, workgroups: Workgroups,
        executor: Executor, results: Results,
    ) -> None:  # fmt: skip
        self._settings = settings
        self._store = store
        self._workgroups = workgroups
        self._executor = executor
        self._results = results

    def operations(self) -> Operations:
        return {
            "StartQueryExecution": self.start,
            "GetQueryExecution": self.get,
            "BatchGetQueryExecution": self.batch_get,
            "ListQueryExecutions": self.list,
            "StopQueryExecution": self.stop,
            "GetQueryResults": self.results,
            "GetQueryRuntimeStatistics": self.runtime_statistics,
        }

    def start(self, given: Members) -> Members:
        group = self._workgroups.enabled(given.get("WorkGroup") or "primary")
        token = given.get("ClientRequestToken")
        if token and (row := self._by_token(token)):
            return self._again(row, given)
        try:
            statement = parse(given["QueryString"])
        except SqlError as error:
            raise self._refused(error) from None
        context = given.get("QueryExecutionContext") or {}
        catalog = context.get("Catalog") or self._settings.catalog
        if catalog.lower() != self._settings.catalog.lower():
            raise invalid_request(f"Catalog {catalog} is not found")
        id_ = str(uuid4())
        ending = ".csv" if statement.verb in ("SELECT", "EXECUTE") else ".txt"
        if statement.verb in ("UNLOAD", "CREATE_TABLE_AS_SELECT"):
            ending = ""
        location = f"{self._output(group, given)}/{id_}{ending}"
        if reused := self._reused(given, statement):
            return self._copied(reused, id_, given, statement)
        work = Work(
            id_, location, (context.get("Database") or "default").strip("`").lower(),
            group["Name"], tuple(given.get("ExecutionParameters") or ()),
            group["Configuration"].get("BytesScannedCutoffPerQuery"),
        )  # fmt: skip
        with self._executor.place():
            return self._started(statement, work, given)

    def _started(self, statement: Statement, work: Work, given: Members) -> Members:
        token = given.get("ClientRequestToken")
        try:
            self._store.run(
                "INSERT INTO execution"
                " (id, workgroup, token, request, state, kind, substatement, location)"
                " VALUES (%s, %s, %s, %s, 'QUEUED', %s, %s, %s)",
                [
                    work.id, work.workgroup, token, Jsonb(given), statement.kind, statement.verb,
                    work.location,
                ],
            )  # fmt: skip
        except psycopg.errors.UniqueViolation:
            # another request with the same token came at the same time
            row = self._by_token(token or "")
            if row is None:
                raise
            return self._again(row, given)
        self._executor.submit(statement, work)
        return {"QueryExecutionId": work.id}

    @staticmethod
    def _refused(error: SqlError) -> ApiError:
        code = "MALFORMED_QUERY" if error.kind == "SYNTAX_ERROR" else "NOT_SUPPORTED"
        message = str(error).removeprefix("SYNTAX_ERROR: ")
        return ApiError("InvalidRequestException", message, AthenaErrorCode=code)

    def _output(self, group: Members, given: Members) -> str:
        configuration = group["Configuration"]
        theirs = (given.get("ResultConfiguration") or {}).get("OutputLocation")
        own = (configuration.get("ResultConfiguration") or {}).get("OutputLocation")
        location = (
            own if configuration.get("EnforceWorkGroupConfiguration") and own else theirs or own
        )
        if not location:
            raise invalid_request("No output location provided. An output location is required.")
        try:
            self._results.check(location)
        except LocationError as error:
            raise invalid_request(str(error)) from None
        return str(location).rstrip("/")

    def _by_token(self, token: str) -> Row | None:
        return self._store.row("SELECT * FROM execution WHERE token = %s", [token])

    @staticmethod
    def _again(row: Row, given: Members) -> Members:
        """Return the execution that the token started. Raises ApiError if the request differs."""
        if row["request"] != given:
            raise invalid_request("Idempotent parameters do not match")
        return {"QueryExecutionId": row["id"]}

    # reuse of results

    def _reused(self, given: Members, statement: Statement) -> Row | None:
        asked = (given.get("ResultReuseConfiguration") or {}).get("ResultReuseByAgeConfiguration")
        if not asked or not asked.get("Enabled") or statement.verb != "SELECT":
            return None
        same = {
            key: given.get(key)
            for key in ("QueryString", "QueryExecutionContext", "ExecutionParameters")
        }
        age = timedelta(minutes=asked.get("MaxAgeInMinutes", 60))
        for row in self._store.rows(
            "SELECT * FROM execution WHERE workgroup = %s AND state = 'SUCCEEDED'"
            " AND request->>'QueryString' = %s AND completed > now() - %s::interval"
            " ORDER BY number DESC LIMIT 10",
            [given.get("WorkGroup") or "primary", given["QueryString"], age],
        ):
            if all(row["request"].get(key) == value for key, value in same.items()):
                return row
        return None

    def _copied(self, old: Row, id_: str, given: Members, statement: Statement) -> Members:
        statistics = old["statistics"] | {
            "DataScannedInBytes": 0, "EngineExecutionTimeInMillis": 0,
            "ResultReuseInformation": {"ReusedPreviousResult": True},
        }  # fmt: skip
        self._store.run(
            "INSERT INTO execution (id, workgroup, token, request, state, kind, substatement,"
            " location, columns, statistics, completed)"
            " VALUES (%s, %s, %s, %s, 'SUCCEEDED', %s, %s, %s, %s, %s, now())",
            [
                id_, old["workgroup"], given.get("ClientRequestToken"), Jsonb(given),
                statement.kind, statement.verb, old["location"], Jsonb(old["columns"]),
                Jsonb(statistics),
            ],
        )  # fmt: skip
        return {"QueryExecutionId": id_}

    # queries about executions

    def _row(self, id_: str) -> Row:
        row = self._store.row("SELECT * FROM execution WHERE id = %s", [id_])
        if row is None:
            raise invalid_request(f"QueryExecution {id_} was not found")
        if row["state"] in _ON_THE_WAY and not self._executor.is_live(id_):
            # the execution may have ended just now
            row = self._store.row("SELECT * FROM execution WHERE id = %s", [id_])
            if row and row["state"] in _ON_THE_WAY:
                self._executor.give_up(id_)
                row = self._store.row("SELECT * FROM execution WHERE id = %s", [id_])
        if row is None:
            raise invalid_request(f"QueryExecution {id_} was not found")
        return row

    def get(self, given: Members) -> Members:
        id_ = given["QueryExecutionId"]
        row = self._row(id_)
        if row["state"] in _ON_THE_WAY:
            # Clients poll: for a short query, a brief wait saves the second request.
            self._executor.wait(id_, _HELD_SECONDS)
            row = self._row(id_)
        return {"QueryExecution": self._shown(row)}

    def batch_get(self, given: Members) -> Members:
        found, missing = [], []
        for id_ in given["QueryExecutionIds"]:
            try:
                found.append(self._shown(self._row(id_)))
            except ApiError as error:
                missing.append(
                    {
                        "QueryExecutionId": id_, "ErrorCode": "INVALID_INPUT",
                        "ErrorMessage": error.message,
                    }
                )  # fmt: skip
        return {"QueryExecutions": found, "UnprocessedQueryExecutionIds": missing}

    def _shown(self, row: Row) -> Members:
        request = row["request"]
        status: Members = {"State": row["state"], "SubmissionDateTime": seconds(row["submitted"])}
        if row["completed"]:
            status["CompletionDateTime"] = seconds(row["completed"])
        if row["reason"]:
            status["StateChangeReason"] = row["reason"]
        if row["error"]:
            status["AthenaError"] = row["error"]
        hidden = ("InputRows", "OutputRows")
        shown: Members = {
            "QueryExecutionId": row["id"],
            "Query": request["QueryString"],
            "StatementType": row["kind"],
            "SubstatementType": row["substatement"],
            "ResultConfiguration": {
                **(request.get("ResultConfiguration") or {}), "OutputLocation": row["location"],
            },
            "QueryExecutionContext": request.get("QueryExecutionContext") or {},
            "Status": status,
            "Statistics": {k: v for k, v in row["statistics"].items() if k not in hidden},
            "WorkGroup": row["workgroup"],
            "EngineVersion": ENGINE,
        }  # fmt: skip
        for key in ("ExecutionParameters", "ResultReuseConfiguration"):
            if key in request:
                shown[key] = request[key]
        return shown

    def list(self, given: Members) -> Members:
        group = given.get("WorkGroup") or "primary"
        self._workgroups.row(group)
        rows = self._store.rows(
            "SELECT id FROM execution WHERE workgroup = %s ORDER BY number DESC", [group]
        )
        ids = [row["id"] for row in rows]
        items, token = page(ids, given.get("NextToken"), given.get("MaxResults", _LIST))
        return with_token({"QueryExecutionIds": items}, token)

    def stop(self, given: Members) -> Members:
        id_ = given["QueryExecutionId"]
        self._row(id_)
        self._executor.stop(id_)
        return {}

    def results(self, given: Members) -> Members:
        row = self._row(given["QueryExecutionId"])
        if row["state"] != "SUCCEEDED":
            raise ApiError(
                "InvalidRequestException",
                f"Query has not yet finished. Current state: {row['state']}"
                if row["state"] in _ON_THE_WAY
                else f"Query did not finish successfully. Final query state: {row['state']}",
                AthenaErrorCode="INVALID_QUERY_EXECUTION_STATE",
            )
        columns, location = row["columns"] or [], row["location"]
        header = location.endswith(".csv")
        try:
            start = int(given.get("NextToken") or 0)
        except ValueError:
            start = -1
        names = [info["Label"] for info in columns] if header and not start else None
        wanted = given.get("MaxResults", PAGE_ROWS) - bool(names)
        try:
            page = (
                self._results.page(location, columns, max(start - header, 0), wanted)
                if columns and location.endswith((".csv", ".txt"))
                else Page([], 0)
            )
        except (OSError, ValueError):
            # the bucket belongs to the client, who may have changed the files
            raise invalid_request(f"Could not find results: {location}") from None
        count = page.rows + header
        if not 0 <= start <= count:
            raise invalid_request("NextToken is invalid")
        lines = [names, *page.lines] if names is not None else page.lines
        end = start + len(lines)
        answer: Members = {
            "UpdateCount": row["update_count"] or 0,
            "ResultSet": {
                "Rows": [_shown(line) for line in lines],
                "ResultSetMetadata": {"ColumnInfo": columns},
            },
        }
        return answer | ({"NextToken": str(end)} if end < count else {})

    def runtime_statistics(self, given: Members) -> Members:
        row = self._row(given["QueryExecutionId"])
        told = row["statistics"]
        timeline = {
            key: told.get(key, 0)
            for key in (
                "QueryQueueTimeInMillis", "EngineExecutionTimeInMillis",
                "ServiceProcessingTimeInMillis", "TotalExecutionTimeInMillis",
            )
        }  # fmt: skip
        rows = {
            "InputRows": told.get("InputRows", 0), "InputBytes": told.get("DataScannedInBytes", 0),
            "OutputRows": told.get("OutputRows", 0), "OutputBytes": 0,
        }  # fmt: skip
        return {"QueryRuntimeStatistics": {"Timeline": timeline, "Rows": rows}}


def _shown(line: Line) -> Members:
    return {"Data": [{} if value is None else {"VarCharValue": value} for value in line]}
