"""A proxy of the user's does not get the requests to the lab's own services."""

from __future__ import annotations

import os

import pytest
from requests.utils import get_environ_proxies

from labctl.state.proxies import leave_loopback_out

PROXY = "http://proxy.example:3128"
OWN = "http://127.0.0.1:8083/connectors"


@pytest.mark.parametrize("name", ["no_proxy", "NO_PROXY"])
@pytest.mark.parametrize("before", [None, "", "intern.example", "intern.example, 127.0.0.1"])
def test_requests_to_this_machine_take_no_proxy(
    name: str, before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv("http_proxy", PROXY)
    if before is not None:
        monkeypatch.setenv(name, before)
    assert "127.0.0.1" in (before or "") or get_environ_proxies(OWN)["http"] == PROXY
    for _ in range(2):
        leave_loopback_out()
        assert get_environ_proxies(OWN) == {}
        assert get_environ_proxies("http://localhost:9000") == {}
        assert get_environ_proxies("http://elsewhere.example")["http"] == PROXY
        assert bool(before) == (get_environ_proxies("http://intern.example") == {})
    assert os.environ["no_proxy"] == os.environ["NO_PROXY"]
    assert os.environ["no_proxy"].count("127.0.0.1") == 1


def test_no_proxy_for_anything_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("NO_PROXY", "*")
    leave_loopback_out()
    assert os.environ["no_proxy"] == "*"
