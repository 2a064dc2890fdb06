"""The 17 endpoints."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query
from pydantic import BeforeValidator
from starlette.responses import Response

from lakeapi.models import BuyerLikes, Problem, SaleBySeller, SalesByCategory
from lakeapi.service import Service
from lakeapi.statements import RESOURCES, Resource

__all__ = ["router"]

_LARGEST = 2**31 - 1
"""The largest key: keys are 32-bit integers."""
_LARGEST_OFFSET = 2**63 - 1
"""The largest offset that SQL takes."""
_KEPT_PAGES = 400
"""Pages of a list, in the largest size, that are cached. Later pages are not, so that a client that
reads a whole list does not evict other clients' answers."""
_LISTS: dict[int | str, dict[str, Any]] = {
    422: {"model": Problem, "description": "A parameter is not what it must be."},
    503: {"model": Problem, "description": "The lake cannot answer; Retry-After says when."},
    504: {"model": Problem, "description": "The lake did not answer in time."},
}
_ROWS: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "There is no such row."}, **_LISTS
}  # fmt: skip


def _only(form: re.Pattern[str], what: str) -> BeforeValidator:
    """Return a validator that takes strings only if they match `form`.

    Without it, pydantic takes `1_0` for a number and `0` for a date in 1970."""

    def check(value: object) -> object:
        if isinstance(value, str) and not form.fullmatch(value):
            raise ValueError(f"{value!r} is no {what}")
        return value

    return BeforeValidator(check)


_Integer = Annotated[int, _only(re.compile(r"-?[0-9]+"), "integer")]
_Date = Annotated[date, _only(re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), "date (YYYY-MM-DD)")]

Limit = Annotated[_Integer, Query(description="Rows at most. Below 1, or above 25: 25.")]
Offset = Annotated[_Integer, Query(description="Rows to leave out before. Below 1: none.")]
Key = Annotated[_Integer, Path(ge=-_LARGEST - 1, le=_LARGEST, alias="id", examples=[1])]
Day = Annotated[_Date | None, Query(alias="date", examples=["2008-01-01"])]


def _json(body: bytes | None, path: str) -> Response:
    if body is None:
        raise HTTPException(404, f"There is no {path}.")
    return Response(body, media_type="application/json")


def router(service: Service, prefix: str) -> APIRouter:
    """Return the routes of all endpoints."""
    # the prefix belongs to the router, since metrics name routes by the router's paths
    routes = APIRouter(tags=["lake"], prefix=prefix)
    for resource in RESOURCES:
        _offer(routes, service, resource)
    _offer_joined(routes, service)
    return routes


def _page_of(service: Service) -> Callable[[int, int], tuple[int, int]]:
    most = service.settings.limit

    def page(offset: int, limit: int) -> tuple[int, int]:
        """Return the effective offset and limit, so that equal pages have the same cache key."""
        return min(max(offset, 0), _LARGEST_OFFSET), limit if 1 <= limit <= most else most

    return page


def _is_kept(service: Service, offset: int) -> bool:
    return offset < _KEPT_PAGES * service.settings.limit


def _offer(routes: APIRouter, service: Service, resource: Resource) -> None:
    """Add the two routes of a table: its pages, and a row by key."""
    model, path, tables = resource.model, resource.path, (resource.table,)
    page_of, answers, lake = _page_of(service), service.answers, service.repository

    async def page(limit: Limit = 25, offset: Offset = 0) -> Response:
        window = page_of(offset, limit)
        found = await answers.find(
            path, window, tables, partial(lake.page, resource, *window),
            kept=_is_kept(service, window[0]),
        )  # fmt: skip
        return _json(found, path)

    async def one(id_: Key) -> Response:
        found = await answers.find(
            f"{path}/id", (id_,), tables, partial(lake.one, resource, id_)
        )  # fmt: skip
        return _json(found, f"{path}/{id_}")

    routes.add_api_route(
        f"/{path}", page, response_model=list[model], responses=_LISTS,  # type: ignore[valid-type]
        operation_id=path, summary=f"{path.capitalize()}, by id",
    )  # fmt: skip
    routes.add_api_route(
        f"/{path}/{{id}}", one, response_model=model, responses=_ROWS,
        operation_id=f"{path}ById", summary=f"One of {path}",
    )  # fmt: skip


def _offer_joined(routes: APIRouter, service: Service) -> None:
    """Add the routes that use the view, the prepared statement and the named query."""
    page_of, answers, lake = _page_of(service), service.answers, service.repository

    @routes.get(
        "/salesbycategory", response_model=list[SalesByCategory], responses=_LISTS,
        operation_id="salesByCategory", summary="Sales by day and category, from a view",
    )  # fmt: skip
    async def by_category(day: Day = None, limit: Limit = 25, offset: Offset = 0) -> Response:
        window = page_of(offset, limit)
        found = await answers.find(
            "salesbycategory", (day or "", *window), ("sale", "event", "date", "category"),
            partial(lake.sales_by_category, day, *window), kept=_is_kept(service, window[0]),
        )  # fmt: skip
        return _json(found, "salesbycategory")

    @routes.get(
        "/salesbyseller/{id}", response_model=list[SaleBySeller], responses=_ROWS,
        operation_id="salesBySeller", summary="Sales of one seller, by a prepared statement",
    )  # fmt: skip
    async def by_seller(id_: Key) -> Response:
        found = await answers.find(
            "salesbyseller", (id_,), ("sale", "event", "date", "category", "user"),
            lambda: lake.sales_by_seller(id_) or None,
        )  # fmt: skip
        return _json(found, f"salesbyseller/{id_}")

    @routes.get(
        "/buyerlikes", response_model=list[BuyerLikes], responses=_LISTS,
        operation_id="buyerLikes", summary="How many buyers like what, by a named query",
    )  # fmt: skip
    async def likes() -> Response:
        found = await answers.find("buyerlikes", (), ("user", "sale"), lake.buyer_likes)
        return _json(found, "buyerlikes")
