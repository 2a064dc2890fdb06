"""A client's connection: the login, then one request and reply at a time."""

from __future__ import annotations

import asyncio
import hmac
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass

import psycopg
from psycopg.sql import SQL

from labctl.sqlserver.backend.columns import Catalog, TypeMap
from labctl.sqlserver.backend.connection import Backend, PgError
from labctl.sqlserver.client_errors import ConnectionLost, SqlError, unsupported
from labctl.sqlserver.limits import (
    LONGEST_LOGIN,
    LONGEST_MESSAGE,
    apart,
    out_of_memory,
    too_deep,
)
from labctl.sqlserver.session.executor import Cancelled, Executor
from labctl.sqlserver.session.interpreter import Interpreter
from labctl.sqlserver.session.reply import Reply
from labctl.sqlserver.session.session_state import PRODUCT, VERSION, Scope, Session
from labctl.sqlserver.session.transactions import Transactions
from labctl.sqlserver.wire.login import Login, parse_login
from labctl.sqlserver.wire.packet import DEFAULT_PACKET_SIZE, MessageWriter, PacketType
from labctl.sqlserver.wire.prelogin import Encryption, parse_prelogin, prelogin_answer
from labctl.sqlserver.wire.reader import MessageTooLong, ProtocolError
from labctl.sqlserver.wire.request import parse_batch, parse_calls, parse_transaction
from labctl.sqlserver.wire.tls import Transport
from labctl.sqlserver.wire.tokens import COLLATION, Environment, environment, login_ack

__all__ = ["ServerContext", "serve_client"]

log = logging.getLogger("labctl.sqlserver")

_TDS_74 = 0x74000004
_LOGIN_SECONDS = 30
_BACKEND_SECONDS = 20
_BACKEND_RETRY_SECONDS = 0.2
_LOGIN_FAILED = 18456
_LEVELS = {1: "READ UNCOMMITTED", 2: "READ COMMITTED", 3: "REPEATABLE READ", 4: "SERIALIZABLE",
           5: "SNAPSHOT"}  # fmt: skip


@dataclass(slots=True)
class ServerContext:
    """The state that all connections share."""

    dsn: str
    server_name: str
    user: str
    password: str
    tls: ssl.SSLContext | None
    require_encryption: bool
    polling_seconds: float
    types: TypeMap
    catalog: Catalog


async def serve_client(
    context: ServerContext, transport: Transport, spid: int, *, logged_in: Callable[[], None]
) -> None:
    """Serve a client until it disconnects; a malformed message ends only this connection.

    `logged_in` is called once the client has logged in.
    """
    backend: Backend | None = None
    try:
        async with asyncio.timeout(_LOGIN_SECONDS):
            accepted = await _login(context, transport, spid)
        if accepted is None:
            return
        logged_in()
        backend, client = accepted
        await client.run()
    except (ProtocolError, MessageTooLong) as error:
        log.warning("connection %d closed: %s", spid, error)
    except TimeoutError:
        log.warning("connection %d closed: no login within %d s", spid, _LOGIN_SECONDS)
    except ConnectionLost as error:
        log.warning("connection %d closed: PostgreSQL is gone: %s", spid, error)
    except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
        log.debug("connection %d: the client left", spid)
    finally:
        if backend is not None:
            await backend.close()
        await transport.close()


# ---- login


async def _login(
    context: ServerContext, transport: Transport, spid: int
) -> tuple[Backend, _Client] | None:
    kind, data, _ = await transport.read_message(LONGEST_LOGIN)
    login_only = False
    if kind is PacketType.PRELOGIN:
        login_only = await _agree_on_encryption(context, transport, data)
        kind, data, _ = await transport.read_message(LONGEST_LOGIN)
    if kind is not PacketType.LOGIN7:
        raise ProtocolError(f"a login was expected, not {kind.name}")
    login = parse_login(data)
    if login_only:
        transport.stop_tls()
    writer = MessageWriter(transport, DEFAULT_PACKET_SIZE, spid=spid)
    reply = Reply(writer, context.server_name)
    try:
        backend, session = await _open_session(context, login, spid)
    except SqlError as error:
        log.warning("login of %r refused: %s", login.user, error.message)
        reply.message(error)
        if error.number != _LOGIN_FAILED:
            reply.message(_refused(login))
        reply.refused()
        await reply.finish()
        return None
    size = login.packet_size if 512 <= login.packet_size <= 32767 else DEFAULT_PACKET_SIZE
    for token in (
        environment(Environment.DATABASE, session.database, "master"),
        environment(Environment.COLLATION, COLLATION, b""),
        environment(Environment.LANGUAGE, session.language, ""),
        login_ack(_TDS_74, PRODUCT, VERSION),
        environment(Environment.PACKET_SIZE, str(size), str(DEFAULT_PACKET_SIZE)),
    ):
        reply.token(token)
    await reply.finish()
    writer.resize(size)
    return backend, _Client(context, transport, writer, backend, session)


