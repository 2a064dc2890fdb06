"""The cache: what is kept, for whom, how long, and what happens without it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import boto3
import pyarrow as pa
import pytest

from tests.integration.lakeapi.conftest import (
    BUCKET,
    DATABASE,
    NAMES,
    Api,
    Athena,
    CacheServer,
    Lake,
    Serve,
)
from tests.integration.sqlserver.conftest import eventually

pytestmark = pytest.mark.long

ALL = (
    "/categories", "/categories/1", "/dates", "/dates/1827", "/events", "/events/1", "/listings",
    "/listings/1", "/sales", "/sales/1", "/users", "/users/1", "/venues", "/venues/1",
    "/salesbycategory", "/salesbyseller/{seller}", "/buyerlikes",
)  # fmt: skip


@pytest.fixture
def paths(rows: dict[str, pa.Table]) -> list[str]:
    """All 17."""
    seller = rows["sale"].column("sellerid")[0].as_py()
    return [path.format(seller=seller) for path in ALL]


@pytest.mark.parametrize("mode", ["commit", "ttl"])
def test_each_answer_is_asked_for_once(
    mode: str, serve: Serve, cache: CacheServer, api: Api, paths: list[str]
) -> None:
    with serve(cache_mode=mode) as cached:
        cached.wait()
        cache.client.flushall()
        assert cache.keys() == []
        before = cached.queries()
        first = [cached.get(path).content for path in paths]
        assert cached.queries() == before + 17
        assert len(cache.keys()) == 17
        again = [cached.get(path).content for path in paths]
        assert cached.queries() == before + 17
        assert first == again == [api.get(path).content for path in paths]
        for endpoint in ("users", "users/id", "salesbyseller", "salesbycategory"):
            assert (cached.cached(endpoint, "miss"), cached.cached(endpoint, "hit")) == (1, 1)


def test_a_row_that_is_not_there_is_kept_as_such(serve: Serve, cache: CacheServer) -> None:
    with serve() as cached:
        cached.wait()
        before = cached.queries()
        for _ in range(3):
            assert cached.get("/users/1000000").status_code == 404
            assert cached.get("/salesbyseller/1000000").status_code == 404
        assert cached.queries() == before + 2


def test_pages_far_from_the_start_are_not_kept(serve: Serve, cache: CacheServer) -> None:
    """Their numbers have no end: one client could fill the cache with them."""
    with serve() as cached:
        cached.wait()
        cache.client.flushall()
        for offset in (10_000, 10_001, 10**12, 2**63 - 1, 10**30):
            for path in ("/users", "/salesbycategory"):
                assert cached.json(path, offset=offset) == []
        assert cache.keys() == []
        assert cached.cached("users", "miss") == 5
        assert cached.json("/users", offset=9_999) == []
        assert len(cache.keys()) == 1


def test_equal_requests_are_one_query(serve: Serve, cache: CacheServer) -> None:
    """Of one worker, and of two."""
    with serve() as one, serve() as other, ThreadPoolExecutor(50) as pool:
        for api in (one, other):
            api.wait()
        before = one.queries() + other.queries()
        asked = [
            pool.submit(api.get, "/listings", params={"offset": 7}) for api in (one, other) * 25
        ]
        answers = {answer.result().content for answer in asked}
        assert len(answers) == 1
        assert one.queries() + other.queries() == before + 1


def test_time_to_live_is_by_environment(serve: Serve, cache: CacheServer) -> None:
    for environment, seconds in (("dev", 60), ("prod", 300)):
        cache.client.flushall()
        with serve(environment=environment) as cached:
            cached.json("/categories")
            (key,) = cache.keys()
            assert seconds - 10 < cache.client.ttl(key) <= seconds


def changed(rows: pa.Table, name: str) -> pa.Table:
    """The categories with another name of the first."""
    names = [name, *rows.column("catname").to_pylist()[1:]]
    return rows.set_column(2, rows.schema.field("catname"), [names])


def called(api: Api, name: str) -> bool:
    return bool(api.json("/categories/1")["name"] == name)


def test_a_change_is_seen_at_once(
    serve: Serve, cache: CacheServer, lake: Lake, rows: dict[str, pa.Table]
) -> None:
    """In mode `commit`, though the time to live is long; what did not change stays kept."""
    with serve(environment="prod") as cached:
        cached.wait()
        cached.json("/venues")
        before = cached.queries()
        try:
            for number in range(5):
                lake.write("category", changed(rows["category"], f"new-{number}"))
                eventually(partial(called, cached, f"new-{number}"), "the change is seen")
                # within the time that a table's commit is believed, and never back
                assert called(cached, f"new-{number}")
        finally:
            lake.write("category", rows["category"])
        # one query for each commit: what the catalog says between them is the same
        assert before + 5 <= cached.queries() <= before + 6
        cached.json("/venues")
        assert cached.cached("venues", "hit") == 1


def test_a_change_beneath_a_view_is_seen_too(
    serve: Serve, cache: CacheServer, lake: Lake, rows: dict[str, pa.Table]
) -> None:
    boto3.client("athena").start_query_execution(
        QueryString=f"CREATE VIEW categories AS SELECT * FROM {NAMES.category}",
        QueryExecutionContext={"Database": DATABASE},
        ResultConfiguration={"OutputLocation": f"s3://{BUCKET}/results/"},
    )
    with serve(environment="prod", tables={"category": "categories"}) as cached:
        eventually(lambda: cached.get("/categories/1").status_code == 200, "the view is there")
        try:
            lake.write("category", changed(rows["category"], "beneath"))
            eventually(partial(called, cached, "beneath"), "the change is seen")
        finally:
            lake.write("category", rows["category"])


def test_by_time_to_live_a_change_is_seen_late(
    serve: Serve, cache: CacheServer, lake: Lake, rows: dict[str, pa.Table]
) -> None:
    with serve(cache_mode="ttl", cache_seconds=2) as cached:
        old = cached.json("/categories/1")["name"]
        written = time.monotonic()
        try:
            lake.write("category", changed(rows["category"], "late"))
            names = []
            while time.monotonic() < written + 1:
                names.append(cached.json("/categories/1")["name"])
            assert set(names) == {old}
            eventually(partial(called, cached, "late"), "the change is seen")
        finally:
            lake.write("category", rows["category"])


def test_without_redis_answers_are_the_lakes(serve: Serve, cache: CacheServer, api: Api) -> None:
    with serve() as cached:
        cached.wait()
        first = cached.json("/users", limit=3)
        assert cached.metric("lakeapi_cache_up") == 1
        cache.kill()
        try:
            for _ in range(3):
                assert cached.json("/users", limit=3) == first
            assert cached.cached("users", "bypassed") == 3
            assert cached.metric("lakeapi_cache_up") == 0
            assert cached.metric("lakeapi_cache_errors_total") >= 1
            health = cached.get("/health")
            assert health.status_code == 200
            assert health.json()["status"] == "DEGRADED"
            assert health.json()["components"]["redis"] == {"status": "DOWN"}
        finally:
            cache.start()

        def hit() -> bool:
            cached.json("/users", limit=3)
            return bool(cached.cached("users", "hit") > 0)

        eventually(hit, "the cache is used again")
        assert cached.metric("lakeapi_cache_up") == 1
        assert cached.get("/health").json()["status"] == "UP"


def test_the_lake_restarted_under_load_is_no_error_of_the_service(
    serve: Serve, cache: CacheServer, athena: Athena
) -> None:
    """Only 200, and 503 that says when to ask again; and it comes back by itself."""
    with serve(attempts=2) as cached, ThreadPoolExecutor(8) as pool:
        cached.wait()
        stop, seen = [False], []

        def ask(number: int) -> None:
            while not stop[0]:
                answer: Any = cached.get("/sales", params={"offset": number})
                seen.append(answer)
                number += 8

        asking = [pool.submit(ask, number) for number in range(8)]
        try:
            eventually(lambda: len(seen) > 20, "there is load")
            athena.stop()
            eventually(lambda: any(a.status_code == 503 for a in seen), "it is refused")
            assert cached.get("/health/readiness").status_code == 503
            assert cached.get("/health/liveness").status_code == 200
        finally:
            athena.start()
            count = len(seen)
            eventually(lambda: any(a.status_code == 200 for a in seen[count:]), "it is back")
            stop[0] = True
        for one in asking:
            one.result()
        refused = [answer for answer in seen if answer.status_code != 200]
        assert {answer.status_code for answer in refused} == {503}
        assert all(int(answer.headers["Retry-After"]) > 0 for answer in refused)
        assert all(answer.json()["title"] == "Service Unavailable" for answer in refused)
