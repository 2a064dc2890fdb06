"""Procedure calls: EXEC in a batch, and remote procedure calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from psycopg.sql import SQL

from labctl.sqlserver.backend.backend_errors import as_sql_error
from labctl.sqlserver.backend.connection import PgError
from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.limits import LONGEST_PREPARED, apart, out_of_memory
from labctl.sqlserver.session.executor import Executor
from labctl.sqlserver.session.modules import split_procedure
from labctl.sqlserver.session.procedures import PROCEDURES, SystemProcedure
from labctl.sqlserver.session.reply import Reply
from labctl.sqlserver.session.rows import encode_text
from labctl.sqlserver.session.scripted import SCRIPTED
from labctl.sqlserver.session.session_state import Prepared, Scope
from labctl.sqlserver.sqltypes import MAX, SqlType
from labctl.sqlserver.tsql import translate
from labctl.sqlserver.tsql.lexer import tokenize, unquote
from labctl.sqlserver.tsql.object_names import split_name
from labctl.sqlserver.tsql.parser import parse_declarations
from labctl.sqlserver.tsql.script import Argument, Call, Declaration
from labctl.sqlserver.tsql.statement import Statement
from labctl.sqlserver.wire.request import Call as RemoteCall
from labctl.sqlserver.wire.request import Parameter

__all__ = ["Calls"]

_INT = SqlType("int")
_TEXT = SqlType("nvarchar", length=MAX)
_LEAST_ARGUMENTS = {"sp_executesql": 1, "sp_prepare": 3, "sp_prepexec": 3, "sp_execute": 1,
                    "sp_unprepare": 1}  # fmt: skip


class Calls:
    """The targets of EXEC and RPC: dynamic SQL, system procedures, the user's procedures."""

    def __init__(
        self,
        executor: Executor,
        nested: Callable[[str, Scope, Reply], Awaitable[int]],
        polling_seconds: float,
    ) -> None:
        """Take `nested`, which runs a procedure's or dynamic SQL's text and returns its status."""
        self.executor = executor
        self.session = executor.session
        self._nested = nested
        self.polling_seconds = polling_seconds

    # ---- EXEC

    async def execute(self, node: Call, scope: Scope, reply: Reply) -> None:
        """Run an EXEC statement."""
        if node.dynamic is not None:
            text = await self.executor.value(node.dynamic, _TEXT, scope)
            if node.into is not None:
                raise unsupported("INSERT … EXEC of a string")
            await self._nested(text or "", Scope(), reply)
            return
        arguments = [
            Parameter(a.name or "", *await self._argument(a, scope), output=a.output)
            for a in node.arguments
        ]
        if node.into is not None:
            await self._insert_from(node, arguments, reply)
            return
        reply.enter_procedure()
        try:
            status, outputs = await self.call(node.procedure, arguments, reply)
        except BaseException:
            reply.abandon_procedure()
            raise
        reply.leave_procedure(status)
        for argument, (_, value) in zip(node.arguments, outputs, strict=False):
            if argument.output and argument.text is not None:
                await self.executor.assign(argument.text.lower(), value, scope)
        if node.result is not None:
            await self.executor.assign(node.result, str(status), scope)

    async def _argument(self, argument: Argument, scope: Scope) -> tuple[SqlType, str | None]:
        text = argument.text
        if text is None:
            return _TEXT, None
        tokens = tokenize(text)
        if len(tokens) == 1:
            token = tokens[0]
            if token.kind == "variable" and not token.text.startswith("@@"):
                name = token.text.lower()
                if name not in scope.types:
                    raise SqlError(137, f'Must declare the scalar variable "{text}".', severity=15)
                return scope.types[name], scope.values[name]
            if token.kind in {"string", "quoted"} or (token.kind == "word" and token.key != "NULL"):
                return _TEXT, unquote(token.text)
            if token.kind == "number" and token.text.isdigit():
                return SqlType("bigint"), token.text
        text, seen = await self.executor.with_literals(text, scope)
        statement = await apart(
            len(text), translate.expression, text, self.session.database, seen.types
        )
        return _TEXT, (await self.executor.fetch(statement, seen))[0][0]

    async def _insert_from(self, node: Call, arguments: Sequence[Parameter], reply: Reply) -> None:
        """Run INSERT … EXEC of a system procedure."""
        procedure = PROCEDURES.get(split_name(node.procedure)[-1].lower())
        if procedure is None or not procedure.rows:
            raise unsupported(f"INSERT … EXEC {node.procedure}")
        sql, values = procedure.query(
            self._database_of(node.procedure), arguments, self.polling_seconds
        )
        head = translate.query(f"{node.into} SELECT 1", self.session.database, {}).insertion
        if head is None:
            raise unsupported("INSERT … EXEC with such a target")
        statement = Statement(SQL("{} {}").format(head.before, sql), "INSERT", reads=True)
        await self._run(statement, values, reply)

    async def _run(self, statement: Statement, values: Sequence[str | None], reply: Reply) -> None:
        scope = Scope()
        names = tuple(f"@p{n}" for n in range(len(values)))
        for name, value in zip(names, values, strict=True):
            scope.declare(name, _TEXT, value)
        statement.parameters = names
        await self.executor.run(statement, scope, reply)

    def _database_of(self, procedure: str) -> str:
        parts = split_name(procedure)
        return parts[-3] if len(parts) > 2 and parts[-3] else self.session.database

    # ---- any call

    async def call(
        self, name: str, arguments: Sequence[Parameter], reply: Reply
    ) -> tuple[int, list[tuple[SqlType, str | None]]]:
        """Call a procedure; return its status and its arguments' values afterwards."""
        unchanged = [(a.type, a.value) for a in arguments]
        parts = split_name(name)
        base = parts[-1].lower()
        least = _LEAST_ARGUMENTS.get(base, 0)
        if len(arguments) < least:
            raise SqlError(
                201, f"Procedure or function '{base}' expects {least} parameters, which were not "
                "supplied.", state=4,
            )  # fmt: skip
        if base == "sp_executesql":
            return await self._executesql(arguments, reply)
        special = {
            "sp_prepexec": self._prepexec, "sp_prepare": self._prepare,
            "sp_execute": self._execute, "sp_unprepare": self._unprepare,
        }.get(base)  # fmt: skip
        if special is not None:
            return await special(arguments, reply)
        if base in {"sp_reset_connection", "sp_set_session_context"}:
            return 0, unchanged
        procedure = PROCEDURES.get(base)
        if procedure is not None:
            await self._system(procedure, self._database_of(name), arguments, reply)
            return 0, unchanged
        if base in SCRIPTED:
            declared, body = split_procedure(SCRIPTED[base])
            return await self._run_text(body, parse_declarations(declared), arguments, reply)
        return await self._user_procedure(name, arguments, reply)

    async def _system(
        self,
        procedure: SystemProcedure,
        database: str,
        arguments: Sequence[Parameter],
        reply: Reply,
    ) -> None:
        sql, values = procedure.query(database, arguments, self.polling_seconds)
        statement = Statement(sql, "SELECT", returns=procedure.rows, reads=True)
        if not procedure.rows:
            self.executor.catalog.forget()
            statement.verb = "EXEC"
        await self._run(statement, values, reply)

    async def _user_procedure(
        self, name: str, arguments: Sequence[Parameter], reply: Reply
    ) -> tuple[int, list[tuple[SqlType, str | None]]]:
        try:
            rows = await self.executor.backend.rows(
                SQL(
                    "SELECT m.definition FROM mssql.modules m "
                    "WHERE m.object_id = mssql.object_id($1, $2, 'P')"
                ),
                [self.session.database, name],
            )
        except PgError as error:
            raise as_sql_error(error) from None
        if not rows:
            raise SqlError(2812, f"Could not find stored procedure '{name}'.", state=62)
        declared, body = split_procedure(rows[0][0] or "")
        return await self._run_text(body, parse_declarations(declared), arguments, reply)

    async def _run_text(
        self,
        text: str,
        declared: Sequence[Declaration],
        arguments: Sequence[Parameter],
        reply: Reply,
    ) -> tuple[int, list[tuple[SqlType, str | None]]]:
        """Run text with parameters; return the status and the arguments' values afterwards."""
        scope = Scope()
        names = await self._bind(declared, arguments, scope)
        status = await self._nested(text, scope, reply)
        return status, [(scope.types[n], scope.values[n]) for n in names]

    async def _bind(
        self, declared: Sequence[Declaration], arguments: Sequence[Parameter], scope: Scope
    ) -> list[str]:
        """Declare the parameters with the arguments' values; return each argument's name."""
        given: dict[str, Parameter] = {}
        names = []
        for position, argument in enumerate(arguments):
            name = argument.name.lower()
            if not name:
                if position >= len(declared):
                    raise SqlError(8144, "Procedure or function has too many arguments specified.",
                                   state=2)  # fmt: skip
                name = declared[position].name
            given[name] = argument
            names.append(name)
        known = {d.name for d in declared}
        for name in names:
            if name not in known:
                raise SqlError(8145, f"{name} is not a parameter for the procedure.", state=2)
        for parameter in declared:
            found = given.get(parameter.name)
            scope.declare(parameter.name, parameter.type, found.value if found else None)
            if found is None and parameter.initial is not None:
                value = await self.executor.value(parameter.initial, parameter.type, Scope())
                scope.assign(parameter.name, value)
            elif found is None:
                raise SqlError(
                    201, "Procedure or function expects parameter "
                    f"'{parameter.name}', which was not supplied.", state=4,
                )  # fmt: skip
        return names

    # ---- dynamic SQL and prepared statements

    async def _executesql(
        self, arguments: Sequence[Parameter], reply: Reply
    ) -> tuple[int, list[tuple[SqlType, str | None]]]:
        text = arguments[0].value or ""
        declared = parse_declarations(arguments[1].value or "") if len(arguments) > 1 else []
        status, values = await self._run_text(text, declared, arguments[2:], reply)
        return status, [(a.type, a.value) for a in arguments[:2]] + values

    def _remember(self, parameters: str, text: str) -> int:
        kept = sum(len(p.text) + len(p.parameters) for p in self.session.prepared.values())
        if kept + len(text) + len(parameters) > LONGEST_PREPARED:
            raise out_of_memory()
        handle = self.session.next_handle
        self.session.next_handle += 1
        self.session.prepared[handle] = Prepared(parameters, text)
        return handle

    async def _prepare(
        self, arguments: Sequence[Parameter], reply: Reply
    ) -> tuple[int, list[tuple[SqlType, str | None]]]:
        handle = self._remember(arguments[1].value or "", arguments[2].value or "")
        return 0, [(_INT, str(handle)), *((a.type, a.value) for a in arguments[1:])]

    async def _prepexec(
        self, arguments: Sequence[Parameter], reply: Reply
    ) -> tuple[int, list[tuple[SqlType, str | None]]]:
        handle = self._remember(arguments[1].value or "", arguments[2].value or "")
        declared = parse_declarations(arguments[1].value or "")
        status, values = await self._run_text(
            arguments[2].value or "", declared, arguments[3:], reply
        )
        kept = [(a.type, a.value) for a in arguments[1:3]]
        return status, [(_INT, str(handle)), *kept, *values]

    async def _execute(
        self, arguments: Sequence[Parameter], reply: Reply
    ) -> tuple[int, list[tuple[SqlType, str | None]]]:
        prepared = self._prepared(arguments)
        declared = parse_declarations(prepared.parameters)
        status, values = await self._run_text(prepared.text, declared, arguments[1:], reply)
        return status, [(arguments[0].type, arguments[0].value), *values]

    async def _unprepare(
        self, arguments: Sequence[Parameter], reply: Reply
    ) -> tuple[int, list[tuple[SqlType, str | None]]]:
        self._prepared(arguments)
        del self.session.prepared[int(arguments[0].value or 0)]
        return 0, [(a.type, a.value) for a in arguments]

    def _prepared(self, arguments: Sequence[Parameter]) -> Prepared:
        given = arguments[0].value or ""
        handle = int(given) if given.isdecimal() else 0
        if handle not in self.session.prepared:
            raise SqlError(
                8179, f"Could not find prepared statement with handle {handle}.", state=4
            )
        return self.session.prepared[handle]

    # ---- remote calls

    async def remote(self, request: RemoteCall, reply: Reply) -> None:
        """Run a remote procedure call; report errors to the client instead of raising them."""
        reply.enter_procedure()
        try:
            status, values = await self.call(request.name, request.parameters, reply)
        except SqlError as error:
            self.executor.report(error, reply)
            reply.leave_procedure(-6)
            return
        outputs = [
            (n, p.name, kind, encode_text(kind, value))
            for n, (p, (kind, value)) in enumerate(zip(request.parameters, values, strict=False))
            if p.output
        ]
        reply.leave_procedure(status, outputs)
