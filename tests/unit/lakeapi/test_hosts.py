"""By which names the lake API answers, and what web pages get of it."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from lakeapi.app import application
from lakeapi.hosts import is_allowed
from lakeapi.settings import of_environment

ALIVE = "/v1/health/liveness"
NAMES = frozenset({"api.example.com", "internal-lab-1.eu-west-1.elb.amazonaws.com"})


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8088", "127.0.0.1", "localhost:8088", "LOCALHOST", "[::1]:8088", "10.0.3.7:8088",
     "api.example.com", "API.Example.com:443", "internal-lab-1.eu-west-1.elb.amazonaws.com"],
)  # fmt: skip
def test_addresses_and_the_names_it_was_told_are_its_own(host: str) -> None:
    assert is_allowed(host, NAMES)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8088", "localhost.evil.example", "127.0.0.1.evil.example", "",
     "api.example.com.evil.example", "x@evil.example", "127.0.0.1@evil.example", "[::1", "::1]",
     "evil.example/127.0.0.1", "*"],
)  # fmt: skip
def test_other_names_are_not(host: str) -> None:
    assert not is_allowed(host, NAMES)


def _client(**given: object) -> TestClient:
    settings = of_environment(results_bucket="b", cache_mode="off", **given)
    return TestClient(application(settings), base_url="http://127.0.0.1:8088")


@pytest.fixture(autouse=True)
def region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


def test_a_page_whose_name_points_here_is_refused() -> None:
    client = _client()
    assert client.get(ALIVE).status_code == 200
    for path in (ALIVE, "/v1/users", "/v1/openapi.json", "/nowhere"):
        answer = client.get(path, headers={"Host": "evil.example:8088"})
        assert (answer.status_code, answer.json()["status"]) == (421, 421)
        assert "ALLOWED_HOSTS" in answer.json()["detail"]
    told = _client(allowed_hosts=["Lake.Example.com"])
    assert told.get(ALIVE, headers={"Host": "lake.example.com"}).status_code == 200


def test_no_page_of_another_origin_may_read_unless_a_setting_names_it() -> None:
    page = {"Origin": "https://example.org"}
    silent = _client()
    asked = {**page, "Access-Control-Request-Method": "GET"}
    for answer in (silent.get(ALIVE, headers=page), silent.options(ALIVE, headers=asked)):
        assert not [name for name in answer.headers if name.startswith("access-control-")]
    named = _client(cors_origins=["https://example.org"])
    allowed = "access-control-allow-origin"
    assert named.get(ALIVE, headers=page).headers[allowed] == "https://example.org"
    assert allowed not in named.get(ALIVE, headers={"Origin": "https://evil.example"}).headers
