"""The service as a whole: its parts put together, and served on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette

from sqlapi.athena.definitions_sql import DefinitionStatements
from sqlapi.athena.executions import Executions
from sqlapi.athena.executor import Executor
from sqlapi.athena.metadata import Metadata
from sqlapi.athena.queries import QueryStatements
from sqlapi.athena.results import Results
from sqlapi.athena.saved import Saved
from sqlapi.athena.workgroups import Workgroups
from sqlapi.catalog.definitions import Definitions
from sqlapi.catalog.glue import Glue
from sqlapi.protocol.app import application
from sqlapi.protocol.connections import BoundedProtocol
from sqlapi.settings import Settings
from sqlapi.source import TableSource
from sqlapi.sql.engine import Engine
from sqlapi.storage import Storage
from sqlapi.store import Store

__all__ = ["build", "serve"]

LOOPBACK = "127.0.0.1"


def build(settings: Settings, source: TableSource, storage: Storage) -> Starlette:
    """The application; it ends its queries when it is shut down.

    Raises psycopg.OperationalError when PostgreSQL does not answer.
    """
    store = Store(settings.dsn)
    definitions = Definitions(store, source, account=settings.account)
    engine = Engine(memory=settings.memory, threads=settings.threads)
    results = Results(storage)
    workgroups = Workgroups(settings, store, storage)
    executor = Executor(
        store,
        engine,
        results,
        QueryStatements(definitions, storage, settings.catalog),
        DefinitionStatements(definitions, storage, settings.catalog),
        concurrency=settings.concurrency,
    )
    executions = Executions(settings, store, workgroups, executor, results)
    athena = {
        **executions.operations(),
        **workgroups.operations(),
        **Saved(store, workgroups).operations(),
        **Metadata(definitions, settings.catalog).operations(),
    }
    app = application(settings, {"athena": athena, "glue": Glue(definitions).operations()})

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        executor.close()
        store.close()
        engine.close()

    app.router.lifespan_context = lifespan
    return app


def serve(
    settings: Settings, source: TableSource, storage: Storage, *, port: int, host: str = LOOPBACK
) -> None:
    """Serves until it is told to end (SIGTERM, SIGINT)."""
    app = build(settings, source, storage)
    uvicorn.run(
        app,
        host=host,
        port=port,
        http=BoundedProtocol,
        ws="none",
        log_level="warning",
        timeout_graceful_shutdown=5,
    )
