"""The application's answers over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from lakecontract.errors import ConfigurationError
from lakehouse.progress import WorkerProgress, moment
from lakehouse.status_server import StatusServer
from tests.ports import free_port

TOKEN = "right"  # noqa: S105 - of this test alone


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def url(asked: list[str]) -> Iterator[str]:
    port = free_port()

    def restart(table: str) -> bool:
        asked.append(table)
        if table == "broken":
            raise ConfigurationError("its file is broken", hint="Correct it")
        return table == "sale"

    def suspend() -> None:
        asked.append("suspend")

    server = StatusServer(
        "127.0.0.1",
        port,
        lambda: {"application": "silver"},
        {"restart": restart},
        {"suspend": suspend},
        TOKEN,
    )
    server.start()
    yield f"http://127.0.0.1:{port}"
    server.stop()


def answer(url: str, method: str = "GET", **headers: str) -> tuple[int, Any]:
    """As `labctl` asks; `headers` are sent besides, or instead."""
    given = {"Authorization": f"Bearer {TOKEN}", **headers}
    response = requests.request(method, url, headers=given, timeout=5)
    return response.status_code, response.json()


def test_status_is_json(url: str) -> None:
    assert answer(f"{url}/status") == (200, {"application": "silver"})


def test_an_action_is_taken_for_a_known_table(url: str, asked: list[str]) -> None:
    assert answer(f"{url}/tables/sale/restart", "POST")[0] == 202
    assert answer(f"{url}/tables/nobody/restart", "POST")[0] == 404
    assert asked == ["sale", "nobody"]


def test_an_action_is_taken_of_the_whole_application(url: str, asked: list[str]) -> None:
    assert answer(f"{url}/suspend", "POST") == (200, {"done": "suspend"})
    assert asked == ["suspend"]


def test_a_refusal_says_why(url: str) -> None:
    assert answer(f"{url}/tables/broken/restart", "POST") == (
        409,
        {"error": "its file is broken", "hint": "Correct it"},
    )


@pytest.mark.parametrize("given", ["", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", TOKEN])
def test_an_action_wants_the_token(url: str, asked: list[str], given: str) -> None:
    assert answer(f"{url}/tables/sale/restart", "POST", Authorization=given)[0] == 401
    assert answer(f"{url}/suspend", "POST", Authorization=given)[0] == 401
    assert answer(f"{url}/status", Authorization=given)[0] == 200
    assert asked == []


def test_without_a_token_no_action_is_taken(asked: list[str]) -> None:
    port = free_port()
    server = StatusServer("127.0.0.1", port, dict, {"restart": lambda _: True}, {}, None)
    server.start()
    try:
        for given in ("Bearer None", "Bearer ", ""):
            url = f"http://127.0.0.1:{port}/tables/sale/restart"
            assert answer(url, "POST", Authorization=given)[0] == 401
    finally:
        server.stop()


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Origin": "http://page.example"}, id="another-origin"),
        pytest.param({"Origin": "null"}, id="no-origin-of-its-own"),
        pytest.param({"Host": "page.example:4041"}, id="a-name-that-points-here"),
        pytest.param({"Host": "127.0.0.1.page.example"}, id="a-name-like-an-address"),
        pytest.param({"Host": "localhost.page.example"}, id="a-name-like-localhost"),
        pytest.param({"Host": "[:"}, id="nothing"),
    ],
)
def test_a_page_is_not_answered(url: str, asked: list[str], headers: dict[str, str]) -> None:
    assert answer(f"{url}/status", **headers)[0] == 403
    assert answer(f"{url}/tables/sale/restart", "POST", **headers)[0] == 403
    assert asked == []


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:4041"])
def test_this_machine_has_several_names(url: str, host: str) -> None:
    assert answer(f"{url}/status", Host=host)[0] == 200


@pytest.mark.parametrize("path", ["/", "/explode", "/tables/sale/explode", "/tables/restart"])
def test_anything_else_is_not_there(url: str, path: str) -> None:
    assert answer(url + path, "POST")[0] == 404
    assert answer(url + path)[0] == 404


def test_progress_counts_batches_rows_and_restarts() -> None:
    progress = WorkerProgress(source="kafka")
    progress.committed(3, offsets={"0": 3})
    progress.committed(2, offsets={"0": 5})
    progress.restarted("broker away")

    snapshot = progress.snapshot()

    assert snapshot["source"] == "kafka"
    assert (snapshot["batches"], snapshot["rows_total"]) == (2, 5)
    assert snapshot["offsets"] == {"0": 5}
    assert (snapshot["state"], snapshot["restarts"]) == ("retrying", 1)


def test_an_instant_of_hudi_is_told_as_a_time() -> None:
    assert moment("20261123093000120") == "2026-11-23T09:30:00.120000+00:00"
    # As Hudi wrote them before it knew milliseconds.
    assert moment("20261123093000") == "2026-11-23T09:30:00.000000+00:00"
