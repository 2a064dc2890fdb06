"""A PostgreSQL connection at libpq's level, with streamed results and binary values."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import psycopg
from psycopg import generators, pq
from psycopg.pq.abc import PGresult
from psycopg.sql import SQL, Composable

from labctl.sqlserver.client_errors import ConnectionLost, unsupported

__all__ = ["Backend", "PgError", "sent"]

_CHUNK_ROWS = 500
_TEXT, _BINARY = 0, 1
_GOOD = {
    pq.ExecStatus.TUPLES_OK,
    pq.ExecStatus.COMMAND_OK,
    pq.ExecStatus.TUPLES_CHUNK,
    pq.ExecStatus.EMPTY_QUERY,
}
_SESSION = SQL(
    "SET search_path = mssql, pg_catalog; SET timezone = 'UTC'; SET datestyle = 'ISO, MDY'; "
    "SET client_min_messages = error; SET standard_conforming_strings = on; SET jit = off; "
    "SET lock_timeout = 0; "
    # PostgreSQL also ends a statement whose client has disconnected.
    "SET client_connection_check_interval = '5s'"
)


class PgError(Exception):
    """PostgreSQL's error for a statement: SQLSTATE and the fields of its report."""

    def __init__(self, result: PGresult) -> None:
        def field(code: pq.DiagnosticField) -> str:
            return (result.error_field(code) or b"").decode("utf-8", "replace")

        self.sqlstate = field(pq.DiagnosticField.SQLSTATE)
        self.message = field(pq.DiagnosticField.MESSAGE_PRIMARY)
        self.detail = field(pq.DiagnosticField.MESSAGE_DETAIL)
        self.schema = field(pq.DiagnosticField.SCHEMA_NAME)
        self.table = field(pq.DiagnosticField.TABLE_NAME)
        self.column = field(pq.DiagnosticField.COLUMN_NAME)
        self.constraint = field(pq.DiagnosticField.CONSTRAINT_NAME)
        super().__init__(f"{self.sqlstate}: {self.message}")


class Backend:
    """A session's own PostgreSQL connection; methods raise `ConnectionLost` once it is gone.

    It is also unusable after a MemoryError, because a result was not read to its end.
    """

    def __init__(self, connection: psycopg.AsyncConnection[object]) -> None:
        self._connection = connection
        self._pg = connection.pgconn

    @classmethod
    async def open(cls, dsn: str, application: str) -> Backend:
        """Connect and set up the session. Raises `psycopg.OperationalError` if it fails."""
        connection = await psycopg.AsyncConnection.connect(
            dsn, autocommit=True, application_name=f"sqlserver:{application}"[:63]
        )
        backend = cls(connection)
        await backend.simple(_SESSION)
        return backend

    @property
    def pid(self) -> int:
        return self._pg.backend_pid

    @property
    def in_failed_transaction(self) -> bool:
        return self._pg.transaction_status == pq.TransactionStatus.INERROR

    def verifier(self, role: str, password: str) -> str:
        """Return the password verifier that PostgreSQL stores for `role`."""
        return self._pg.encrypt_password(password.encode(), role.encode(), None).decode()

    async def simple(self, sql: Composable) -> list[PGresult]:
        """Run one or more statements without parameters."""
        text = sent(sql)
        try:
            self._pg.send_query(text)
            results = await self._connection.wait(generators.execute(self._pg))
        except psycopg.OperationalError as error:
            raise _lost(str(error)) from error
        for result in results:
            self._check(result)
        return list(results)

    async def stream(
        self, sql: Composable, parameters: Sequence[str | None] = (), *, whole: bool = False
    ) -> AsyncIterator[PGresult]:
        """Run one statement; yield results of some rows each, the last one possibly empty.

        `whole` asks for all rows in one result. The iterator must be read to its end.
        """
        text, values = sent(sql), _values(parameters)
        try:
            self._pg.send_query_params(
                text,
                values,
                result_format=_BINARY,
            )
            if not whole:
                self._pg.set_chunked_rows_mode(_CHUNK_ROWS)
            # Bytes that the socket does not accept at once are sent only during this wait.
            await self._connection.wait(generators.send(self._pg))
            failure: PgError | None = None
            while True:
                result = await self._connection.wait(generators.fetch(self._pg))
                if result is None:
                    break
                if result.status not in _GOOD:
                    failure = self._failure(result)
                elif failure is None:
                    yield result
        except psycopg.OperationalError as error:
            raise _lost(str(error)) from error
        if failure is not None:
            raise failure

    async def rows(
        self, sql: Composable, parameters: Sequence[str | None] = ()
    ) -> list[tuple[str | None, ...]]:
        """Return all rows of a small query as text."""
        text, values = sent(sql), _values(parameters)
        try:
            self._pg.send_query_params(
                text,
                values,
                result_format=_TEXT,
            )
            results = await self._connection.wait(generators.execute(self._pg))
        except psycopg.OperationalError as error:
            raise _lost(str(error)) from error
        result = results[-1]
        self._check(result)
        found = []
        for row in range(result.ntuples):
            cells = (result.get_value(row, column) for column in range(result.nfields))
            found.append(tuple(None if v is None else v.decode() for v in cells))
        return found

    async def cancel(self) -> None:
        """Ask PostgreSQL to cancel the running statement."""
        try:
            await self._connection.cancel_safe(timeout=5)
        except psycopg.Error:
            return

    async def close(self) -> None:
        await self._connection.close()

    def _check(self, result: PGresult) -> None:
        if result.status not in _GOOD:
            raise self._failure(result)

    def _failure(self, result: PGresult) -> PgError:
        failure = PgError(result)
        lost = failure.sqlstate in {"57P01", "57P02", "57P03"} or not failure.sqlstate
        if lost or self._pg.status == pq.ConnStatus.BAD:
            raise _lost(failure.message or self._pg.get_error_message())
        return failure


def _lost(why: str) -> ConnectionLost | MemoryError:
    """Return the error for a lost connection; MemoryError if libpq ran out of memory."""
    return MemoryError(why) if "out of memory" in why else ConnectionLost(why)


def sent(sql: Composable) -> bytes:
    """Return composed SQL as bytes. Raise the unsupported-construct error for U+0000."""
    return _whole(sql.as_bytes(None))


def _values(parameters: Sequence[str | None]) -> list[bytes | None]:
    return [None if p is None else _whole(p.encode()) for p in parameters]


def _whole(text: bytes) -> bytes:
    """Return `text`; raise the unsupported-construct error for U+0000, where libpq would cut it."""
    if b"\0" in text:
        raise unsupported("the character U+0000 in a text")
    return text
