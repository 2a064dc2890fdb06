"""Execution of translated statements and sending of their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.sql import SQL, Composable

from labctl.sqlserver.backend.backend_errors import as_sql_error
from labctl.sqlserver.backend.columns import Catalog, TypeMap
from labctl.sqlserver.backend.connection import Backend, PgError
from labctl.sqlserver.client_errors import SqlError
from labctl.sqlserver.limits import apart
from labctl.sqlserver.session.reply import Column, Reply
from labctl.sqlserver.session.rows import Encoder, encoder, numeric_scale
from labctl.sqlserver.session.session_state import Scope, Session
from labctl.sqlserver.session.transactions import Transactions
from labctl.sqlserver.sqltypes import SqlType
from labctl.sqlserver.tsql import translate
from labctl.sqlserver.tsql.object_names import PgName, identifier, quoted
from labctl.sqlserver.tsql.statement import Output, Statement

__all__ = ["Cancelled", "Executor"]

_LEAST_SCALE = 6
_MOST_SCALE = 20
_ROW = b"\xd1"


class Cancelled(Exception):  # noqa: N818 - an attention is no error
    """Raised when the client has sent an attention."""


class Executor:
    """Executor of one session's statements on its PostgreSQL connection."""

    def __init__(
        self,
        session: Session,
        backend: Backend,
        transactions: Transactions,
        types: TypeMap,
        catalog: Catalog,
    ) -> None:
        self.session = session
        self.backend = backend
        self.transactions = transactions
        self.types = types
        self.catalog = catalog

    def values(self, names: Sequence[str], scope: Scope) -> list[str | None]:
        """Return the values of the named parameters."""
        return [
            self.session.global_value(n) if n.startswith("@@") else scope.values.get(n)
            for n in names
        ]

    async def _guard(self, statement: Statement) -> None:
        if (
            self.session.implicit_transactions
            and not self.session.transactions
            and (statement.reads or statement.verb != "SELECT")
        ):
            self.transactions.begin()
        if self.transactions.active or statement.reads or statement.verb != "SELECT":
            await self.transactions.before_statement()

    async def run(self, statement: Statement, scope: Scope, reply: Reply) -> None:
        """Run a statement; send its rows, if any, and its DONE."""
        await self._guard(statement)
        try:
            await self._lock(statement)
            sql, reseeds = await self._final_form(statement)
            count = await self._send(sql, statement, scope, reply)
            if reseeds is not None:
                await self.backend.rows(
                    SQL("SELECT mssql.reseed_after_explicit($1::regclass)"), [quoted(reseeds)]
                )
            await self._remember_identity(statement)
        except PgError as error:
            await self.transactions.doom_or_undo(error)
            if reply.cancelled:
                raise Cancelled from None
            raise as_sql_error(error, verb=statement.verb) from None
        except SqlError as error:
            await self.transactions.doom_or_undo(error)
            raise
        self.session.row_count = count
        reply.statement_done(None if self.session.nocount else count)

    async def _final_form(self, statement: Statement) -> tuple[Composable, PgName | None]:
        """Return the SQL to run, and the table whose identity column gets explicit values."""
        insertion = statement.insertion
        if insertion is None:
            return statement.sql, None
        if insertion.place == self.session.identity_insert:
            return insertion.sql(explicit_identity=True), insertion.place
        if insertion.lists_columns:
            return statement.sql, None
        return insertion.sql(await self._columns_to_fill(insertion.place)), None

    async def _columns_to_fill(self, place: PgName) -> Composable:
        """Return an INSERT's implicit column list: all columns but the identity column."""
        schema, name = place
        if schema is not None and not await self.catalog.has_identity(self.backend, schema, name):
            return SQL("")
        rows = await self.backend.rows(
            SQL(
                "SELECT a.attname, a.attidentity <> '' FROM pg_attribute a "
                "WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped "
                "ORDER BY a.attnum"
            ),
            [quoted(place)],
        )
        if not any(identity == "t" for _, identity in rows):
            return SQL("")
        names = [identifier(name or "") for name, identity in rows if identity != "t"]
        return SQL(" ({})").format(SQL(", ").join(names))

    async def _lock(self, statement: Statement) -> None:
        if statement.locks and self.transactions.active:
            for place in statement.locks:
                lock = SQL("LOCK TABLE {} IN EXCLUSIVE MODE")
                await self.backend.simple(lock.format(identifier(place)))

    async def _remember_identity(self, statement: Statement) -> None:
        if statement.insertion is None:
            return
        place = statement.insertion.place
        schema, name = place
        if schema is not None and not await self.catalog.has_identity(self.backend, schema, name):
            return
        try:
            rows = await self.backend.rows(
                SQL(
                    "SELECT CASE WHEN s IS NOT NULL THEN currval(s)::text END "
                    "FROM (SELECT mssql.identity_sequence($1::regclass) AS s) q"
                ),
                [quoted(place)],
            )
            self.session.identity = rows[0][0]
        except PgError as error:
            if error.sqlstate != "55000":
                raise

    async def fetch(self, statement: Statement, scope: Scope) -> list[tuple[str | None, ...]]:
        """Run a statement and return its rows as text."""
        await self._guard(statement)
        try:
            return await self.backend.rows(statement.sql, self.values(statement.parameters, scope))
        except PgError as error:
            await self.transactions.doom_or_undo(error)
            raise as_sql_error(error, verb=statement.verb) from None

    def report(self, error: SqlError, reply: Reply) -> None:
        """Send an error to the client."""
        self.session.last_error = error.number
        self.session.row_count = 0
        reply.failed(error)

    async def value(self, text: str, kind: SqlType, scope: Scope) -> str | None:
        """Return an expression's value, converted to `kind`."""
        text, seen = await self.with_literals(text, scope)
        statement = await apart(
            len(text), translate.expression, text, self.session.database, seen.types, kind
        )
        return (await self.fetch(statement, seen))[0][0]

    async def with_literals(self, text: str, scope: Scope) -> tuple[str, Scope]:
        """Replace long literals by variables; return the text and a scope with the variables."""
        text, literals = await apart(len(text), translate.without_long_literals, text)
        return text, scope.including(literals)

    async def assign(self, name: str, value: str | None, scope: Scope) -> None:
        """Assign a value that PostgreSQL returned as text, converted to the variable's type."""
        if name not in scope.types:
            raise SqlError(137, f'Must declare the scalar variable "{name}".', severity=15)
        if value is not None:
            kind = scope.types[name]
            try:
                convert = SQL("SELECT $1::text::{}").format(kind.sql)
                rows = await self.backend.rows(convert, [value])
            except PgError as error:
                await self.transactions.after_error()
                raise as_sql_error(error) from None
            value = rows[0][0]
        scope.assign(name, value)

    async def define(self, statements: Sequence[Composable], verb: str, reply: Reply) -> None:
        """Run a definition's statements atomically."""
        if self.session.implicit_transactions and not self.session.transactions:
            self.transactions.begin()
        alone = not self.session.transactions
        try:
            if alone:
                await self.backend.simple(SQL("BEGIN"))
            else:
                await self.transactions.before_statement()
            for sql in statements:
                await self.backend.simple(sql)
            if alone:
                await self.backend.simple(SQL("COMMIT"))
        except PgError as error:
            if alone:
                await self.backend.simple(SQL("ROLLBACK"))
            else:
                await self.transactions.doom_or_undo(error)
            raise as_sql_error(error, verb=verb) from None
        finally:
            self.catalog.forget()
        reply.statement_done(None)

    async def define_quietly(self, statements: Sequence[Composable]) -> None:
        """Run definitions of the session's temporary objects without sending a DONE."""
        try:
            for sql in statements:
                await self.backend.simple(sql)
        except PgError as error:
            await self.transactions.doom_or_undo(error)
            raise as_sql_error(error, verb="CREATE") from None

    # ---- results

    async def _send(self, sql: Composable, statement: Statement, scope: Scope, reply: Reply) -> int:
        count, rows = 0, 0
        encoders: list[Encoder] | None = None
        values = self.values(statement.parameters, scope)
        async for result in self.backend.stream(sql, values):
            if statement.returns and encoders is None and result.nfields:
                encoders = await self._open(result, statement.outputs, reply)
            if encoders is not None:
                rows += result.ntuples
                if not reply.cancelled:
                    await reply.rows(encode_rows(result, encoders))
            if result.command_tuples is not None:
                count = result.command_tuples
        if reply.cancelled:
            raise Cancelled
        return rows if encoders is not None else count

    async def _open(
        self, result: PGresult, outputs: Sequence[Output], reply: Reply
    ) -> list[Encoder]:
        """Send COLMETADATA for a result; return its encoders."""
        await self.catalog.learn(result)
        columns, encoders = [], []
        for index, output in enumerate(_aligned(outputs, result.nfields)):
            column, encode = self._column(result, index, output)
            columns.append(column)
            encoders.append(encode)
        reply.columns(columns)
        return encoders

    def _column(
        self, result: PGresult, index: int, output: Output | None
    ) -> tuple[Column, Encoder]:
        oid = result.ftype(index)
        kind = self.types.describe(oid, result.fmod(index))
        if output is not None and output.type is not None:
            kind = _more_exact(kind, output.type)
        if kind.name == "decimal" and kind.scale < 0:
            kind = replace(kind, scale=_scale_seen(result, index))
        facts = self.catalog.facts(result, index)
        if output is not None and output.name is not None:
            name = output.name
        elif facts is not None:
            name = facts.name
        else:
            name = (result.fname(index) or b"").decode()
        nullable = facts.nullable if facts is not None else True
        identity = facts.identity if facts is not None else False
        return (name, kind, nullable, identity), encoder(kind, self.types.names.get(oid, ""))


