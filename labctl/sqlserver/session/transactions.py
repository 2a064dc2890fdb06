"""T-SQL's nested transactions on top of one PostgreSQL transaction."""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Identifier, Literal

from labctl.sqlserver.backend.connection import Backend, PgError
from labctl.sqlserver.client_errors import SqlError
from labctl.sqlserver.session.session_state import Session

__all__ = ["ISOLATION_LEVELS", "Transactions"]

ISOLATION_LEVELS = {
    "READ UNCOMMITTED": SQL("READ COMMITTED"),
    "READ COMMITTED": SQL("READ COMMITTED"),
    "REPEATABLE READ": SQL("REPEATABLE READ"),
    "SNAPSHOT": SQL("REPEATABLE READ"),
    "SERIALIZABLE": SQL("SERIALIZABLE"),
}
"""The PostgreSQL level that provides the guarantees of each T-SQL isolation level."""


_SET = SQL("SET {} = {}")


class Transactions:
    """BEGIN, COMMIT, ROLLBACK and SAVE, with a savepoint before every statement.

    PostgreSQL's transaction begins with the first statement that needs it, so that an isolation
    level set after BEGIN TRAN still applies. As in SQL Server, a failed statement is undone alone.
    """

    def __init__(self, backend: Backend, session: Session) -> None:
        self._backend = backend
        self._session = session
        self._began = False
        self._guarded = False
        self._savepoints: list[str] = []
        self._settings: dict[str, str] = {}
        self.isolation = "READ COMMITTED"

    @property
    def active(self) -> bool:
        """True if a PostgreSQL transaction is open."""
        return self._began

    def begin(self) -> bool:
        """Begin a transaction; return whether it is the outermost one."""
        self._session.transactions += 1
        return self._session.transactions == 1

    async def keep(self, setting: str, value: str) -> None:
        """Set a PostgreSQL setting for the session that survives rollbacks."""
        self._settings[setting] = value
        await self._backend.simple(_SET.format(Identifier(*setting.split(".")), Literal(value)))

    async def reset(self) -> None:
        """Reset all settings to their values after login."""
        self._settings.clear()
        await self._backend.simple(
            SQL("SET lock_timeout = 0; SET datestyle = 'ISO, MDY'; SET mssql.date_first = 7")
        )

    async def _undo(self, sql: Composable) -> None:
        """Roll back, then restore the session's SET options, which T-SQL does not roll back."""
        await self._backend.simple(sql)
        for setting, value in self._settings.items():
            await self.keep(setting, value)

    async def before_statement(self) -> None:
        """Begin PostgreSQL's transaction if needed; set a savepoint before the next statement."""
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
            begin = SQL("BEGIN ISOLATION LEVEL {}; SAVEPOINT mssql_guard").format(level)
            await self._backend.simple(begin)
            self._began = self._guarded = True
        elif self._guarded:
            await self._backend.simple(SQL("RELEASE SAVEPOINT mssql_guard; SAVEPOINT mssql_guard"))
        else:
            await self._backend.simple(SQL("SAVEPOINT mssql_guard"))
            self._guarded = True

    async def after_error(self) -> None:
        """Undo only the failed statement."""
        if self._began and self._backend.in_failed_transaction:
            if self._guarded:
                await self._undo(SQL("ROLLBACK TO SAVEPOINT mssql_guard"))
            else:
                self._session.doomed = True

    async def commit(self) -> bool:
        """End a transaction; return whether it was the outermost, which is committed.

        Raises `SqlError` 3902 outside a transaction and 3930 if it cannot be committed.
        """
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
            await self._backend.simple(SQL("COMMIT"))
        return True

    async def rollback(self) -> None:
        """Roll back the whole transaction. Raise `SqlError` 3903 if there is none."""
        if not self._session.transactions:
            raise SqlError(
                3903, "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION."
            )
        await self.abandon()

    async def abandon(self) -> None:
        """Roll back the whole transaction, if there is one."""
        began = self._began
        self._session.transactions = 0
        self._session.doomed = False
        self._forget()
        if began:
            await self._undo(SQL("ROLLBACK"))

    def _forget(self) -> None:
        self._began = self._guarded = False
        self._savepoints.clear()

    async def save(self, name: str) -> None:
        """Run SAVE TRANSACTION. Raise `SqlError` 628 outside a transaction."""
        if not self._session.transactions:
            raise SqlError(
                628, "Cannot issue SAVE TRANSACTION when there is no active transaction."
            )
        await self.before_statement()
        save = SQL("RELEASE SAVEPOINT mssql_guard; SAVEPOINT {}").format(_savepoint(name))
        await self._backend.simple(save)
        self._guarded = False
        self._savepoints.append(name.lower())

    def is_savepoint(self, name: str) -> bool:
        return name.lower() in self._savepoints

    async def rollback_to(self, name: str) -> None:
        """Roll back to a savepoint and keep it."""
        await self._undo(SQL("ROLLBACK TO SAVEPOINT {}").format(_savepoint(name)))
        self._guarded = False
        while self._savepoints and self._savepoints[-1] != name.lower():
            self._savepoints.pop()

    async def doom_or_undo(self, error: Exception) -> None:
        """Undo a failed statement; with XACT_ABORT or a conflict, the whole transaction."""
        await self.after_error()
        if (self._session.abort_on_error and self._session.transactions) or (
            isinstance(error, PgError) and error.sqlstate in {"40001", "40P01"}
        ):
            await self.abandon()


def _savepoint(name: str) -> Identifier:
    return Identifier(f"save_{name.lower()}")
