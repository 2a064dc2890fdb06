"""The OpenAPI document and the pages that show it, health, and metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fastapi_offline
from fastapi import APIRouter, FastAPI
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from fastapi.openapi.utils import get_openapi
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles

from lakeapi.models import Health
from lakeapi.problems import PROBLEM
from lakeapi.service import Service

__all__ = ["install"]

_ASSETS = Path(fastapi_offline.__file__).parent / "static"
"""Swagger UI and ReDoc, as fastapi_offline ships them."""
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; worker-src 'self' blob:"
)
"""Policy that blocks other hosts: ReDoc would load a logo from its maker's site."""


def install(app: FastAPI, service: Service, prefix: str) -> None:
    """Add the OpenAPI document and its pages, health and metrics to the application."""
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]
    app.mount(f"{prefix}/assets", StaticFiles(directory=_ASSETS), name="assets")
    app.include_router(_pages(app, prefix))
    app.include_router(_facts(service, prefix))


def _document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document, built once, with the media type that errors are sent with."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        for path in made["paths"].values():
            for operation in path.values():
                for status, answer in operation["responses"].items():
                    told = answer.get("content", {})
                    if int(status) >= 400 and operation["tags"] == ["lake"]:
                        told[PROBLEM] = told.pop("application/json")
        app.openapi_schema = made
    return app.openapi_schema


def _pages(app: FastAPI, prefix: str) -> APIRouter:
    routes = APIRouter(prefix=prefix, include_in_schema=False)
    assets, document = f"{prefix}/assets", f"{prefix}/openapi.json"

    async def openapi() -> JSONResponse:
        return JSONResponse(app.openapi())

    async def swagger() -> HTMLResponse:
        return _closed(
            get_swagger_ui_html(
                openapi_url=document,
                title=app.title,
                swagger_js_url=f"{assets}/swagger-ui-bundle.js",
                swagger_css_url=f"{assets}/swagger-ui.css",
                swagger_favicon_url=f"{assets}/favicon.png",
            )
        )

    async def redoc() -> HTMLResponse:
        return _closed(
            get_redoc_html(
                openapi_url=document,
                title=app.title,
                redoc_js_url=f"{assets}/redoc.standalone.js",
                redoc_favicon_url=f"{assets}/favicon.png",
                with_google_fonts=False,
            )
        )

    # the second path of each is the one that springdoc uses
    for path in ("/openapi.json", "/v3/api-docs"):
        routes.add_api_route(path, openapi)
    for path in ("/docs", "/swagger-ui/index.html"):
        routes.add_api_route(path, swagger)
    routes.add_api_route("/redoc", redoc)
    return routes


def _closed(page: HTMLResponse) -> HTMLResponse:
    """Return the page with a policy that lets it load resources only from this service."""
    page.headers["Content-Security-Policy"] = _POLICY
    return page


def _facts(service: Service, prefix: str) -> APIRouter:
    routes = APIRouter(prefix=prefix, tags=["service"])

    async def health() -> Response:
        found = await service.health()
        status = 503 if found.status == "DOWN" else 200
        return Response(
            found.model_dump_json(exclude_none=True), status, media_type="application/json"
        )

    async def alive() -> Health:
        return Health(status="UP", components={})

    async def metrics() -> Response:
        return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)

    down: dict[int | str, dict[str, Any]] = {503: {"model": Health, "description": "DOWN"}}
    for path, shown in (
        ("/health", True),
        ("/health/readiness", True),
        ("/actuator/health", False),
    ):
        routes.add_api_route(
            path, health, response_model=Health, responses=down, include_in_schema=shown,
            summary="Whether Athena and Redis answer",
        )  # fmt: skip
    routes.add_api_route("/health/liveness", alive, summary="Whether the service runs")
    for path, shown in (("/metrics", True), ("/actuator/prometheus", False)):
        routes.add_api_route(
            path, metrics, include_in_schema=shown, summary="Metrics, as Prometheus reads them",
            response_class=Response,
            responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
        )  # fmt: skip
    return routes
