"""Every endpoint, row for row what the lake holds."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeapi.statements import RESOURCES, Resource
from tests.integration.lakeapi.conftest import Api

Rows = dict[str, pa.Table]
CENT = Decimal("0.01")
few = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def shown(value: Any) -> Any:
    """A value of the lake as the JSON reader of these tests gives it."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return value.isoformat() if isinstance(value, date) else value


def expected(resource: Resource, rows: Rows) -> list[dict[str, Any]]:
    """All rows of a table as objects, by key."""
    fields = [field.alias or name for name, field in resource.model.model_fields.items()]
    table = rows[resource.table].sort_by(resource.columns[0]).to_pylist()
    return [
        {name: shown(row[column]) for name, column in zip(fields, resource.columns, strict=True)}
        for row in table
    ]


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda one: one.path)
def test_a_table_is_read_in_pages(resource: Resource, api: Api, rows: Rows) -> None:
    table = expected(resource, rows)
    assert api.json(f"/{resource.path}") == table[:25]
    end = len(table) - 3
    last = api.json(f"/{resource.path}", offset=end, limit=25)
    assert last == table[end:]
    assert api.json(f"/{resource.path}", offset=len(table)) == []


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda one: one.path)
def test_a_row_is_found_by_its_key(resource: Resource, api: Api, rows: Rows) -> None:
    for row in expected(resource, rows)[:3]:
        assert api.json(f"/{resource.path}/{row['id']}") == row
    answer = api.get(f"/{resource.path}/1234567890")
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"


@given(limit=st.integers(), offset=st.integers())
@few
def test_whatever_page_is_asked_for(limit: int, offset: int, api: Api, rows: Rows) -> None:
    users = expected(next(r for r in RESOURCES if r.path == "users"), rows)
    start = max(offset, 0)
    count = limit if 1 <= limit <= 25 else 25
    assert api.json("/users", limit=limit, offset=offset) == users[start : start + count]


def amount(sale: dict[str, Any]) -> Decimal:
    return Decimal(sale["pricepaid"] * sale["qtysold"]).quantize(CENT)


def by_id(rows: Rows, table: str) -> dict[int, dict[str, Any]]:
    found = rows[table]
    return {row[found.column_names[0]]: row for row in found.to_pylist()}


def categories_of_sales(rows: Rows) -> list[dict[str, Any]]:
    """The view, made here."""
    events, dates, categories = (by_id(rows, name) for name in ("event", "date", "category"))
    amounts: dict[Any, Decimal] = defaultdict(Decimal)
    commissions: dict[Any, Decimal] = defaultdict(Decimal)
    for sale in rows["sale"].to_pylist():
        if sale["dateid"] not in dates:
            continue
        category = categories[events[sale["eventid"]]["catid"]]
        day = dates[sale["dateid"]]["caldate"]
        key = (day.isoformat(), category["catgroup"], category["catname"])
        amounts[key] += amount(sale)
        commissions[key] += sale["commission"]
    names = ("calendarDate", "categoryGroup", "categoryName")
    return [
        dict(zip(names, key, strict=True))
        | {"saleAmount": str(amounts[key]), "commission": str(commissions[key])}
        for key in sorted(amounts)
    ]


def test_sales_by_category(api: Api, rows: Rows) -> None:
    view = categories_of_sales(rows)
    assert api.json("/salesbycategory") == view[:25]
    assert api.json("/salesbycategory", offset=30, limit=7) == view[30:37]
    day = view[40]["calendarDate"]
    assert api.json("/salesbycategory", date=day) == [r for r in view if r["calendarDate"] == day]
    assert api.json("/salesbycategory", date="1999-12-31") == []


