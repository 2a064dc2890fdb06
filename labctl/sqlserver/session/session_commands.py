"""Session commands: transactions, SET, USE, PRINT, RAISERROR, THROW, WAITFOR."""

from __future__ import annotations

import asyncio
import re

from psycopg.sql import SQL

from labctl.sqlserver.backend.backend_errors import as_sql_error
from labctl.sqlserver.backend.connection import PgError
from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.session.executor import Executor
from labctl.sqlserver.session.reply import Reply
from labctl.sqlserver.session.session_state import Scope
from labctl.sqlserver.session.transactions import ISOLATION_LEVELS
from labctl.sqlserver.sqltypes import SqlType
from labctl.sqlserver.tsql.lexer import tokenize, unquote
from labctl.sqlserver.tsql.object_names import locate, split_name
from labctl.sqlserver.tsql.parser import parse_arguments
from labctl.sqlserver.tsql.script import Command
from labctl.sqlserver.wire.tokens import Environment, environment

__all__ = ["Commands"]

_DESCRIPTOR = (1).to_bytes(8, "little")
_TEXT = SqlType("nvarchar", length=4000)
_WITHOUT_EFFECT = {
    "ANSI_NULLS", "ANSI_PADDING", "ANSI_WARNINGS", "ANSI_NULL_DFLT_ON", "ANSI_NULL_DFLT_OFF",
    "ARITHABORT", "ARITHIGNORE", "CONCAT_NULL_YIELDS_NULL", "CURSOR_CLOSE_ON_COMMIT",
    "QUOTED_IDENTIFIER", "NUMERIC_ROUNDABORT", "STATISTICS", "QUERY_GOVERNOR_COST_LIMIT",
    "DEADLOCK_PRIORITY", "CONTEXT_INFO", "ANSI_DEFAULTS", "REMOTE_PROC_TRANSACTIONS",
    "FORCEPLAN",
}  # fmt: skip
_MUST_BE_ON = {"ANSI_NULLS", "CONCAT_NULL_YIELDS_NULL", "QUOTED_IDENTIFIER"}
_ONLY = {
    "ROWCOUNT": {"0"}, "LANGUAGE": {"US_ENGLISH", "ENGLISH"},
}  # fmt: skip
"""Options of which this server supports only certain values."""
_DATE_ORDERS = {"MDY", "DMY", "YMD"}
"""The orders of SET DATEFORMAT that PostgreSQL supports; it lacks YDM, MYD and DYM."""
_MESSAGES = {
    15009: "The object '%s' does not exist in database '%s' or is invalid for this operation.",
}
"""The messages that RAISERROR supports by number."""
_FORMAT = re.compile(r"%%|%[-+ 0#]*\d*(?:\.\d+)?(?:I64|l|h)?([diouxXs])")