def encode_rows(result: PGresult, encoders: Sequence[Encoder]) -> bytes:
    """Encode a result's rows as ROW tokens."""
    get = result.get_value
    numbered = list(enumerate(encoders))
    out = []
    for row in range(result.ntuples):
        out.append(_ROW)
        out.extend([encode(get(row, column)) for column, encode in numbered])
    return b"".join(out)


def _aligned(outputs: Sequence[Output], count: int) -> list[Output | None]:
    """Return one output per result column; columns of `*` get None."""
    if len(outputs) == count and not any(o.star for o in outputs):
        return list(outputs)
    stars = [n for n, o in enumerate(outputs) if o.star]
    if not stars:
        return [None] * count
    before: list[Output | None] = list(outputs[: stars[0]])
    after: list[Output | None] = list(outputs[stars[-1] + 1 :])
    return before + [None] * (count - len(before) - len(after)) + after


def _more_exact(found: SqlType, declared: SqlType) -> SqlType:
    """Return the declared type if PostgreSQL reports only text, bytes or an unsized number."""
    if found.is_character and declared.is_character:
        return declared
    if found.is_binary and declared.is_binary:
        return declared
    if found.name == "decimal" and found.scale < 0 and declared.name in {"decimal", "numeric"}:
        return declared
    return found


def _scale_seen(result: PGresult, index: int) -> int:
    """Return a computed decimal's scale: that of the first rows, at least 6 if more follow."""
    values = (result.get_value(row, index) for row in range(result.ntuples))
    seen = max((numeric_scale(v) for v in values if v is not None), default=0)
    if result.status == ExecStatus.TUPLES_CHUNK and result.ntuples > 1:
        seen = max(seen, _LEAST_SCALE)
    return min(seen, _MOST_SCALE)
