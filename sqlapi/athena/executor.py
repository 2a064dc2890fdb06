"""The executor, which runs a few executions at a time until they succeed, fail or are cancelled."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.types.json import Jsonb
from psycopg_pool import PoolTimeout
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from sqlapi.athena.definitions_sql import DefinitionStatements
from sqlapi.athena.outcome import Outcome, Work
from sqlapi.athena.queries import QueryStatements
from sqlapi.athena.results import Results
from sqlapi.athena.statements import Statement
from sqlapi.protocol.protocol_errors import ApiError
from sqlapi.sql.statement_errors import SqlError
from sqlapi.storage import LocationError
from sqlapi.store import Store
from sqlapi.workers.run import Run, StoppedError

__all__ = ["Executor"]

log = logging.getLogger("sqlapi")
_USER, _SYSTEM = 2, 1
_SYSTEM_KINDS = ("GENERIC_INTERNAL_ERROR", "HIVE_CANNOT_OPEN_SPLIT", "EXCEEDED_LOCAL_MEMORY_LIMIT")
_LOST = "INTERNAL_ERROR_QUERY_ENGINE: The service was stopped while the query ran."
_RECORD_SECONDS = 30.0


@dataclass
class _Live:
    run: Run
    queued: float = field(default_factory=time.monotonic)
    ended: threading.Event = field(default_factory=threading.Event)


class Executor:
    """Runner of executions that are stored as QUEUED. Only one executor may use a store."""

    def __init__(
        self, store: Store, results: Results, queries: QueryStatements,
        definitions: DefinitionStatements, new_run: Callable[[], Run], *,
        concurrency: int, queue: int,
    ) -> None:  # fmt: skip
        self._store = store
        self._results = results
        self._new_run = new_run
        self._most = concurrency + queue
        self._places = 0
        """Number of executions that wait, run, or are just being stored."""
        self._queries = queries.answers()
        self._definitions = definitions.answers()
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="query")
        self._live: dict[str, _Live] = {}
        self._lock = threading.Lock()
        # executions that an earlier process left unfinished
        self._store.run(
            "UPDATE execution SET state = 'FAILED', reason = %s, completed = now(), error = %s"
            " WHERE state IN ('QUEUED', 'RUNNING')",
            [_LOST, Jsonb(_error(_SYSTEM, _LOST))],
        )

    @contextmanager
    def place(self) -> Iterator[None]:
        """Reserve a place in the queue, for `submit`.

        Raises ApiError (TooManyRequestsException) if the queue is full.
        """
        with self._lock:
            if self._places >= self._most:
                raise ApiError(
                    "TooManyRequestsException",
                    f"{self._places} queries are waiting or running. Start others when some have"
                    " ended, or stop some.",
                    Reason="CONCURRENT_QUERY_LIMIT_EXCEEDED",
                )
            self._places += 1
        try:
            yield
        finally:
            with self._lock:
                self._places -= 1

    def submit(self, statement: Statement, work: Work) -> None:
        """Queue an execution; call this within `place`."""
        live = _Live(self._new_run())
        with self._lock:
            self._live[work.id] = live
            self._places += 1
        self._pool.submit(self._execute, statement, work, live)

    def is_live(self, id_: str) -> bool:
        with self._lock:
            return id_ in self._live

    def wait(self, id_: str, seconds: float) -> None:
        """Wait until an execution has ended, but no longer than `seconds`."""
        with self._lock:
            live = self._live.get(id_)
        if live:
            live.ended.wait(seconds)

    def give_up(self, id_: str) -> None:
        """Mark an execution as FAILED that no process runs any more."""
        self._store.run(
            "UPDATE execution SET state = 'FAILED', reason = %s, completed = now(), error = %s"
            " WHERE id = %s AND state IN ('QUEUED', 'RUNNING')",
            [_LOST, Jsonb(_error(_SYSTEM, _LOST)), id_],
        )

    def stop(self, id_: str) -> None:
        """Cancel an execution unless it has ended. A second call changes nothing."""
        self._store.run(
            "UPDATE execution SET state = 'CANCELLED', reason = 'Query cancelled by user',"
            " completed = now() WHERE id = %s AND state IN ('QUEUED', 'RUNNING')",
            [id_],
        )
        with self._lock:
            live = self._live.get(id_)
        if live:
            live.run.stop()

    def close(self) -> None:
        with self._lock:
            for live in self._live.values():
                live.run.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._store.run(
            "UPDATE execution SET state = 'FAILED', reason = %s, completed = now(), error = %s"
            " WHERE state IN ('QUEUED', 'RUNNING')",
            [_LOST, Jsonb(_error(_SYSTEM, _LOST))],
        )

    # one execution

    def _execute(self, statement: Statement, work: Work, live: _Live) -> None:
        started = time.monotonic()
        try:
            if not self._store.run(
                "UPDATE execution SET state = 'RUNNING' WHERE id = %s AND state = 'QUEUED'",
                [work.id],
            ):
                return
            self._finish(statement, work, live, started)
        except Exception:
            # the store cannot be reached: the next request about the query marks it as failed
            log.exception("execution %s could not be recorded", work.id)
            self._discard(work)
        finally:
            with self._lock:
                self._live.pop(work.id, None)
                self._places -= 1
            live.ended.set()

    def _finish(self, statement: Statement, work: Work, live: _Live, started: float) -> None:
        try:
            outcome = self._answer(statement, work, live.run)
            self._results.write(work.location, outcome.output)
            recorded = self._record(work, outcome, live, started)
        except StoppedError:
            self._discard(work)
            return
        except SqlError as error:
            self._discard(work)
            self._fail(work, str(error), error.kind, live, started)
            return
        except (psycopg.OperationalError, PoolTimeout) as error:
            self._discard(work)
            self._fail(
                work, f"GENERIC_INTERNAL_ERROR: {error}", "GENERIC_INTERNAL_ERROR", live, started
            )
            return
        except Exception as error:
            log.exception("execution %s", work.id)
            self._discard(work)
            message = f"GENERIC_INTERNAL_ERROR: {type(error).__name__}: {error}"
            self._fail(work, message, "GENERIC_INTERNAL_ERROR", live, started)
            return
        if not recorded:
            # a client stopped it at the last moment
            self._discard(work)

    def _answer(self, statement: Statement, work: Work, run: Run) -> Outcome:
        if answer := self._definitions.get(statement.verb):
            return answer(statement, work)
        return self._queries[statement.verb](statement, work, run)

    def _discard(self, work: Work) -> None:
        for uri in (work.location, *work.made):
            try:
                self._results.remove(uri)
            except (OSError, LocationError):
                log.exception("files of execution %s are left", work.id)

    def _statistics(self, live: _Live, started: float, outcome: Outcome | None) -> dict[str, Any]:
        now = time.monotonic()
        made = {
            "EngineExecutionTimeInMillis": int((now - started) * 1000),
            "TotalExecutionTimeInMillis": int((now - live.queued) * 1000),
            "QueryQueueTimeInMillis": int((started - live.queued) * 1000),
            "ServiceProcessingTimeInMillis": 0,
            "DataScannedInBytes": outcome.scanned if outcome else 0,
            "ResultReuseInformation": {"ReusedPreviousResult": False},
        }
        if outcome:
            made["InputRows"] = outcome.input_rows
            made["OutputRows"] = outcome.output.rows
        if outcome and outcome.manifest:
            made["DataManifestLocation"] = outcome.manifest
        return made

    def _record(self, work: Work, outcome: Outcome, live: _Live, started: float) -> bool:
        return bool(
            self._sure(
                "UPDATE execution SET state = 'SUCCEEDED', completed = now(), statistics = %s,"
                " columns = %s, update_count = %s WHERE id = %s AND state = 'RUNNING'",
                [
                    Jsonb(self._statistics(live, started, outcome)),
                    Jsonb(outcome.output.columns), outcome.update_count, work.id,
                ],
            )
        )  # fmt: skip

    def _fail(self, work: Work, message: str, kind: str, live: _Live, started: float) -> None:
        category = _SYSTEM if kind in _SYSTEM_KINDS else _USER
        self._sure(
            "UPDATE execution SET state = 'FAILED', reason = %s, completed = now(),"
            " statistics = %s, error = %s WHERE id = %s AND state = 'RUNNING'",
            [
                message, Jsonb(self._statistics(live, started, None)),
                Jsonb(_error(category, message)), work.id,
            ],
        )  # fmt: skip

    def _sure(self, text: str, values: list[Any]) -> int:
        """Run a statement; retry while PostgreSQL restarts."""
        retrying = Retrying(
            retry=retry_if_exception_type((psycopg.OperationalError, PoolTimeout)),
            stop=stop_after_delay(_RECORD_SECONDS),
            wait=wait_fixed(0.5),
            reraise=True,
        )
        return int(retrying(self._store.run, text, values))


def _error(category: int, message: str) -> Mapping[str, Any]:
    return {
        "ErrorCategory": category, "ErrorType": 1000 if category == _USER else 100,
        "Retryable": category == _SYSTEM, "ErrorMessage": message,
    }  # fmt: skip