async def _agree_on_encryption(context: ServerContext, transport: Transport, data: bytes) -> bool:
    """Answer PRELOGIN and start TLS; return whether to encrypt only the login."""
    wanted = parse_prelogin(data)
    answer, login_only = Encryption.NOT_SUPPORTED, False
    if context.tls is not None:
        if wanted in (Encryption.ON, Encryption.REQUIRED) or context.require_encryption:
            answer = Encryption.ON if wanted is not Encryption.OFF else Encryption.REQUIRED
        elif wanted is Encryption.OFF:
            answer, login_only = Encryption.OFF, True
    packets = MessageWriter(transport, DEFAULT_PACKET_SIZE)
    packets.write(prelogin_answer(answer, VERSION))
    await packets.finish()
    if context.tls is not None and answer is not Encryption.NOT_SUPPORTED:
        if wanted is Encryption.NOT_SUPPORTED:
            raise ProtocolError("the client cannot encrypt, and encryption is required")
        await transport.start_tls(context.tls)
    return login_only


async def _open_session(context: ServerContext, login: Login, spid: int) -> tuple[Backend, Session]:
    right = hmac.compare_digest(login.password.encode(), context.password.encode())
    if login.integrated or login.user.lower() != context.user.lower() or not right:
        raise _refused(login)
    backend = await _open_backend(context, f"{spid}:{login.application}")
    wanted = login.database or "master"
    rows = await backend.rows(
        SQL("SELECT name, database_id FROM mssql.databases WHERE lower(name::text) = lower($1)"),
        [wanted],
    )
    if not rows:
        await backend.close()
        raise SqlError(
            4060, f'Cannot open database "{wanted}" requested by the login. The login failed.',
            severity=11,
        )  # fmt: skip
    session = Session(
        spid=spid,
        server=context.server_name,
        login=context.user,
        database=rows[0][0] or "",
        database_id=int(rows[0][1] or 0),
        host=login.host,
        application=login.application,
    )
    return backend, session


def _refused(login: Login) -> SqlError:
    return SqlError(_LOGIN_FAILED, f"Login failed for user '{login.user}'.", severity=14)


async def _open_backend(context: ServerContext, application: str) -> Backend:
    """Connect to PostgreSQL; wait for a restart, since connectors give up on a failed login."""
    deadline = asyncio.get_running_loop().time() + _BACKEND_SECONDS
    while True:
        try:
            return await Backend.open(context.dsn, application)
        except (psycopg.OperationalError, ConnectionLost) as error:
            if asyncio.get_running_loop().time() < deadline:
                await asyncio.sleep(_BACKEND_RETRY_SECONDS)
                continue
            log.warning("PostgreSQL cannot be reached: %s", error)
            raise SqlError(
                17187, "SQL Server is not ready to accept new client connections: its PostgreSQL "
                "cannot be reached.",
            ) from None  # fmt: skip


# ---- requests


