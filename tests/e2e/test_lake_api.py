"""The lake API over the whole lab: what it answers is what the source databases have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import requests

from labctl.datasets import FollowedRow
from labctl.errors import ExitCode
from labctl.lab.catalog.lake_api_switch import api_of
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.starting import wait_until_usable
from labctl.latency.api_load import all_endpoints
from labctl.services.cache_service import SERVICE as CACHE
from labctl.sources import Source, TableRef
from labctl.testing.eventually import Eventually
from labctl.testing.lab_faults import Faults
from lakeapi.statements import RESOURCES, Resource
from seeds.tickit import DATA_SET
from tests.e2e.conftest import Labctl
from tests.e2e.other_settings import other_settings

PAGE = 25
REQUEST_SECONDS = 60
KILLS, CLIENTS, ANSWERS = 3, 4, 20
LIKES = (
    *("sports", "theatre", "concerts", "jazz", "classical", "opera", "rock", "vegas"),
    *("broadway", "musicals"),
)

Sources = Callable[[str], Source]
Row = dict[str, Any]


class Api:
    """The lab's API, as a client asks it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._session = requests.Session()

    def get(self, path: str) -> requests.Response:
        return self._session.get(f"{self.url}/v1{path}", timeout=REQUEST_SECONDS)

    def json(self, path: str) -> Any:
        """What is answered, numbers with all their digits. AssertionError for an error."""
        answer = self.get(path)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
        return json.loads(answer.text, parse_float=Decimal)

    def counted(self, endpoint: str, result: str) -> float:
        """How often the cache was asked for an endpoint with that result."""
        name = f'lakeapi_cache_requests_total{{endpoint="{endpoint}",result="{result}"}} '
        lines = self.get("/metrics").text.splitlines()
        return sum(float(line.removeprefix(name)) for line in lines if line.startswith(name))

    def close(self) -> None:
        self._session.close()


@pytest.fixture
def api(lab: Lab, eventually: Eventually) -> Iterator[Api]:
    """Once all that it needs is there."""
    api = Api(api_of(lab).url)
    eventually(lambda: api.get("/health").json()["status"] == "UP")
    eventually(lambda: api.get("/buyerlikes").status_code == 200)
    yield api
    api.close()


def plain(value: object) -> object:
    """A value of a database as the API's JSON has it."""
    return value.isoformat() if isinstance(value, date) else value


def of_source(
    lab: Lab, source: Sources, table: str, columns: tuple[str, ...], where: str
) -> list[Row]:
    """Rows of a table in its database, by the names of its columns."""
    found = lab.table(table)
    database = source(found.source)
    names = ", ".join(map(database.quote, columns))
    place = database.qualified(TableRef(found.db_schema, found.source_name))
    rows = database.execute(f"SELECT {names} FROM {place} WHERE {where}")
    return [dict(zip(columns, map(plain, row), strict=True)) for row in rows]


def keys(values: Iterable[int]) -> str:
    """For `IN`: numbers, of which there are some."""
    return f"({', '.join(map(str, values))})"


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda one: one.path)
def test_a_list_and_its_rows_are_those_of_the_source(
    resource: Resource, lab: Lab, api: Api, source: Sources, eventually: Eventually
) -> None:
    fields = [field.alias for field in resource.model.model_fields.values()]
    key = resource.columns[0]

    def equal() -> bool:
        page = api.json(f"/{resource.path}")
        assert page
        where = f"{key} <= {page[-1]['id']}"
        rows = of_source(lab, source, resource.table, resource.columns, where)
        expected = [
            dict(zip(fields, row.values(), strict=True))
            for row in sorted(rows, key=lambda row: row[key])
        ]
        assert page == expected[:PAGE]
        assert api.json(f"/{resource.path}/{page[-1]['id']}") == page[-1]
        return True

    eventually(equal)
    assert api.get(f"/{resource.path}/2000000000").status_code == 404


def product(one: Decimal | None, other: int | None) -> Decimal | None:
    """As SQL has it: of a null there is none."""
    return None if one is None or other is None else one * other


