"""`labctl tools api load` measures what the service does."""

from __future__ import annotations

import pytest

from labctl.errors import ExitCode, LabError
from labctl.latency.api_load import all_endpoints, load
from tests.integration.lakeapi.conftest import Api, CacheServer, Serve
from tests.ports import free_port

pytestmark = pytest.mark.long


def test_every_endpoint_is_found_by_the_document_and_answers(api: Api) -> None:
    paths = all_endpoints(api.url)
    assert len(paths) == len({path.split("/")[1] + "/id" * path.count("/") for path in paths}) == 17
    assert {api.get(path).status_code for path in paths} == {200}


def test_requests_are_counted_by_the_service_as_here(serve: Serve, cache: CacheServer) -> None:
    with serve() as cached:
        cached.wait()
        cache.client.flushall()
        before = {result: cached.cached("users", result) for result in ("hit", "miss", "coalesced")}
        one = load(cached.url, ["/users"], name="cold", requests=60, clients=5)
        after = {result: cached.cached("users", result) for result in before}
        assert sum(after.values()) - sum(before.values()) == 60
        assert after["miss"] - before["miss"] == 1
        assert (one.name, one.requests, one.clients, one.errors) == ("cold", 60, 5, 0)
        assert one.percentiles
        assert one.percentiles.count == 60
        assert 0 < one.percentiles.p50 <= one.percentiles.p99 <= one.seconds


def test_paths_are_asked_for_in_turn(api: Api) -> None:
    route = 'lakeapi_request_seconds_count{{method="GET",route="/v1/{}",status="200"}}'
    samples = [route.format(path) for path in ("venues", "dates", "events")]
    before = [api.metric(sample) for sample in samples]
    load(api.url, ["/venues", "/dates", "/events"], requests=7, clients=2)
    counts = zip([api.metric(sample) for sample in samples], before, strict=True)
    assert [after - earlier for after, earlier in counts] == [3, 2, 2]


def test_an_answer_that_is_an_error_is_no_time(api: Api) -> None:
    one = load(api.url, ["/users", "/users/nobody"], requests=4, clients=2)
    assert (one.errors, one.percentiles.count if one.percentiles else 0) == (2, 2)
    assert one.first_error.startswith("/users/nobody: 422 {")


def test_without_a_service_all_are_errors() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    one = load(url, ["/users"], requests=3, clients=2)
    assert (one.errors, one.percentiles, one.a_second) == (3, None, 0)
    with pytest.raises(LabError) as caught:
        all_endpoints(url)
    assert caught.value.exit_code is ExitCode.NOT_READY
