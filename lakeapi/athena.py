"""Athena through boto3: it takes a statement and parameters, and returns rows of strings."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from lakeapi.metrics import Metrics
from lakeapi.problems import LakeTimeoutError, LakeUnavailableError
from lakeapi.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_athena import AthenaClient
    from mypy_boto3_athena.type_defs import QueryExecutionTypeDef
    from mypy_boto3_glue import GlueClient

__all__ = ["Athena", "Row", "clients"]

Row = list[str | None]
_ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")
_LONGEST_POLL = 0.5
_SLOWER = 1.5
_CONNECT_SECONDS = 2
_READ_SECONDS = 10
log = logging.getLogger("lakeapi")


def clients(settings: Settings) -> tuple[AthenaClient, GlueClient]:
    """Return clients; boto3 finds region, credentials and endpoints by its own rules."""
    config = Config(
        retries={"mode": "standard", "total_max_attempts": settings.attempts},
        # one connection per query, and one for reading tables' commits
        max_pool_connections=settings.concurrency * 2,
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
    )
    return boto3.client("athena", config=config), boto3.client("glue", config=config)


class Athena:
    """Runner of statements in the configured database. It is thread-safe."""

    def __init__(self, settings: Settings, client: AthenaClient, metrics: Metrics) -> None:
        self.client = client
        self._settings = settings
        self._metrics = metrics

    def rows(
        self, statement: str, parameters: Sequence[str] = (), *, deadline: float | None = None
    ) -> list[Row]:
        """Return a query's rows, without the header. Parameters are SQL literals.

        `deadline` is a `time.monotonic` time. Raises LakeUnavailableError and LakeTimeoutError.
        """
        deadline = deadline or self.deadline()
        try:
            execution = self._run(statement, parameters, deadline)
            return self._read(execution["QueryExecutionId"])
        except (BotoCoreError, ClientError) as error:
            raise LakeUnavailableError(str(error)) from error

    def deadline(self) -> float:
        """Return the `time.monotonic` time by which a query that starts now must end."""
        return time.monotonic() + self._settings.query_seconds

    def _run(
        self, statement: str, parameters: Sequence[str], deadline: float
    ) -> QueryExecutionTypeDef:
        for attempt in range(1, self._settings.attempts + 1):
            execution = self._once(statement, parameters, deadline)
            status = execution["Status"]
            if status["State"] == "SUCCEEDED":
                return execution
            reason = status.get("StateChangeReason", "")
            log.warning("query %s %s: %s", execution["QueryExecutionId"], status["State"], reason)
            passes = status.get("AthenaError", {}).get("Retryable", False)
            if not passes or attempt == self._settings.attempts:
                raise LakeUnavailableError(f"The query {status['State']}: {reason}")
        raise AssertionError

    def _once(
        self, statement: str, parameters: Sequence[str], deadline: float
    ) -> QueryExecutionTypeDef:
        if time.monotonic() >= deadline:
            raise LakeTimeoutError("no time was left for the query")
        # Athena rejects an empty list
        bound: dict[str, Any] = {"ExecutionParameters": list(parameters)} if parameters else {}
        begun = time.monotonic()
        id_ = self.client.start_query_execution(
            QueryString=statement,
            QueryExecutionContext={
                "Catalog": self._settings.catalog, "Database": self._settings.database,
            },
            WorkGroup=self._settings.workgroup,
            ResultConfiguration={"OutputLocation": self._settings.output},
            **bound,
        )["QueryExecutionId"]  # fmt: skip
        wait = self._settings.poll_seconds
        while True:
            execution = self.client.get_query_execution(QueryExecutionId=id_)["QueryExecution"]
            state = execution["Status"]["State"]
            if state in _ENDED:
                break
            if time.monotonic() + wait > deadline:
                self.client.stop_query_execution(QueryExecutionId=id_)
                self._metrics.queries.labels("TIMED_OUT").observe(time.monotonic() - begun)
                raise LakeTimeoutError(f"query {id_} was stopped")
            time.sleep(wait)
            wait = min(wait * _SLOWER, _LONGEST_POLL)
        self._metrics.queries.labels(state).observe(time.monotonic() - begun)
        scanned = execution.get("Statistics", {}).get("DataScannedInBytes", 0)
        self._metrics.scanned.inc(scanned)
        return execution

    def _read(self, id_: str) -> list[Row]:
        pages = self.client.get_paginator("get_query_results").paginate(QueryExecutionId=id_)
        rows = [
            [data.get("VarCharValue") for data in row.get("Data", [])]
            for page in pages
            for row in page["ResultSet"]["Rows"]
        ]
        # the first row of the first page has the column names
        return rows[1:]