class Commands:
    """The implementation of `Command` statements."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.session = executor.session
        self.transactions = executor.transactions

    async def run(self, node: Command, scope: Scope, reply: Reply) -> None:
        """Run a command."""
        handler = {
            "BEGIN": self._begin, "COMMIT": self._commit, "ROLLBACK": self._rollback,
            "SAVE": self._save, "SET": self._set, "USE": self._use, "PRINT": self._print,
            "RAISERROR": self._raiserror, "THROW": self._throw, "WAITFOR": self._waitfor,
            "CHECKPOINT": self._nothing, "GRANT": self._nothing, "DENY": self._nothing,
            "REVOKE": self._nothing,
        }.get(node.verb)  # fmt: skip
        if handler is None:
            raise unsupported(f"the statement {node.verb}")
        await handler(node, scope, reply)

    async def _nothing(self, node: Command, scope: Scope, reply: Reply) -> None:
        reply.statement_done(None)

    # ---- transactions

    async def _begin(self, node: Command, scope: Scope, reply: Reply) -> None:
        if "DISTRIBUTED" in {w.upper() for w in node.words}:
            raise unsupported("BEGIN DISTRIBUTED TRANSACTION")
        self.begin(reply)
        reply.statement_done(None)

    def begin(self, reply: Reply) -> None:
        """Run BEGIN TRANSACTION."""
        if self.transactions.begin():
            reply.token(environment(Environment.BEGIN, _DESCRIPTOR))

    async def _commit(self, node: Command, scope: Scope, reply: Reply) -> None:
        await self.commit(reply)
        reply.statement_done(None)

    async def commit(self, reply: Reply) -> None:
        """Run COMMIT TRANSACTION; a failed commit rolls back."""
        try:
            outermost = await self.transactions.commit()
        except PgError as error:
            reply.token(environment(Environment.ROLLBACK, b"", _DESCRIPTOR))
            raise as_sql_error(error, verb="COMMIT") from None
        if outermost:
            reply.token(environment(Environment.COMMIT, b"", _DESCRIPTOR))

    async def _rollback(self, node: Command, scope: Scope, reply: Reply) -> None:
        await self.rollback(_transaction_name(node, scope), reply)
        reply.statement_done(None)

    async def rollback(self, name: str, reply: Reply) -> None:
        """Run ROLLBACK TRANSACTION, of the whole transaction or to a savepoint."""
        if name and self.transactions.is_savepoint(name):
            await self.transactions.rollback_to(name)
            return
        await self.transactions.rollback()
        reply.token(environment(Environment.ROLLBACK, b"", _DESCRIPTOR))

    async def _save(self, node: Command, scope: Scope, reply: Reply) -> None:
        name = _transaction_name(node, scope)
        if not name:
            raise SqlError(102, "Incorrect syntax near 'SAVE'.", severity=15)
        await self.transactions.save(name)
        reply.statement_done(None)

    # ---- SET and USE

    async def _set(self, node: Command, scope: Scope, reply: Reply) -> None:
        words = [w.upper() for w in node.words]
        if words[:3] == ["TRANSACTION", "ISOLATION", "LEVEL"]:
            level = " ".join(words[3:])
            if level not in ISOLATION_LEVELS:
                raise SqlError(102, f"Incorrect syntax near '{words[-1]}'.", severity=15)
            self.transactions.isolation = level
        elif words[0] == "IDENTITY_INSERT":
            await self._identity_insert(node)
        elif words[0] == "STATISTICS":
            pass
        else:
            await self._options(words, node)
        reply.statement_done(None)

    async def _options(self, words: list[str], node: Command) -> None:
        """Run `SET a, b ON` or `SET option value`."""
        value = words[-1]
        for option in (w for w in words[:-1] if w not in {",", "-"}):
            await self._option(option, value, node)

    async def _option(self, option: str, value: str, node: Command) -> None:
        session, on = self.session, value == "ON"
        if option == "NOCOUNT":
            session.nocount = on
        elif option == "XACT_ABORT":
            session.abort_on_error = on
        elif option == "IMPLICIT_TRANSACTIONS":
            session.implicit_transactions = on
        elif option in {"NOEXEC", "FMTONLY", "PARSEONLY"}:
            session.no_execution = on
        elif option == "LOCK_TIMEOUT":
            session.lock_timeout = _number(node)
            milliseconds = {-1: 0, 0: 1}.get(session.lock_timeout, session.lock_timeout)
            await self.transactions.keep("lock_timeout", str(milliseconds))
        elif option == "TEXTSIZE":
            session.text_size = _number(node)
        elif option == "DATEFIRST":
            await self._date_first(value)
        elif option == "DATEFORMAT":
            await self._date_format(unquote(value).upper())
        elif option in _ONLY:
            if unquote(value).upper() not in _ONLY[option]:
                raise unsupported(f"SET {option} {value}")
        elif option not in _WITHOUT_EFFECT or (option in _MUST_BE_ON and value == "OFF"):
            raise unsupported(f"SET {option} {value}")

    async def _date_first(self, value: str) -> None:
        if value not in set("1234567"):
            raise SqlError(2742, f"SET DATEFIRST {value} is out of range.")
        self.session.date_first = int(value)
        await self.transactions.keep("mssql.date_first", value)

    async def _date_format(self, order: str) -> None:
        if order not in _DATE_ORDERS:
            raise unsupported(f"SET DATEFORMAT {order.lower()}")
        await self.transactions.keep("datestyle", f"ISO, {order}")

    async def _identity_insert(self, node: Command) -> None:
        name = node.text[len(node.words[0]) :].strip()
        table, _, state = name.rpartition(" ")
        place = locate(split_name(table), self.session.database)
        if state.upper() == "OFF":
            self.session.identity_insert = None
        elif self.session.identity_insert not in (None, place):
            raise SqlError(
                8107, "IDENTITY_INSERT is already ON for another table. Cannot perform SET "
                f"operation for table '{table}'.",
            )  # fmt: skip
        else:
            self.session.identity_insert = place

    async def _use(self, node: Command, scope: Scope, reply: Reply) -> None:
        if len(node.words) < 2:
            raise SqlError(102, "Incorrect syntax near 'USE'.", severity=15)
        await self.use(unquote(node.words[1]), reply)
        reply.statement_done(None)

    async def use(self, name: str, reply: Reply) -> None:
        """Change the database. Raise `SqlError` 911 if it does not exist."""
        rows = await self.executor.backend.rows(
            SQL(
                "SELECT name, database_id FROM mssql.databases WHERE lower(name::text) = lower($1)"
            ),
            [name],
        )
        if not rows:
            raise SqlError(
                911, f"Database '{name}' does not exist. Make sure that the name is entered "
                "correctly.",
            )  # fmt: skip
        old, self.session.database = self.session.database, rows[0][0] or ""
        self.session.database_id = int(rows[0][1] or 0)
        reply.token(environment(Environment.DATABASE, self.session.database, old))
        reply.message(
            SqlError(
                5701, f"Changed database context to '{self.session.database}'.",
                severity=0, state=2,
            )
        )  # fmt: skip

    # ---- messages

    async def _print(self, node: Command, scope: Scope, reply: Reply) -> None:
        text = await self.executor.value(node.text[len("PRINT") :], _TEXT, scope)
        reply.message(SqlError(0, text or "", severity=0))
        reply.statement_done(None)

    async def _raiserror(self, node: Command, scope: Scope, reply: Reply) -> None:
        inner = node.text[len("RAISERROR") :].strip()
        listed, closing, _ = inner.rpartition(")")
        if not (inner.startswith("(") and closing):
            raise SqlError(102, "Incorrect syntax near 'RAISERROR'.", severity=15)
        values = [
            await self.executor.value(a.text or "NULL", _TEXT, scope)
            for a in parse_arguments(listed[1:])
        ]
        if len(values) < 3:
            raise SqlError(102, "Incorrect syntax near 'RAISERROR'.", severity=15)
        text, severity, state = values[0] or "", _whole(values[1]), _whole(values[2])
        number = 50000
        if tokenize(listed[1:])[0].kind == "number":
            number = _whole(text)
            if number not in _MESSAGES:
                raise SqlError(
                    18054, f"Error {number}, severity {severity}, state {state} was raised, but no "
                    "message with that error number was found in sys.messages.",
                )  # fmt: skip
            text = _MESSAGES[number]
        problem = SqlError(number, _formatted(text, values[3:]), severity=severity, state=state)
        if severity > 10:
            raise problem
        reply.message(problem)
        reply.statement_done(None)

    async def _throw(self, node: Command, scope: Scope, reply: Reply) -> None:
        rest = node.text[len("THROW") :].strip()
        if not rest:
            if self.session.caught is None:
                raise SqlError(
                    10704, "To rethrow an error, a THROW statement must be used inside a CATCH "
                    "block.", severity=15,
                )  # fmt: skip
            raise self.session.caught
        values = [
            await self.executor.value(a.text or "NULL", _TEXT, scope) for a in parse_arguments(rest)
        ]
        if len(values) != 3:
            raise SqlError(102, "Incorrect syntax near 'THROW'.", severity=15)
        number = _whole(values[0])
        if not 50000 <= number <= 2147483647:
            raise SqlError(35100, f"Error number {number} in the THROW statement is outside the "
                           "valid range. Specify an error number in the valid range of 50000 to "
                           "2147483647.")  # fmt: skip
        raise SqlError(number, values[1] or "", state=_whole(values[2]))

    async def _waitfor(self, node: Command, scope: Scope, reply: Reply) -> None:
        words = [w.upper() for w in node.words]
        if len(words) < 3 or words[1] != "DELAY":
            raise unsupported("WAITFOR TIME and WAITFOR with a statement")
        text = await self.executor.value(node.words[2], _TEXT, scope)
        # SQL Server allows delays of less than a day.
        match = re.fullmatch(
            r"([01]?\d|2[0-3]):([0-5]?\d)(?::([0-5]?\d(?:\.\d{1,7})?))?", text or "", re.ASCII
        )
        if match is None:
            raise SqlError(148, f"Incorrect time syntax in time string '{text}' used with WAITFOR.",
                           severity=15)  # fmt: skip
        hours, minutes, seconds = match.groups()
        remaining = int(hours) * 3600 + int(minutes) * 60 + float(seconds or 0)
        end = asyncio.get_running_loop().time() + remaining
        while not reply.cancelled and (left := end - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(min(left, 0.1))
        reply.statement_done(None)


def _number(node: Command) -> int:
    """Return the signed number at the end of a SET."""
    if not node.words[-1].isdecimal():
        raise SqlError(102, f"Incorrect syntax near '{node.words[-1]}'.", severity=15)
    number = int(node.words[-1])
    return -number if node.words[-2] == "-" else number


def _whole(value: str | None) -> int:
    """Convert an argument to int; NULL is 0. Raise `SqlError` 245 for other text."""
    try:
        return int(value or 0)
    except ValueError:
        raise SqlError(
            245, f"Conversion failed when converting the varchar value '{value}' to data type int."
        ) from None


def _transaction_name(node: Command, scope: Scope) -> str:
    words = node.words[1:]
    if words and words[0].upper() in {"TRAN", "TRANSACTION", "WORK"}:
        words = words[1:]
    if not words or words[0].upper() == "WITH":
        return ""
    if words[0].startswith("@"):
        return scope.values.get(words[0].lower()) or ""
    return unquote(words[0])


def _formatted(text: str, values: list[str | None]) -> str:
    """Substitute values into a message like RAISERROR, which resembles printf."""
    remaining = iter(values)

    def put(match: re.Match[str]) -> str:
        if match.group() == "%%":
            return "%"
        value = next(remaining, None)
        if value is None:
            return "(null)"
        return value

    return _FORMAT.sub(put, text)
