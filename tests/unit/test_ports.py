from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from labctl.config.model import LabConfig
from labctl.errors import LabError
from labctl.lab.ports import LOOPBACK, assign_ports, is_free, owner_of
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


def test_an_unknown_endpoint_is_refused() -> None:
    with pytest.raises(LabError, match=r"services\.mysql\.ports\.tcp: no such endpoint"):
        assign_ports(MYSQL, config(mysql={"ports": {"tcp": 13306}}), {}, set())


def test_the_owner_of_a_port_is_named(listener: int) -> None:
    assert not is_free(listener)
    assert "python" in owner_of(listener) or "pytest" in owner_of(listener)


def test_services_prefer_ports_of_their_own() -> None:
    preferred = [port for service in SERVICES for port in service.ports.values()]
    assert len(preferred) == len(set(preferred))
