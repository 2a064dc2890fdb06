"""Transactions as T-SQL counts them, over one PostgreSQL transaction."""

from __future__ import annotations

from labctl.sqlserver.backend.connection import Backend, PgError
from labctl.sqlserver.errors import SqlError
from labctl.sqlserver.session.state import Session

__all__ = ["ISOLATION_LEVELS", "Transactions"]

ISOLATION_LEVELS = {
    "READ UNCOMMITTED": "READ COMMITTED",
    "READ COMMITTED": "READ COMMITTED",
    "REPEATABLE READ": "REPEATABLE READ",
    "SNAPSHOT": "REPEATABLE READ",
    "SERIALIZABLE": "SERIALIZABLE",
}
"""T-SQL's isolation levels and the PostgreSQL level that gives each guarantee."""

_GUARD = "mssql_guard"


class Transactions:
    """BEGIN, COMMIT, ROLLBACK and SAVE; a savepoint guards every statement.

    PostgreSQL's transaction begins with the first statement that needs it, so that an isolation
    level set after BEGIN TRAN still counts. A failed statement is undone alone, as in SQL Server.
    """

    def __init__(self, backend: Backend, session: Session) -> None:
        self._backend = backend
        self._session = session
        self._began = False
        self._guarded = False
        self._savepoints: list[str] = []
        self.isolation = "READ COMMITTED"

    @property
    def active(self) -> bool:
        """Whether a PostgreSQL transaction is open."""
        return self._began

    def begin(self) -> bool:
        """Count one more; true when it is the outermost."""
        self._session.transactions += 1
        return self._session.transactions == 1

    async def before_statement(self) -> None:
        """Make sure the transaction runs, and put the guard in front of the next statement."""
        if not self._session.transactions:
            return
        if self._session.doomed:
            raise SqlError(
                3930,
                "The current transaction cannot be committed and cannot support operations that "
                "write to the log file. Roll back the transaction.",
            )
        if not self._began:
            level = ISOLATION_LEVELS[self.isolation]
            await self._backend.simple(f"BEGIN ISOLATION LEVEL {level}; SAVEPOINT {_GUARD}")
            self._began = self._guarded = True
        elif self._guarded:
            await self._backend.simple(f"RELEASE SAVEPOINT {_GUARD}; SAVEPOINT {_GUARD}")
        else:
            await self._backend.simple(f"SAVEPOINT {_GUARD}")
            self._guarded = True

    async def after_error(self) -> None:
        """Undo the failed statement only."""
        if self._began and self._backend.in_failed_transaction:
            if self._guarded:
                await self._backend.simple(f"ROLLBACK TO SAVEPOINT {_GUARD}")
            else:
                self._session.doomed = True

    async def commit(self) -> bool:
        """Count one less; true when the outermost was committed. Raises `SqlError` 3902."""
        if not self._session.transactions:
            raise SqlError(
                3902, "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION."
            )
        if self._session.doomed:
            raise SqlError(
                3930, "The current transaction cannot be committed. Roll back the transaction."
            )
        self._session.transactions -= 1
        if self._session.transactions:
            return False
        if self._began:
            self._forget()
            await self._backend.simple("COMMIT")
        return True

    async def rollback(self) -> None:
        """Undo everything. Raises `SqlError` 3903 when there is nothing to undo."""
        if not self._session.transactions:
            raise SqlError(
                3903, "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION."
            )
        await self.abandon()

    async def abandon(self) -> None:
        """Undo whatever there is."""
        began = self._began
        self._session.transactions = 0
        self._session.doomed = False
        self._forget()
        if began:
            await self._backend.simple("ROLLBACK")

    def _forget(self) -> None:
        self._began = self._guarded = False
        self._savepoints.clear()

    async def save(self, name: str) -> None:
        """SAVE TRANSACTION. Raises `SqlError` 628 outside a transaction."""
        if not self._session.transactions:
            raise SqlError(
                628, "Cannot issue SAVE TRANSACTION when there is no active transaction."
            )
        await self.before_statement()
        await self._backend.simple(f"RELEASE SAVEPOINT {_GUARD}; SAVEPOINT {_quoted(name)}")
        self._guarded = False
        self._savepoints.append(name.lower())

    def is_savepoint(self, name: str) -> bool:
        return name.lower() in self._savepoints

    async def rollback_to(self, name: str) -> None:
        """Back to a savepoint, which stays."""
        await self._backend.simple(f"ROLLBACK TO SAVEPOINT {_quoted(name)}")
        self._guarded = False
        while self._savepoints and self._savepoints[-1] != name.lower():
            self._savepoints.pop()

    async def doom_or_undo(self, error: Exception) -> None:
        """After a failed statement: undo it, or with XACT_ABORT the whole transaction."""
        await self.after_error()
        if (self._session.abort_on_error and self._session.transactions) or (
            isinstance(error, PgError) and error.sqlstate in {"40001", "40P01"}
        ):
            await self.abandon()


def _quoted(name: str) -> str:
    return '"save_' + name.lower().replace('"', '""') + '"'
