"""The interpreter, which runs a batch statement by statement."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from psycopg.sql import SQL, Composed

from labctl.sqlserver.backend.connection import PgError
from labctl.sqlserver.client_errors import SqlError
from labctl.sqlserver.limits import apart
from labctl.sqlserver.session.calls import Calls
from labctl.sqlserver.session.executor import Executor
from labctl.sqlserver.session.modules import define_module, module_kind
from labctl.sqlserver.session.reply import Reply
from labctl.sqlserver.session.session_commands import Commands
from labctl.sqlserver.session.session_state import Scope
from labctl.sqlserver.sqltypes import SqlType
from labctl.sqlserver.tsql import create_table, ddl, script, translate
from labctl.sqlserver.tsql.cursor import Cursor
from labctl.sqlserver.tsql.object_names import identifier
from labctl.sqlserver.tsql.parser import parse_batch

__all__ = ["Interpreter", "Return"]

_STATEMENT_ONLY = {
    2627, 2601, 547, 515, 8134, 8152, 2628, 8115, 220, 544, 512, 3902, 3903, 628, 50000, 4711, 313,
}  # fmt: skip
"""Errors that end only their statement, not the batch."""
_DEFINITIONS = {"CREATE", "ALTER", "DROP", "TRUNCATE"}
_DEEPEST = 32


class Return(Exception):  # noqa: N818 - control flow
    """Control flow of RETURN, with the procedure's status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class _Break(Exception):  # noqa: N818 - control flow
    pass


class _Continue(Exception):  # noqa: N818 - control flow
    pass


