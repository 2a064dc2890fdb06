"""Client that runs statements through Athena's API, as a program would."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from labctl.aws.batches import batches
from labctl.errors import ExitCode, LabError
from labctl.lab.catalog.athena_connection import AT_ONCE, Connection, connection_of
from labctl.lab.lab import Lab

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Answer", "Athena", "Execution", "athena_of"]

_POLL_SECONDS = 0.05
_LONGEST_POLL_SECONDS = 0.5
_ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")
_OF_THE_USER = 2
"""Category of an error in the statement itself."""
_WHOLE = ("tinyint", "smallint", "integer", "bigint")


@dataclass(frozen=True)
class Answer:
    """Result of a statement. Values are text, as the API returns them; NULL is None."""

    execution: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: Sequence[Sequence[str | None]]

    def table(self) -> pa.Table:
        """Return the rows as an Arrow table; integers and booleans are typed, the rest is text."""
        import pyarrow as pa

        by_column = list(zip(*self.rows, strict=True)) or [()] * len(self.columns)
        kinds: dict[str, pa.DataType] = {"boolean": pa.bool_(), **dict.fromkeys(_WHOLE, pa.int64())}
        return pa.table(
            [
                pa.array(values, pa.string()).cast(kinds.get(type_, pa.string()))
                for values, type_ in zip(by_column, self.types, strict=True)
            ],
            names=_distinct(self.columns),
        )


@dataclass(frozen=True)
class Execution:
    """An execution of a statement, by any client, with its state."""

    id: str
    submitted: datetime
    state: str
    milliseconds: int
    scanned_bytes: int
    sql: str
    reason: str | None
    """Reason for its failure or cancellation."""


def athena_of(lab: Lab) -> Athena:
    """Return the Athena client of a running lab or of a promoted profile.

    Raises LabError if the lab does not run.
    """
    return Athena(connection_of(lab))


class Athena:
    """Client that runs statements and lists past executions."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._client = connection.client

    def run(self, sql: str, *, database: str, parameters: Sequence[str] = ()) -> Answer:
        """Run a statement and wait until it ends; stop it when the user interrupts.

        `parameters` are SQL literals. Raises LabError with the API's own message: USAGE if the
        statement itself is wrong.
        """
        request: dict[str, Any] = {
            "QueryString": sql,
            "QueryExecutionContext": {"Database": database},
            "WorkGroup": self.connection.workgroup,
            "ClientRequestToken": str(uuid4()),
        }
        if parameters:
            request["ExecutionParameters"] = list(parameters)
        with self.connection.explained():
            id_ = None
            try:
                id_ = self._start(request)
                execution = self._ended(id_)
            except KeyboardInterrupt:
                # If the answer to the start was lost, the same token returns the same execution.
                self._client.stop_query_execution(QueryExecutionId=id_ or self._start(request))
                raise
            status = execution["Status"]
            if status["State"] != "SUCCEEDED":
                error = status.get("AthenaError", {})
                users = error.get("ErrorCategory") == _OF_THE_USER
                raise LabError(
                    status.get("StateChangeReason", f"The statement was {status['State'].lower()}"),
                    details=(f"execution {id_}",),
                    exit_code=ExitCode.USAGE if users else ExitCode.FAILED,
                )
            return self._answer(execution)

    def history(self, count: int) -> list[Execution]:
        """Return the last `count` executions, newest first."""
        with self.connection.explained():
            pages = self._client.get_paginator("list_query_executions").paginate(
                WorkGroup=self.connection.workgroup,
                PaginationConfig={"MaxItems": count, "PageSize": min(count, AT_ONCE)},
            )
            ids = [id_ for page in pages for id_ in page["QueryExecutionIds"]]
            found: dict[str, Execution] = {}
            for some in batches(ids, AT_ONCE):
                answer = self._client.batch_get_query_execution(QueryExecutionIds=some)
                found |= {e["QueryExecutionId"]: _execution(e) for e in answer["QueryExecutions"]}
            return [found[id_] for id_ in ids if id_ in found]

    def _start(self, request: dict[str, Any]) -> str:
        return str(self._client.start_query_execution(**request)["QueryExecutionId"])

    def _ended(self, id_: str) -> dict[str, Any]:
        pause = _POLL_SECONDS
        while True:
            answer = self._client.get_query_execution(QueryExecutionId=id_)
            execution: dict[str, Any] = answer["QueryExecution"]
            if execution["Status"]["State"] in _ENDED:
                return execution
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_POLL_SECONDS)

    def _answer(self, execution: dict[str, Any]) -> Answer:
        id_ = execution["QueryExecutionId"]
        pages = list(self._client.get_paginator("get_query_results").paginate(QueryExecutionId=id_))
        columns = pages[0]["ResultSet"]["ResultSetMetadata"]["ColumnInfo"]
        rows = [
            _cells(row["Data"], len(columns)) for page in pages for row in page["ResultSet"]["Rows"]
        ]
        # A query's first row has the column names; other statements have no such row.
        named = execution["ResultConfiguration"]["OutputLocation"].endswith(".csv")
        return Answer(
            id_,
            tuple(column["Label"] for column in columns),
            tuple(column["Type"] for column in columns),
            rows[1:] if named else rows,
        )


def _cells(data: list[dict[str, str]], count: int) -> list[str | None]:
    """Return one cell per column. A DESCRIBE row is one text, with tabs between padded cells."""
    cells = [one.get("VarCharValue") for one in data]
    if len(cells) == count:
        return cells
    told = [text.strip() for text in (cells[0] or "").split("\t")] if cells else []
    return [*told, *[None] * count][:count]


def _execution(told: dict[str, Any]) -> Execution:
    status, statistics = told["Status"], told.get("Statistics", {})
    return Execution(
        told["QueryExecutionId"],
        status["SubmissionDateTime"],
        status["State"],
        int(statistics.get("TotalExecutionTimeInMillis", 0)),
        int(statistics.get("DataScannedInBytes", 0)),
        told["Query"],
        status.get("StateChangeReason"),
    )


def _distinct(names: Sequence[str]) -> list[str]:
    """Return distinct column names: the second `name` becomes `name (2)`."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found
