"""The service's errors, and their responses to clients (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from lakeapi.models import Problem

__all__ = ["LakeTimeoutError", "LakeUnavailableError", "install", "problem"]

PROBLEM = "application/problem+json"
RETRY_SECONDS = 2
"""Seconds after which a client should retry while the lake cannot answer."""


class LakeUnavailableError(Exception):
    """Athena cannot be reached, or its query failed; the message is for the log."""


class LakeTimeoutError(Exception):
    """A query took too long and was stopped."""


def problem(
    path: str, status: int, detail: str, headers: dict[str, str] | None = None
) -> JSONResponse:
    """Return the response for an error."""
    told = Problem(
        title=HTTPStatus(status).phrase, status=status, detail=detail, instance=path
    )  # fmt: skip
    return JSONResponse(told.model_dump(), status, headers, media_type=PROBLEM)


def install(app: FastAPI) -> None:
    """Make the application return every error in the same format."""

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> JSONResponse:
        headers = dict(error.headers) if error.headers else None
        return problem(request.url.path, error.status_code, str(error.detail), headers)

    @app.exception_handler(RequestValidationError)
    async def of_parameters(request: Request, error: RequestValidationError) -> JSONResponse:
        told = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        return problem(request.url.path, 422, "; ".join(told))

    @app.exception_handler(LakeUnavailableError)
    async def of_lake(request: Request, error: LakeUnavailableError) -> JSONResponse:
        detail = "The lake cannot answer at the moment."
        return problem(request.url.path, 503, detail, {"Retry-After": str(RETRY_SECONDS)})

    @app.exception_handler(LakeTimeoutError)
    async def of_time(request: Request, error: LakeTimeoutError) -> JSONResponse:
        return problem(request.url.path, 504, "The lake did not answer in time.")
