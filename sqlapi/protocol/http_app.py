"""The HTTP application: one address for Athena, Glue and the STS operation GetCallerIdentity."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs
from uuid import uuid4

import psycopg
from psycopg_pool import PoolTimeout
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sqlapi.protocol.members import INVALID, AbsentError, Members, read_members
from sqlapi.protocol.protocol_errors import ApiError
from sqlapi.protocol.signature import Request, check, check_headers
from sqlapi.settings import Settings

__all__ = ["Members", "Operations", "application"]

Operations = Mapping[str, Callable[[Members], Members]]
"""Functions that answer operations, by operation name. They take and return members."""

_JSON = "application/x-amz-json-1.1"
_PREFIXES = {"AmazonAthena": "athena", "AWSGlue": "glue"}
_UNFIT = (psycopg.DataError, psycopg.IntegrityError, psycopg.errors.ProgramLimitExceeded)
"""PostgreSQL's errors for a value: too long for an index, or a reference to a removed row."""
_LONGEST_BODY = 4 * 1024 * 1024
"""Largest size of a request's body in bytes."""
_DIGITS = 20
log = logging.getLogger("sqlapi")


def application(settings: Settings, services: Mapping[str, Operations]) -> Starlette:
    """Return the application; `services` are the operations of athena and glue."""

    async def post(http: HttpRequest) -> Response:
        headers = {name.lower(): value for name, value in http.headers.items()}
        request_id = str(uuid4())
        try:
            check_headers(headers, settings.keys)
            body = await _body(http)
            # The URL needs no real host: the signature covers the `Host` in `headers`.
            query = http.scope["query_string"].decode("latin-1")
            request = Request(http.method, f"http://sqlapi/?{query}", headers, body)
            check(request, settings.keys)
            if "x-amz-target" not in request.headers:
                return _sts(settings, body, request_id)
            answer = await run_in_threadpool(_answer, services, request)
            return _respond(answer, 200, request_id)
        except ApiError as error:
            return _respond(error.body(), error.status, request_id)
        except (psycopg.OperationalError, PoolTimeout):
            log.exception("PostgreSQL cannot be asked")
            unreachable = ApiError(
                "InternalServerException", "The state of the service cannot be reached.", status=500
            )
            return _respond(unreachable.body(), 500, request_id)
        except Exception:
            log.exception("request %s failed", request_id)
            internal = ApiError(
                "InternalServerException", "An internal error occurred.", status=500
            )
            return _respond(internal.body(), 500, request_id)

    async def health(_: HttpRequest) -> Response:
        return JSONResponse({"status": "ok"})

    app = Starlette(
        routes=[Route("/", post, methods=["POST"]), Route("/health", health, methods=["GET"])]
    )
    app.state.services = services
    return app


async def _body(http: HttpRequest) -> bytes:
    """Return the body of a request; raise ApiError (413) before more than the limit is read."""
    too_large = ApiError("RequestEntityTooLargeException", "Request is too large.", status=413)
    stated = http.headers.get("content-length", "")
    if stated.isdecimal() and (len(stated) > _DIGITS or int(stated) > _LONGEST_BODY):
        raise too_large
    body = bytearray()
    async for chunk in http.stream():
        body += chunk
        if len(body) > _LONGEST_BODY:
            raise too_large
    return bytes(body)


def _answer(services: Mapping[str, Operations], request: Request) -> dict[str, Any]:
    prefix, _, name = request.headers["x-amz-target"].partition(".")
    service = _PREFIXES.get(prefix, "")
    operation = services.get(service, {}).get(name)
    if operation is None:
        raise ApiError("UnknownOperationException", f"Unknown operation: {prefix}.{name}")
    members = read_members(service, name, request.body)
    try:
        return operation(members)
    except AbsentError as error:
        raise ApiError(INVALID[service], str(error)) from None
    except _UNFIT as error:
        raise ApiError(INVALID[service], f"The request cannot be stored: {_first(error)}") from None


def _first(error: psycopg.Error) -> str:
    return str(error).partition("\n")[0]


def _respond(body: dict[str, Any], status: int, request_id: str) -> Response:
    headers = {"x-amzn-RequestId": request_id}
    if status >= 400:
        headers["x-amzn-ErrorType"] = str(body.get("__type"))
    return Response(json.dumps(body), status, headers, media_type=_JSON)


def _sts(settings: Settings, body: bytes, request_id: str) -> Response:
    action = parse_qs(body.decode("utf-8", "replace")).get("Action", [""])[0]
    if action != "GetCallerIdentity":
        raise ApiError("UnknownOperationException", f"Unknown operation: {action}")
    text = (
        '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">'
        f"<GetCallerIdentityResult><Arn>arn:aws:iam::{settings.account}:user/lab</Arn>"
        f"<UserId>lab</UserId><Account>{settings.account}</Account></GetCallerIdentityResult>"
        f"<ResponseMetadata><RequestId>{request_id}</RequestId></ResponseMetadata>"
        "</GetCallerIdentityResponse>"
    )
    return Response(text, media_type="text/xml")