def total(values: Iterable[Decimal | None]) -> Decimal | None:
    """As SQL has it: nulls, which other tests write, are left out."""
    there = [value for value in values if value is not None]
    return sum(there, Decimal(0)) if there else None


def test_the_view_sums_a_days_sales(
    lab: Lab, api: Api, source: Sources, eventually: Eventually
) -> None:
    """From two databases, which nobody but the lake can join."""

    def equal() -> bool:
        day = api.json("/salesbycategory?limit=1")[0]["calendarDate"]
        (one_day,) = of_source(lab, source, "date", ("dateid",), f"caldate = '{day}'")
        columns = ("eventid", "pricepaid", "qtysold", "commission")
        sales = of_source(lab, source, "sale", columns, f"dateid = {one_day['dateid']}")
        where = f"eventid IN {keys({sale['eventid'] for sale in sales})}"
        events = of_source(lab, source, "event", ("eventid", "catid"), where)
        category_of = {event["eventid"]: event["catid"] for event in events}
        categories = of_source(lab, source, "category", ("catid", "catname"), "catid > 0")
        name_of = {one["catid"]: one["catname"] for one in categories}
        by_name: dict[str | None, list[Mapping[str, Any]]] = {}
        for sale in sales:
            by_name.setdefault(name_of.get(category_of.get(sale["eventid"])), []).append(sale)
        sums = {
            name: [
                total(product(sale["pricepaid"], sale["qtysold"]) for sale in group),
                total(sale["commission"] for sale in group),
            ]
            for name, group in by_name.items()
        }
        found = api.json(f"/salesbycategory?date={day}")
        assert {
            row["categoryName"]: [row["saleAmount"], row["commission"]] for row in found
        } == sums
        return True

    eventually(equal)


def test_the_prepared_statement_has_all_sales_of_a_seller(
    lab: Lab, api: Api, source: Sources, eventually: Eventually
) -> None:
    columns = ("pricepaid", "qtysold", "commission")

    def equal() -> bool:
        seller = api.json("/sales?limit=1")[0]["sellerId"]
        sales = of_source(lab, source, "sale", columns, f"sellerid = {seller}")
        (user,) = of_source(lab, source, "user", ("firstname", "lastname"), f"userid = {seller}")
        found = api.json(f"/salesbyseller/{seller}")
        shown = [(row["pricePaid"], row["qtySold"], row["commission"]) for row in found]
        assert sorted(shown) == sorted(tuple(sale.values()) for sale in sales)
        assert {row["seller"] for row in found} == {f"{user['firstname']} {user['lastname']}"}
        return True

    eventually(equal)


def test_the_named_query_counts_what_buyers_like(
    lab: Lab, api: Api, source: Sources, eventually: Eventually
) -> None:
    columns = ("userid", *(f"like{thing}" for thing in LIKES))

    def equal() -> bool:
        sales = of_source(lab, source, "sale", ("buyerid",), "buyerid IS NOT NULL")
        buyers = {sale["buyerid"] for sale in sales}
        users = of_source(lab, source, "user", columns, "userid > 0")
        bought = [user for user in users if user["userid"] in buyers]
        expected = {thing: sum(bool(one[f"like{thing}"]) for one in bought) for thing in LIKES}
        assert api.json("/buyerlikes") == [expected]
        return True

    eventually(equal)


@pytest.fixture
def sale() -> FollowedRow:
    found = DATA_SET.followed
    assert found is not None
    return found


def change(source: Sources, sale: FollowedRow) -> Decimal:
    """Change the sale's price in MySQL; what it is now."""
    database, key = source("mysql"), (sale.value,)
    ((before,),) = database.execute("SELECT pricepaid FROM ecomm.sale WHERE salesid = %s", key)
    after = sale.next(before)
    database.affect("UPDATE ecomm.sale SET pricepaid = %s WHERE salesid = %s", (after, *key))
    return Decimal(after)


