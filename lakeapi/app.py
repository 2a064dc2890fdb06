"""The application: `uvicorn --factory lakeapi.app:create`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from lakeapi import documents, endpoints, problems
from lakeapi.hosts import Hosts
from lakeapi.observing import REQUEST_ID, Observing, log_as_json
from lakeapi.service import Service
from lakeapi.settings import Settings, of_environment
from lakeapi.workers import end_with_parent

__all__ = ["PREFIX", "application", "create"]

PREFIX = "/v1"


def create() -> FastAPI:
    """Return the application, configured by environment. Raises pydantic.ValidationError."""
    log_as_json()
    end_with_parent()
    return application(of_environment())


def application(settings: Settings) -> FastAPI:
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # meanwhile the service answers requests that do not need the definitions
        preparing = asyncio.create_task(service.prepare())
        yield
        preparing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await preparing
        await service.close()

    app = FastAPI(
        title="Lake API",
        version="1.0.0",
        description="Ticket sales of a lake, by Athena.",
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    problems.install(app)
    app.include_router(endpoints.router(service, PREFIX))
    documents.install(app, service, PREFIX)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=settings.cors_origins, allow_methods=["GET"],
            expose_headers=[REQUEST_ID],
        )  # fmt: skip
    app.add_middleware(Hosts, names=settings.allowed_hosts)
    app.add_middleware(Observing, metrics=service.metrics)
    return app