def test_sales_by_seller(api: Api, rows: Rows) -> None:
    events, dates, categories, users = (
        by_id(rows, name) for name in ("event", "date", "category", "user")
    )
    sales: dict[int, list[Any]] = defaultdict(list)
    for sale in rows["sale"].to_pylist():
        sales[sale["sellerid"]].append(sale)

    def name(id_: int) -> str | None:
        found = users.get(id_)
        return f"{found['firstname']} {found['lastname']}" if found else None

    def shown_sale(sale: dict[str, Any]) -> dict[str, Any]:
        event, day = events.get(sale["eventid"], {}), dates.get(sale["dateid"], {})
        category = categories.get(event.get("catid", 0), {})
        total, commission = amount(sale), sale["commission"]
        percent = (commission * 100 / total).quantize(CENT, ROUND_HALF_UP) if total else None
        return {
            "calDate": shown(day.get("caldate")), "pricePaid": shown(sale["pricepaid"]),
            "qtySold": sale["qtysold"], "saleAmount": shown(total),
            "commission": shown(commission), "commissionPrcnt": shown(percent),
            "eventName": event.get("eventname"), "seller": name(sale["sellerid"]),
            "buyer": name(sale["buyerid"]), "catGroup": category.get("catgroup"),
            "catName": category.get("catname"),
        }  # fmt: skip

    for seller in [*list(sales)[:5], rows["sale"].to_pylist()[-1]["sellerid"]]:
        mine = sorted(sales[seller], key=lambda s: s["salesid"])
        # what is not known comes last
        mine.sort(
            key=lambda s: (s["dateid"] not in dates, s["dateid"],
                           events.get(s["eventid"], {"eventname": ""})["eventname"])
        )  # fmt: skip
        assert api.json(f"/salesbyseller/{seller}") == [shown_sale(sale) for sale in mine]
    assert api.get("/salesbyseller/2000000").status_code == 404


def test_buyer_likes(api: Api, rows: Rows) -> None:
    buyers = set(rows["sale"].column("buyerid").to_pylist())
    users = [row for row in rows["user"].to_pylist() if row["userid"] in buyers]
    things = [name for name in rows["user"].column_names if name.startswith("like")]
    assert len(things) == 10
    counts = {name.removeprefix("like"): sum(bool(u[name]) for u in users) for name in things}
    assert api.json("/buyerlikes") == [counts]


ATTACKS = (
    "1 OR 1=1", "1; DROP TABLE users", "1'--", "' OR ''='", "1 UNION SELECT 1", "1/**/", "0x1",
    "NULL", "?", "1)", '1"', "\uff11' OR '1'='1", "%27%20OR%201=1", "2008-01-01' OR '1'='1",
    "1_0", "1.0", "+1", " 1", "1e3", "2008-13-01", "2008-02-30",
    "2008-01-01'; DROP VIEW tickit_sales_by_day_and_category; --",
)  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_parameter_is_a_way_into_sql(attack: str, api: Api) -> None:
    """Each parameter of each endpoint is refused before anything is asked of Athena."""
    before = api.queries()
    lists = [f"/{resource.path}" for resource in RESOURCES] + ["/salesbycategory"]
    asked = [api.get(path, params={name: attack}) for path in lists for name in ("limit", "offset")]
    asked += [
        api.get("/salesbycategory", params={"date": day}) for day in (attack, "0", "20080101")
    ]
    keys = [f"/{resource.path}/{{}}" for resource in RESOURCES] + ["/salesbyseller/{}"]
    quoted = attack.replace("/", "%2F").replace("?", "%3F")
    asked += [api.get(path.format(quoted)) for path in keys]
    # a key with a slash is another path
    assert {answer.status_code for answer in asked} <= {422, 404}
    assert all(answer.json()["status"] == answer.status_code for answer in asked)
    assert api.queries() == before


def test_integers_at_their_ends(api: Api) -> None:
    for id_ in (-(2**31), -1, 0, 2**31 - 1):
        assert api.get(f"/sales/{id_}").status_code == 404
    for id_ in (-(2**31) - 1, 2**31, 10**30):
        assert api.get(f"/sales/{id_}").status_code == 422
    assert api.json("/sales", offset=10**30) == []
    assert len(api.json("/sales", offset=-(10**30), limit=10**30)) == 25