def shows(api: Api, sale: FollowedRow, price: Decimal) -> bool:
    return bool(api.json(f"/sales/{sale.value}")["pricePaid"] == price)


def followed(sale: FollowedRow) -> tuple[str, Mapping[str, object]]:
    return (sale.table, {sale.key: sale.value})


@pytest.mark.long
def test_a_changed_sale_is_seen_through_the_cache(
    api: Api, source: Sources, sale: FollowedRow, eventually: Eventually
) -> None:
    path = f"/sales/{sale.value}"

    def kept() -> bool:
        """Return whether the answer comes from the cache."""
        hits = api.counted("sales/id", "hit")
        api.json(path)
        return api.counted("sales/id", "hit") > hits

    for _ in range(3):
        eventually(kept)
        price = change(source, sale)
        eventually(partial(shows, api, sale, price), row=followed(sale))
        # and never again as it was, though that answer has time to live left
        assert [shows(api, sale, price) for _ in range(20)] == [True] * 20


@pytest.mark.long
def test_a_row_that_was_not_there_is_seen_when_it_is(
    api: Api, source: Sources, new_key: Callable[[], int], eventually: Eventually
) -> None:
    key = new_key()
    path = f"/events/{key}"
    assert [api.get(path).status_code for _ in range(3)] == [404] * 3
    database = source("postgres")
    database.execute(f"INSERT INTO ems.event VALUES ({key}, 1, 1, 1, 'née ☃', NULL)")
    row = ("event", {"eventid": key})
    eventually(lambda: api.get(path).status_code == 200, row=row)
    assert api.json(path)["name"] == "née ☃"
    database.execute(f"DELETE FROM ems.event WHERE eventid = {key}")
    eventually(lambda: api.get(path).status_code == 404, row=row)


@contextmanager
def without_cache(lab: Lab) -> Iterator[None]:
    """The cache is away, and nobody starts it again."""
    lab.runtime.stop(CACHE.name)
    try:
        yield
    finally:
        lab.runtime.start(CACHE, lab.context(CACHE))
        wait_until_usable(lab, CACHE)


@pytest.mark.long
def test_without_its_cache_it_answers_from_the_lake(
    lab: Lab, api: Api, source: Sources, sale: FollowedRow, eventually: Eventually
) -> None:
    paths = all_endpoints(api.url)
    assert len(paths) == 17
    with without_cache(lab):
        assert {api.get(path).status_code for path in paths} == {200}
        health = api.get("/health")
        assert (health.status_code, health.json()["status"]) == (200, "DEGRADED")
        price = change(source, sale)
        eventually(partial(shows, api, sale, price), row=followed(sale))
    eventually(lambda: api.get("/health").json()["status"] == "UP")
    hits = api.counted("categories", "hit")

    def hit() -> bool:
        api.json("/categories")
        return api.counted("categories", "hit") > hits

    eventually(hit)


@pytest.mark.long
def test_a_cache_that_is_killed_is_no_error(api: Api, faults: Faults) -> None:
    faults.kill("cache")
    assert {api.get("/venues").status_code for _ in range(50)} == {200}


def with_two_containers(lab_toml: str) -> str:
    return lab_toml.replace("[api]\n", "[api]\nreplicas = 2\n", 1)