class _Client:
    """A logged-in client."""

    def __init__(
        self,
        context: ServerContext,
        transport: Transport,
        writer: MessageWriter,
        backend: Backend,
        session: Session,
    ) -> None:
        self.context = context
        self.transport = transport
        self.writer = writer
        self.backend = backend
        self.session = session
        self.transactions = Transactions(backend, session)
        executor = Executor(session, backend, self.transactions, context.types, context.catalog)
        self.interpreter = Interpreter(executor, context.polling_seconds)
        self.is_spent = False
        """True if the connection must end because PostgreSQL's result was not read to its end."""

    async def run(self) -> None:
        """Answer requests; accept an attention while a request runs."""
        reading = self._read()
        working: asyncio.Task[None] | None = None
        try:
            while not self.is_spent:
                reply = Reply(self.writer, self.session.server)
                try:
                    kind, data, reset = await reading
                except MessageTooLong as error:
                    reply.failed(unsupported(str(error).capitalize()))
                    await reply.finish()
                    reading = self._read()
                    continue
                reading = self._read()
                if kind is PacketType.ATTENTION:
                    reply.cancelled = True
                    await reply.finish()
                    continue
                working = asyncio.create_task(self._answer(kind, data, reply, reset=reset))
                while not working.done():
                    await asyncio.wait({working, reading}, return_when=asyncio.FIRST_COMPLETED)
                    if working.done():
                        break
                    if await self._interrupted(reading, reply):
                        reading = self._read()
                        await asyncio.wait({working})
                await working
                await reply.finish()
        finally:
            for task in (reading, working):
                if task is not None and not task.done():
                    task.cancel()
                    await asyncio.wait({task})
                if task is not None and task.done() and not task.cancelled():
                    task.exception()

    def _read(self) -> asyncio.Task[tuple[PacketType, bytes, bool]]:
        return asyncio.create_task(self.transport.read_message(LONGEST_MESSAGE))

    async def _interrupted(
        self, reading: asyncio.Task[tuple[PacketType, bytes, bool]], reply: Reply
    ) -> bool:
        """Handle a message that arrived during a request; only an attention is allowed."""
        kind, _, _ = reading.result()
        if kind is not PacketType.ATTENTION:
            raise ProtocolError("a request came before the last one was answered")
        reply.cancelled = True
        await self.backend.cancel()
        return True

    async def _answer(self, kind: PacketType, data: bytes, reply: Reply, *, reset: bool) -> None:
        if reset:
            await self._reset(reply)
        try:
            await self._request(kind, data, reply)
        except Cancelled:
            return
        except PgError as error:
            log.error("an unexpected error of PostgreSQL: %s", error)
            await self.transactions.after_error()
            reply.failed(SqlError(50000, f"PostgreSQL: {error.message}"))
        except RecursionError:
            reply.failed(too_deep())
        except MemoryError:
            # The rest of PostgreSQL's result is never read.
            log.warning("connection %d closed: it asked for too much memory", self.session.spid)
            self.is_spent = True
            reply.failed(out_of_memory())

    async def _request(self, kind: PacketType, data: bytes, reply: Reply) -> None:
        if kind is PacketType.SQL_BATCH:
            await self.interpreter.batch(await apart(len(data), parse_batch, data), Scope(), reply)
        elif kind is PacketType.RPC:
            try:
                calls = await apart(len(data), parse_calls, data)
            except SqlError as error:
                self.interpreter.executor.report(error, reply)
                return
            for call in calls:
                await self.interpreter.calls.remote(call, reply)
        elif kind is PacketType.TRANSACTION:
            await self._transaction(data, reply)
        elif kind is PacketType.BULK_LOAD:
            reply.failed(SqlError(40517, "Bulk load is not supported by this SQL Server stand-in."))
        else:
            raise ProtocolError(f"{kind.name} is no request")

    async def _transaction(self, data: bytes, reply: Reply) -> None:
        request = parse_transaction(data)
        commands = self.interpreter.commands
        try:
            if request.isolation in _LEVELS:
                self.transactions.isolation = _LEVELS[request.isolation]
            if request.kind == 5:
                commands.begin(reply)
            elif request.kind == 7:
                await commands.commit(reply)
            elif request.kind == 8:
                await commands.rollback(request.name, reply)
            else:
                await self.transactions.save(request.name)
            if request.begin_again:
                commands.begin(reply)
        except SqlError as error:
            self.interpreter.executor.report(error, reply)
            return
        reply.statement_done(None)

    async def _reset(self, reply: Reply) -> None:
        """Reset the session to its state after login, for RESETCONNECTION."""
        await self.transactions.abandon()
        session = self.session
        session.nocount = session.implicit_transactions = session.abort_on_error = False
        session.identity_insert = session.caught = session.identity = None
        self.transactions.isolation = "READ COMMITTED"
        await self.backend.simple(SQL("DISCARD TEMP"))
        await self.transactions.reset()
        session.date_first = 7
        reply.token(environment(Environment.RESET, "", ""))
