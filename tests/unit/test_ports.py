"""Ports of labs side by side."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from labctl.config.model import LabConfig
from labctl.errors import LabError
from labctl.home.sockets import EPHEMERAL_RANGE, LOOPBACK, RANGE_VARIABLE, is_free, owner_of
from labctl.lab.ports import assign_ports
from labctl.services import SERVICES

BASE = {"sources": {"mysql": {"engine": "mysql", "schemas": ["ecomm"], "connector": "c"}}}
MYSQL = [service for service in SERVICES if service.name == "mysql"]


def config(**services: object) -> LabConfig:
    return LabConfig.model_validate({**BASE, "services": services})


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        yield taken.getsockname()[1]


def test_a_kept_port_stays_even_while_it_is_in_use(listener: int) -> None:
    assert assign_ports(MYSQL, config(), {"mysql": {"sql": listener}}, set()) == {
        "mysql": {"sql": listener}
    }


def test_another_labs_port_is_not_taken() -> None:
    preferred = MYSQL[0].ports["sql"]
    chosen = assign_ports(MYSQL, config(), {}, {preferred})["mysql"]["sql"]
    assert chosen != preferred
    assert is_free(chosen)


def test_a_fixed_port_wins() -> None:
    fixed = config(mysql={"ports": {"sql": 13306}})
    assert assign_ports(MYSQL, fixed, {"mysql": {"sql": 3306}}, set())["mysql"]["sql"] == 13306


def test_ports_are_of_the_given_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RANGE_VARIABLE, "21000-21999")
    (chosen,) = assign_ports(MYSQL, config(), {}, set())["mysql"].values()
    assert 21000 <= chosen <= 21999
    assert assign_ports(MYSQL, config(), {"mysql": {"sql": 3306}}, set())["mysql"]["sql"] == 3306
    preferred = MYSQL[0].ports["sql"]
    monkeypatch.setenv(RANGE_VARIABLE, f"{preferred}-{preferred}")
    with pytest.raises(LabError, match="No port from"):
        assign_ports(MYSQL, config(), {}, {preferred})


@pytest.mark.parametrize("text", ["21000", "0-9", "21999-21000", "21000-65536", "a-b", "-1-5"])
def test_what_is_no_range_of_ports_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RANGE_VARIABLE, text)
    with pytest.raises(LabError, match=RANGE_VARIABLE):
        assign_ports(MYSQL, config(), {}, set())


def test_ports_that_clients_are_given_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that asks for a dead service may be given the service's own port, and keep it."""
    first, last = EPHEMERAL_RANGE.read_text().split()
    monkeypatch.setenv(RANGE_VARIABLE, f"{int(first) - 10}-{first}")
    with pytest.raises(LabError, match=f"outgoing connections .{first}-{last}") as raised:
        assign_ports(MYSQL, config(), {}, set())
    assert "LABCTL_PORTS=20000-23999" in str(raised.value.hint)


def test_an_unknown_endpoint_is_refused() -> None:
    with pytest.raises(LabError, match=r"services\.mysql\.ports\.tcp: no such endpoint"):
        assign_ports(MYSQL, config(mysql={"ports": {"tcp": 13306}}), {}, set())


def test_the_owner_of_a_port_is_named(listener: int) -> None:
    assert not is_free(listener)
    assert "python" in owner_of(listener) or "pytest" in owner_of(listener)


def test_services_prefer_ports_of_their_own() -> None:
    preferred = [port for service in SERVICES for port in service.ports.values()]
    assert len(preferred) == len(set(preferred))
