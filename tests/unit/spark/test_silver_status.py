"""The application's answers over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from lakehouse.progress import Progress
from lakehouse.status import StatusServer
from tests.ports import free_port


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def url(asked: list[str]) -> Iterator[str]:
    port = free_port()

    def restart(table: str) -> bool:
        asked.append(table)
        return table == "sale"

    server = StatusServer(
        "127.0.0.1", port, lambda: {"application": "silver"}, {"restart": restart}
    )
    server.start()
    yield f"http://127.0.0.1:{port}"
    server.stop()


def answer(url: str, method: str = "GET") -> tuple[int, Any]:
    response = requests.request(method, url, timeout=5)
    return response.status_code, response.json()


def test_status_is_json(url: str) -> None:
    assert answer(f"{url}/status") == (200, {"application": "silver"})


def test_an_action_is_taken_for_a_known_table(url: str, asked: list[str]) -> None:
    assert answer(f"{url}/tables/sale/restart", "POST")[0] == 202
    assert answer(f"{url}/tables/nobody/restart", "POST")[0] == 404
    assert asked == ["sale", "nobody"]


@pytest.mark.parametrize("path", ["/", "/tables/sale/explode", "/tables/restart"])
def test_anything_else_is_not_there(url: str, path: str) -> None:
    assert answer(url + path, "POST")[0] == 404
    assert answer(url + path)[0] == 404


def test_progress_counts_batches_rows_and_restarts() -> None:
    progress = Progress(source="kafka")
    progress.committed(3, offsets={"0": 3})
    progress.committed(2, offsets={"0": 5})
    progress.restarted("broker away")

    snapshot = progress.snapshot()

    assert snapshot["source"] == "kafka"
    assert (snapshot["batches"], snapshot["rows_total"]) == (2, 5)
    assert snapshot["offsets"] == {"0": 5}
    assert (snapshot["state"], snapshot["restarts"]) == ("retrying", 1)
