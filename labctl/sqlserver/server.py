"""The server, which listens on loopback and gives each client its own session."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Composable

from labctl.errors import ExitCode, LabError
from labctl.sqlserver.backend.columns import Catalog, RowSource, TypeMap
from labctl.sqlserver.backend.connection import Backend, PgError
from labctl.sqlserver.backend.install import install, reachable_databases
from labctl.sqlserver.client_errors import ConnectionLost
from labctl.sqlserver.limits import MOST_LOGINS
from labctl.sqlserver.session.connection import ServerContext, serve_client
from labctl.sqlserver.wire.tls import Transport, server_context

__all__ = ["Settings", "serve"]

log = logging.getLogger("labctl.sqlserver")

_CLEANUP_SECONDS = 300.0
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_FIRST_SPID = 51


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the server: PostgreSQL's DSN, address, login, TLS, capture interval."""

    dsn: str
    """DSN of a superuser, for the installation; clients are served by a role with fewer rights."""
    password: str
    user: str = "sa"
    host: str = "127.0.0.1"
    in_container: bool = False
    """True if addresses other than loopback are allowed, because they are a container's own."""
    port: int = 1433
    server_name: str = "STANDIN"
    certificate: Path | None = None
    key: Path | None = None
    require_encryption: bool = False
    polling_seconds: float = 0.0
    """Capture job's polling interval for newly enabled databases; SQL Server's default is 5."""


async def serve(settings: Settings, *, ready: Callable[[int], None] | None = None) -> None:
    """Serve until cancelled; call `ready` with the port once clients may connect.

    Raises `LabError` if PostgreSQL cannot be used or the port is taken.
    """
    if settings.host not in _LOOPBACK and not settings.in_container:
        raise LabError(
            f"the SQL Server stand-in listens on loopback only, not on {settings.host}",
            hint="inside a container that publishes its port on loopback: --in-container",
            exit_code=ExitCode.USAGE,
        )
    dsn = await _installed(settings.dsn)
    backend = await _connect(dsn)
    context = ServerContext(
        dsn=dsn,
        server_name=settings.server_name,
        user=settings.user,
        password=settings.password,
        tls=_tls(settings),
        require_encryption=settings.require_encryption,
        polling_seconds=settings.polling_seconds,
        types=await TypeMap.load(backend),
        catalog=Catalog(_Reconnecting(dsn, backend)),
    )
    server = _Server(context)
    try:
        listener = await asyncio.start_server(server.accept, settings.host, settings.port)
    except OSError as error:
        raise LabError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror}",
            exit_code=ExitCode.ENVIRONMENT,
        ) from None
    port = listener.sockets[0].getsockname()[1]
    log.info("SQL Server stand-in ready on %s:%d", settings.host, port)
    if ready is not None:
        ready(port)
    cleaning = asyncio.create_task(_clean_regularly(context.catalog.backend))
    try:
        async with listener:
            await listener.serve_forever()
    finally:
        cleaning.cancel()
        await server.close()


async def _connect(dsn: str) -> Backend:
    try:
        return await Backend.open(dsn, "server")
    except psycopg.OperationalError as error:
        raise LabError(
            f"PostgreSQL cannot be reached: {str(error).strip()}", exit_code=ExitCode.NOT_READY
        ) from None


async def _installed(dsn: str) -> str:
    """Install as the superuser; return the connection string of the role that serves clients."""
    backend = await _connect(dsn)
    try:
        role, password = await install(backend)
        for name in await reachable_databases(backend, role):
            log.warning(
                "the role that clients are served by may connect to database %s as well; "
                "REVOKE CONNECT ON DATABASE … FROM PUBLIC keeps it out",
                name,
            )
    finally:
        await backend.close()
    return make_conninfo(dsn, user=role, password=password)


def _tls(settings: Settings) -> ssl.SSLContext | None:
    if settings.certificate is None:
        return None
    return server_context(settings.certificate, settings.key or settings.certificate)


class _Server:
    """The set of connected clients."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._clients: set[asyncio.Task[None]] = set()
        self._waiting: dict[asyncio.Task[None], None] = {}
        """Clients that have not logged in, the oldest first."""
        self._spid = _FIRST_SPID - 1

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client."""
        self._spid = self._spid + 1 if self._spid < 32_000 else _FIRST_SPID
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("clients are served in tasks")
        self._clients.add(task)
        self._waiting[task] = None
        while len(self._waiting) > MOST_LOGINS:
            # A client logs in within milliseconds: the oldest one probably never will.
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            oldest.cancel()
        try:
            await serve_client(
                self._context,
                Transport(reader, writer),
                self._spid,
                logged_in=lambda: self._waiting.pop(task, None),
            )
        except asyncio.CancelledError:
            return
        except Exception:
            log.exception("connection %d ended by a defect of the stand-in", self._spid)
        finally:
            self._clients.discard(task)
            self._waiting.pop(task, None)

    async def close(self) -> None:
        for task in list(self._clients):
            task.cancel()
        if self._clients:
            await asyncio.wait(self._clients, timeout=5)


class _Reconnecting:
    """The server's own connection, reopened after PostgreSQL was unavailable."""

    def __init__(self, dsn: str, backend: Backend) -> None:
        self._dsn = dsn
        self._current = backend

    async def rows(
        self, sql: Composable, parameters: Sequence[str | None] = ()
    ) -> list[tuple[str | None, ...]]:
        """Return rows like `Backend.rows`; reconnect once if the connection is lost."""
        try:
            return await self._current.rows(sql, parameters)
        except ConnectionLost:
            self._current = await _connect(self._dsn)
            return await self._current.rows(sql, parameters)


async def _clean_regularly(backend: RowSource) -> None:
    """Delete change rows past their retention at regular intervals, like the cleanup job."""
    while True:
        await asyncio.sleep(_CLEANUP_SECONDS)
        try:
            await backend.rows(SQL("SELECT mssql.cdc_cleanup(c.db) FROM mssql.cdc_databases c"))
        except (PgError, ConnectionLost, LabError) as error:
            log.warning("cleanup of change tables failed: %s", error)