@pytest.mark.long
def test_one_of_two_containers_is_killed_and_only_what_it_was_sending_is_cut_off(
    lab: Lab,
    lab_project: Path,
    api: Api,
    faults: Faults,
    eventually: Eventually,
    request: pytest.FixtureRequest,
) -> None:
    if request.config.getoption("--lab-runtime") != "compose":
        pytest.skip("natively it is one service, of several processes")
    ended = Event()
    statuses: list[int | None] = []

    def ask() -> None:
        session = requests.Session()
        while not ended.is_set():
            try:
                answer = session.get(f"{api.url}/v1/venues", timeout=REQUEST_SECONDS)
            except requests.RequestException:
                statuses.append(None)
            else:
                statuses.append(answer.status_code)

    def is_back(deaths: int, answered: int) -> bool:
        """Return whether the killed one runs again, and requests were answered meanwhile."""
        counted = len(lab.runtime.inspector.deaths().get("api", ()))
        runs = counted > deaths and lab.runtime.states()["api"].running
        return runs and len(statuses) >= answered + ANSWERS

    with (
        other_settings(lab, lab_project, with_two_containers, request.config),
        ThreadPoolExecutor(CLIENTS) as pool,
    ):
        clients = [pool.submit(ask) for _ in range(CLIENTS)]
        try:
            for _ in range(KILLS):
                deaths, answered = len(lab.runtime.inspector.deaths().get("api", ())), len(statuses)
                faults.kill("api")
                eventually(partial(is_back, deaths, answered))
        finally:
            ended.set()
        for client in clients:
            client.result()
    assert set(statuses) <= {200, None}
    assert statuses.count(None) <= KILLS * CLIENTS


@pytest.fixture
def command(labctl: Labctl, lab: Lab) -> Labctl:
    """`labctl tools api …` for this lab."""
    return lambda *words: labctl("tools", "api", *words, "--lab", lab.name)


@pytest.mark.long
def test_the_command_line_sees_what_is_kept(api: Api, command: Labctl) -> None:
    assert command("cache", "clear").returncode == 0
    for _ in range(3):
        api.json("/categories/1")
    kept = json.loads(command("cache", "keys", "-o", "json").stdout)["keys"]
    (one,) = [answer for answer in kept if "categories/id" in answer["key"]]
    assert 0 < one["seconds_left"] <= 60
    counted = json.loads(command("cache", "stats", "-o", "json").stdout)
    assert counted["keys"] >= 1
    assert counted["endpoints"]["categories/id"]["hit"] >= 2
    dropped = json.loads(command("cache", "clear", "-o", "json").stdout)["dropped"]
    assert dropped >= 1


@pytest.mark.long
def test_the_command_line_watches_the_cache(
    api: Api, command: Labctl, eventually: Eventually
) -> None:
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(command, "cache", "monitor", "--count", "20", "-o", "json")

        def ended() -> bool:
            api.json("/categories/2")
            return running.done()

        eventually(ended)
        lines = running.result().stdout.splitlines()
    assert len(lines) == 20
    assert any("GET lakeapi:categories/id:2@" in json.loads(line)["text"] for line in lines)


@pytest.mark.long
def test_the_command_line_measures_it(api: Api, command: Labctl) -> None:
    done = command("load", "-n", "100", "-c", "10", "-o", "json")
    assert done.returncode == 0, done.stderr
    cold, warm = json.loads(done.stdout)["rounds"]
    assert (cold["name"], warm["name"]) == ("cold", "warm")
    assert cold["percentiles"]["count"] == warm["percentiles"]["count"] == 100
    mixed = json.loads(command("load", "--mix", "-n", "34", "-c", "4", "-o", "json").stdout)
    assert len(mixed["paths"]) == 17
    assert [one["requests"] for one in mixed["rounds"]] == [17, 17, 34, 34]
    assert [one["errors"] for one in mixed["rounds"]] == [0] * 4


@pytest.mark.long
def test_it_is_started_again_without_harm_and_the_demonstration_runs(
    api: Api, command: Labctl
) -> None:
    again = command("up", "-o", "json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["url"] == api.url
    status = command("status", "-o", "json")
    assert status.returncode == 0, status.stderr
    told = json.loads(status.stdout)
    assert (told["health"], told["cached"]) == ("UP", True)
    shown = command("demo", "-o", "json")
    assert shown.returncode == 0, shown.stderr
    changed = json.loads(shown.stdout)["change"]
    assert changed["path"] == "/v1/sales/200"
    assert Decimal(str(changed["after"])) == Decimal(str(changed["before"])) + Decimal("0.01")
    assert command("load", "--path", "/nothing", "-n", "1").returncode == ExitCode.FAILED