class Interpreter:
    """Interpreter of a session's scripts; `calls` implements EXEC, `commands` SET and others."""

    def __init__(self, executor: Executor, polling_seconds: float) -> None:
        self.executor = executor
        self.session = executor.session
        self.commands = Commands(executor)
        self.calls = Calls(executor, self._nested, polling_seconds)
        self._handlers: dict[type[script.Node], Callable[[Any, Scope, Reply], Awaitable[None]]] = {
            script.Query: self._query,
            script.Command: self.commands.run,
            script.Declare: self._declare,
            script.SetVariable: self._set,
            script.Call: self.calls.execute,
            script.Block: self._block,
            script.If: self._if,
            script.While: self._while,
            script.TryCatch: self._try,
            script.Jump: self._jump,
        }

    async def batch(self, text: str, scope: Scope, reply: Reply) -> None:
        """Run a batch; report errors to the client instead of raising them."""
        try:
            await self.run(await apart(len(text), parse_batch, text), scope, reply)
        except Return:
            return
        except (_Break, _Continue):
            reply.failed(
                SqlError(135, "Cannot use a BREAK statement outside the scope of a WHILE.")
            )
        except SqlError as error:
            self.executor.report(error, reply)
        finally:
            await self.drop_tables(scope)

    async def drop_tables(self, scope: Scope) -> None:
        """Drop the table variables of a scope that ends."""
        for name in scope.tables:
            try:
                await self.executor.backend.simple(_without_table(name))
            except PgError:
                await self.executor.transactions.after_error()
        scope.tables.clear()

    async def run(self, nodes: Sequence[script.Node], scope: Scope, reply: Reply) -> None:
        """Run statements; report errors that end only their statement and continue."""
        for node in nodes:
            try:
                await self.node(node, scope, reply)
            except SqlError as error:
                goes_on = error.number in _STATEMENT_ONLY and not self.session.abort_on_error
                if not goes_on or self.session.tries:
                    raise
                self.executor.report(error, reply)

    async def node(self, node: script.Node, scope: Scope, reply: Reply) -> None:
        """Run one statement."""
        if self.session.no_execution and not (
            isinstance(node, script.Command) and node.verb == "SET"
        ):
            return
        try:
            await self._handlers[type(node)](node, scope, reply)
        except SqlError as error:
            if error.line == 1:
                error.line = node.line
            raise
        if not isinstance(node, script.If | script.While | script.Block | script.TryCatch):
            self.session.last_error = 0

    # ---- queries and definitions

    async def _query(self, node: script.Query, scope: Scope, reply: Reply) -> None:
        if node.verb in _DEFINITIONS:
            await self._definition(node, scope, reply)
            return
        text, seen = await self.executor.with_literals(node.text, scope)
        statement = await apart(len(text), translate.query, text, self.session.database, seen.types)
        if statement.assigns:
            rows = await self.executor.fetch(statement, seen)
            if rows:
                for name, value in zip(statement.assigns, rows[-1], strict=True):
                    await self.executor.assign(name, value, scope)
            self.session.row_count = len(rows)
            return
        await self.executor.run(statement, seen, reply)
        if statement.verb == "SELECT INTO":
            self.executor.catalog.forget()

    async def _definition(self, node: script.Query, scope: Scope, reply: Reply) -> None:
        size = len(node.text)
        if await apart(size, module_kind, node.text) is not None:
            await define_module(self.executor, node.text, reply)
            return
        statements = await apart(size, ddl.definition, node.text, self.session.database)
        await self.executor.define(statements, node.verb, reply)

    # ---- variables

    async def _declare(self, node: script.Declare, scope: Scope, reply: Reply) -> None:
        for item in node.variables:
            if isinstance(item, script.TableVariable):
                parser = create_table.TableParser(Cursor(item.columns), self.session.database)
                parser.place = (None, item.name)
                body = parser.columns(item.columns)
                await self.executor.transactions.before_statement()
                await self.executor.define_quietly(
                    [
                        _without_table(item.name),
                        SQL("CREATE TEMP TABLE {} ({})").format(identifier(item.name), body),
                    ]
                )
                scope.tables.append(item.name)
                continue
            scope.declare(item.name, item.type)
            if item.initial is not None:
                scope.assign(item.name, await self.executor.value(item.initial, item.type, scope))

    async def _set(self, node: script.SetVariable, scope: Scope, reply: Reply) -> None:
        if node.name not in scope.types:
            raise SqlError(137, f'Must declare the scalar variable "{node.name}".', severity=15)
        scope.assign(
            node.name, await self.executor.value(node.expression, scope.types[node.name], scope)
        )

    # ---- control of flow

    async def _block(self, node: script.Block, scope: Scope, reply: Reply) -> None:
        await self.run(node.body, scope, reply)

    async def _holds(self, condition: str, scope: Scope) -> bool:
        text, seen = await self.executor.with_literals(condition, scope)
        statement = await apart(
            len(text), translate.condition, text, self.session.database, seen.types
        )
        return (await self.executor.fetch(statement, seen))[0][0] == "1"

    async def _if(self, node: script.If, scope: Scope, reply: Reply) -> None:
        if await self._holds(node.condition, scope):
            await self.run([node.then], scope, reply)
        elif node.otherwise is not None:
            await self.run([node.otherwise], scope, reply)

    async def _while(self, node: script.While, scope: Scope, reply: Reply) -> None:
        while await self._holds(node.condition, scope):
            if reply.cancelled:
                return
            try:
                await self.run([node.body], scope, reply)
            except _Break:
                return
            except _Continue:
                continue

    async def _try(self, node: script.TryCatch, scope: Scope, reply: Reply) -> None:
        outer = self.session.caught
        try:
            self.session.tries += 1
            try:
                await self.run(node.attempt.body, scope, reply)
            finally:
                self.session.tries -= 1
        except SqlError as error:
            if error.severity > 19:
                raise
            self.session.caught = error
            self.session.last_error = error.number
            try:
                await self.run(node.handler.body, scope, reply)
            finally:
                self.session.caught = outer

    async def _jump(self, node: script.Jump, scope: Scope, reply: Reply) -> None:
        if node.verb == "BREAK":
            raise _Break
        if node.verb == "CONTINUE":
            raise _Continue
        status = 0
        if node.expression:
            status = int(await self.executor.value(node.expression, SqlType("int"), scope) or 0)
        raise Return(status)

    async def _nested(self, text: str, scope: Scope, reply: Reply) -> int:
        """Run a procedure's or dynamic SQL's text; return its status."""
        if self.session.nesting >= _DEEPEST:
            raise SqlError(
                217, "Maximum stored procedure, function, trigger, or view nesting level exceeded "
                f"(limit {_DEEPEST}).",
            )  # fmt: skip
        self.session.nesting += 1
        try:
            await self.run(await apart(len(text), parse_batch, text), scope, reply)
        except Return as back:
            return back.status
        finally:
            self.session.nesting -= 1
            await self.drop_tables(scope)
        return 0


def _without_table(name: str) -> Composed:
    return SQL("DROP TABLE IF EXISTS {}").format(identifier((None, name)))
