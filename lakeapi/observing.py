"""The id, the log line and the metrics of every request."""

from __future__ import annotations

import logging
import re
import sys
import time
from http import HTTPMethod
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lakeapi.metrics import Metrics
from lakeapi.problems import problem

__all__ = ["Observing", "log_as_json"]

REQUEST_ID = "X-Request-ID"
_METHODS = frozenset(HTTPMethod)
_GIVEN_ID = re.compile(r"[\w.:+/=-]{1,128}", re.ASCII)
log = structlog.stdlib.get_logger("lakeapi")


def log_as_json(level: int = logging.INFO) -> None:
    """Write each log line of this process as a JSON object, with the request's id if any."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso"),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)


class Observing:
    """The outermost middleware, which sees every response."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        id_ = given if _GIVEN_ID.fullmatch(given) else uuid4().hex
        status: int | None = None

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = id_
            await send(message)

        begun = time.perf_counter()
        with structlog.contextvars.bound_contextvars(request_id=id_):
            try:
                await self._app(scope, receive, answer)
            except Exception:
                log.exception("request failed", path=scope["path"])
                if status is None:
                    told = problem(scope["path"], 500, "An error that was not foreseen.")
                    await told(scope, receive, answer)
            finally:
                self._observe(scope, status or 499, time.perf_counter() - begun)

    def _observe(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "")
        # not the path or an unknown method: a client could create any number of labels
        label = route or "none"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.requests.labels(method, label, str(status)).observe(seconds)
        log.info(
            "request", method=scope["method"], path=scope["path"], route=label, status=status,
            milliseconds=round(seconds * 1000, 2),
        )  # fmt: skip
