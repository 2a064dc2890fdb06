"""The whole service, assembled from its parts and served on the loopback address."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

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
from sqlapi.catalog.column_statistics import ColumnStatistics
from sqlapi.catalog.definitions import Definitions
from sqlapi.catalog.glue import Glue
from sqlapi.protocol.connections import BoundedProtocol
from sqlapi.protocol.http_app import application
from sqlapi.settings import Settings
from sqlapi.source import TableSource
from sqlapi.storage import Storage
from sqlapi.store import Store
from sqlapi.workers.jobs import Setup
from sqlapi.workers.limits import MIB, limit_memory
from sqlapi.workers.pool import Workers
from sqlapi.workers.run import Run

__all__ = ["build", "serve"]

LOOPBACK = "127.0.0.1"
_OWN_BYTES = 1024 * MIB
"""Bytes of memory that this process may use for requests, including its threads' stacks."""


def build(settings: Settings, source: TableSource, storage: Storage) -> Starlette:
    """Return the application, which ends its queries when it shuts down.

    Workers get copies of `source` and `storage`, so both must be picklable.
    Raises psycopg.OperationalError if PostgreSQL does not answer.
    """
    store = Store(settings.dsn)
    definitions = Definitions(store, source, account=settings.account)
    results = Results(storage)
    workgroups = Workgroups(settings, store, storage)
    scratch = _scratch(settings.scratch)
    workers = Workers(_setup(settings, source, storage, scratch))
    statements = DefinitionStatements(definitions, settings.catalog, storage)
    executor = Executor(
        store,
        results,
        QueryStatements(definitions, storage, settings.catalog, statements),
        statements,
        lambda: Run(workers, definitions.calls(), settings.seconds),
        concurrency=settings.concurrency,
        queue=settings.queue,
    )
    executions = Executions(settings, store, workgroups, executor, results)
    athena = {
        **executions.operations(),
        **workgroups.operations(),
        **Saved(store, workgroups).operations(),
        **Metadata(definitions, settings.catalog).operations(),
    }
    glue = {**Glue(definitions).operations(), **ColumnStatistics(definitions).operations()}
    app = application(settings, {"athena": athena, "glue": glue})

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        executor.close()
        workers.close()
        store.close()
        rmtree(scratch, ignore_errors=True)

    app.router.lifespan_context = lifespan
    return app


def _setup(settings: Settings, source: TableSource, storage: Storage, scratch: Path) -> Setup:
    return Setup(
        source=source,
        storage=storage,
        catalog=settings.catalog,
        memory=settings.memory,
        spill=settings.spill,
        threads=settings.threads,
        result_bytes=settings.result_bytes,
        scratch=scratch,
    )


def _scratch(given: Path | None) -> Path:
    """Return an empty folder: inside `given` if there is one, otherwise a temporary one."""
    if given is None:
        return Path(mkdtemp(prefix="sqlapi-"))
    folder = given / "queries"
    rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    return folder


def serve(
    settings: Settings, source: TableSource, storage: Storage, *, port: int, host: str = LOOPBACK
) -> None:
    """Run the server until it receives SIGTERM or SIGINT."""
    app = build(settings, source, storage)
    limit_memory(_OWN_BYTES)
    uvicorn.run(
        app,
        host=host,
        port=port,
        http=BoundedProtocol,
        ws="none",
        log_level="warning",
        timeout_graceful_shutdown=5,
    )
