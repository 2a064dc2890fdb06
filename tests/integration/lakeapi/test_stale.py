"""Answers whose time is over: given for a while longer, and renewed by one request."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pyarrow as pa
import pytest

from tests.integration.lakeapi.conftest import Athena, CacheServer, Lake, Serve
from tests.integration.lakeapi.test_cache import called, changed
from tests.integration.sqlserver.conftest import eventually

pytestmark = pytest.mark.long

STALE = {"cache_mode": "ttl", "cache_seconds": 300, "cache_stale_seconds": 60}
KEY = "lakeapi:categories/id:1"


def outlive(cache: CacheServer) -> None:
    """The answer's time to live is over, and it may still be given for 30 seconds."""
    assert cache.client.pexpire(KEY, 30_000)


@pytest.fixture
def new(lake: Lake, rows: dict[str, pa.Table]) -> Iterator[str]:
    """A name that the first category gets; it has its old one afterwards."""
    yield "renewed"
    lake.write("category", rows["category"])


def test_what_outlived_its_time_is_given_while_it_is_renewed(
    serve: Serve, cache: CacheServer, lake: Lake, rows: dict[str, pa.Table], new: str
) -> None:
    with serve(**STALE) as api:
        api.wait()
        old = api.json("/categories/1")["name"]
        assert 300 < cache.client.ttl(KEY) <= 360
        lake.write("category", changed(rows["category"], new))
        before = api.queries()
        assert called(api, old), "its time is not over"
        assert api.cached("categories/id", "stale") == 0
        outlive(cache)
        assert called(api, old), "nobody waits for the new one"
        assert api.cached("categories/id", "stale") == 1
        eventually(lambda: called(api, new), "it is renewed")
        assert api.queries() == before + 1
        assert cache.client.ttl(KEY) > 300
        # who asked for it is counted, not who renewed it
        assert api.cached("categories/id", "miss") == 1


def test_one_request_of_all_workers_renews_it(
    serve: Serve, cache: CacheServer, lake: Lake, rows: dict[str, pa.Table], new: str
) -> None:
    with serve(**STALE) as one, serve(**STALE) as other, ThreadPoolExecutor(50) as pool:
        for api in (one, other):
            api.wait()
        old = one.json("/categories/1")["name"]
        lake.write("category", changed(rows["category"], new))
        before = one.queries() + other.queries()
        outlive(cache)
        asked = [pool.submit(api.json, "/categories/1") for api in (one, other) * 25]
        assert {answer.result()["name"] for answer in asked} <= {old, new}
        eventually(partial(called, one, new), "it is renewed")
        assert one.queries() + other.queries() == before + 1
        stale = [api.cached("categories/id", "stale") for api in (one, other)]
        assert sum(stale) >= 1


def test_while_the_lake_is_away_it_is_given_on(
    serve: Serve,
    cache: CacheServer,
    athena: Athena,
    lake: Lake,
    rows: dict[str, pa.Table],
    new: str,
) -> None:
    with serve(**STALE, attempts=1) as api:
        api.wait()
        old = api.json("/categories/1")["name"]
        athena.stop()
        try:
            lake.write("category", changed(rows["category"], new))
            outlive(cache)
            assert [api.json("/categories/1")["name"] for _ in range(5)] == [old] * 5
            assert api.get("/categories/2").status_code == 503
        finally:
            athena.start()
        eventually(partial(called, api, new), "it is renewed once the lake is back")
        assert api.cached("categories/id", "stale") >= 5


def test_that_there_is_no_row_is_renewed_too(serve: Serve, cache: CacheServer) -> None:
    key = "lakeapi:categories/id:1000000"
    with serve(**STALE) as api:
        api.wait()
        assert api.get("/categories/1000000").status_code == 404
        before = api.queries()
        cache.client.pexpire(key, 30_000)
        assert api.get("/categories/1000000").status_code == 404
        eventually(lambda: cache.client.ttl(key) > 300, "it is renewed")
        assert api.queries() == before + 1
