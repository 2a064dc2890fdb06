"""Ports of labs side by side."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from labctl.config.lab_config import LabConfig
from labctl.errors import LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.ports import PortTakenError, Reservation, assign_ports
from labctl.lab.lifecycle.up import reserve_ports
from labctl.services.lab_services import SERVICES
from labctl.services.service import Service
from labctl.state.holds import Hold
from labctl.state.listeners import has_open, listeners_on
from labctl.state.sockets import EPHEMERAL_RANGE, LOOPBACK, RANGE_VARIABLE, is_free, owner_of
from tests.ports import free_port, listening

BASE = {"sources": {"mysql": {"engine": "mysql", "schemas": ["ecomm"], "connector": "c"}}}
ADDRESSES = (LOOPBACK, "0.0.0.0", "::1", "::")  # noqa: S104 - what others may listen on
PROJECT = Path(__file__).parents[2]
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


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_port_is_taken_whatever_address_somebody_listens_at(address: str) -> None:
    """A client of `localhost` may be connected to any of them."""
    port = free_port()
    assert is_free(port)
    with listening(port, address):
        assert not is_free(port)
        with pytest.raises(PortTakenError, match=rf"Port {port} \(mysql, sql\) is taken by \w"):
            Reservation().take({"mysql": {"sql": port}})
    assert is_free(port)


def test_two_labs_cannot_reserve_the_same_port() -> None:
    port = free_port()
    with Reservation() as first:
        first.take({"mysql": {"sql": port}})
        assert not is_free(port)
        assert "supervisor of another lab" in owner_of(port)
        with Reservation() as second, pytest.raises(PortTakenError):
            second.take({"registry": {"http": port}})
    assert is_free(port)


def test_a_reservation_takes_all_ports_or_none() -> None:
    free, taken = free_port(), free_port()
    with listening(taken, LOOPBACK), Reservation() as reserved:
        with pytest.raises(PortTakenError):
            reserved.take({"mysql": {"sql": free}, "registry": {"http": taken}})
        assert is_free(free)


def test_nobody_listens_on_a_port_that_is_kept() -> None:
    hold = Hold.take(port := free_port())
    try:
        for address in ADDRESSES:
            with pytest.raises(OSError, match="in use"):
                listening(port, address)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((LOOPBACK, port), timeout=5)
    finally:
        hold.close()
    assert is_free(port)


def test_a_port_that_is_lent_lets_its_service_listen_and_no_other_lab() -> None:
    hold = Hold.take(port := free_port())
    try:
        hold.lend()
        with pytest.raises(OSError, match="in use"):
            Hold.take(port)
        with listening(port, LOOPBACK) as server:
            with socket.create_connection((LOOPBACK, port), timeout=5):
                # It closes first: the port is then in TIME_WAIT.
                server.accept()[0].close()
            with pytest.raises(OSError, match="in use"):
                listening(port, LOOPBACK)
        hold.keep()
        with pytest.raises(OSError, match="in use"):
            listening(port, LOOPBACK)
        hold.lend()
        listening(port, LOOPBACK).close()
    finally:
        hold.close()
    Hold.take(port).close()


def test_a_port_passes_from_one_process_to_another_without_a_gap() -> None:
    first = Hold.take(port := free_port())
    second = Hold.share(port)
    first.close()
    with pytest.raises(OSError, match="in use"):
        listening(port, LOOPBACK)
    with pytest.raises(OSError, match="in use"):
        Hold.take(port)
    second.close()


def test_an_address_that_the_machine_lacks_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many machines and containers have no IPv6."""
    monkeypatch.setattr("labctl.state.holds.ADDRESSES", (LOOPBACK, "2001:db8::1"))
    port = free_port()
    hold = Hold.take(port)
    assert not is_free(port)
    hold.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_another_user_cannot_share_a_port() -> None:
    program = shutil.which("python3", path="/usr/bin")
    if program is None:
        pytest.skip("there is no Python that every user can run")
    text = (
        "import socket; s = socket.socket(); "
        "s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); "
        "s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1); s.bind(('127.0.0.1', {}))"
    )
    hold = Hold.take(port := free_port())
    try:
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--clear-groups", program, "-c", text.format(port)],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        hold.close()
    assert "Address already in use" in done.stderr


def test_who_lost_a_port_that_it_chose_chooses_another(state_home: Path) -> None:
    lab = Lab.find(name="one", profile="native", project=PROJECT)
    lab.state.create()
    service = lab.service("registry")
    (chosen,) = lab.ports["registry"].values()
    other = Hold.take(chosen)
    try:
        with Reservation() as reserved:
            reserve_ports(lab, reserved, [], [service])
            (port,) = lab.ports["registry"].values()
            assert port != chosen
            assert not is_free(port)
        # One that it has already stays, and the command ends.
        lab.state.save(ports={"registry": {"http": chosen}})
        lab.forget_ports()
        with Reservation() as reserved, pytest.raises(PortTakenError):
            reserve_ports(lab, reserved, [], [service])
        # It is no obstacle to starting other services.
        with Reservation() as reserved:
            reserve_ports(lab, reserved, [], [lab.service("kafka")])
            assert not any(map(is_free, lab.ports["kafka"].values()))
    finally:
        other.close()


CHOOSER = """
import json, sys
from pathlib import Path
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.ports import Reservation
from labctl.lab.lifecycle.up import reserve_ports

lab = Lab.find(name="one", profile="native", project=Path(sys.argv[1]))
lab.state.create()
print("ready", flush=True)
sys.stdin.readline()
with Reservation() as reserved:
    reserve_ports(lab, reserved, [], lab.services)
    print(json.dumps([port for ports in lab.ports.values() for port in ports.values()]), flush=True)
    sys.stdin.readline()
"""


def test_labs_of_several_homes_that_choose_at_once_have_ports_of_their_own() -> None:
    labs = []
    with ExitStack() as stack:
        # Shorter than pytest's: the path of a socket has a limit.
        homes = Path(stack.enter_context(TemporaryDirectory(prefix="labctl-")))
        for number in range(3):
            home = {
                "HOME": str(homes / str(number)),
                "XDG_STATE_HOME": str(homes / str(number)),
            }
            lab = subprocess.Popen(
                [sys.executable, "-c", CHOOSER, str(PROJECT)],
                env={**os.environ, **home},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            labs.append(stack.enter_context(lab))
            stack.callback(lab.kill)
        pipes = [(lab.stdin, lab.stdout) for lab in labs if lab.stdin and lab.stdout]
        assert [out.readline() for _, out in pipes] == ["ready\n"] * len(labs)
        for go, _ in pipes:
            go.write("\n")
            go.flush()
        chosen = [port for _, out in pipes for port in json.loads(out.readline())]
        assert len(chosen) == len(set(chosen))
        assert not any(map(is_free, chosen))


def test_the_process_that_listens_is_known() -> None:
    port = free_port()
    assert listeners_on(port) == []
    with listening(port, LOOPBACK):
        (listener,) = listeners_on(port)
        assert listener.user_id == os.geteuid()
        assert has_open([os.getpid()], listener)
        assert not has_open([os.getppid()], listener)


def test_services_prefer_ports_of_their_own() -> None:
    preferred = [port for service in SERVICES for port in service.ports.values()]
    assert len(preferred) == len(set(preferred))


def own(**ports: int) -> Service:
    return replace(MYSQL[0], name="shop", ports=ports, is_own=True)


def test_another_port_in_a_service_of_the_users_is_another_port() -> None:
    first, second = free_port(), free_port()
    kept, wished = {"shop": {"http": first}}, {"shop": {"http": first}}
    same = assign_ports([own(http=first)], config(), kept, set(), wished)
    assert same == {"shop": {"http": first}}
    changed = assign_ports([own(http=second)], config(), kept, set(), wished)
    assert changed == {"shop": {"http": second}}


def test_a_port_that_a_service_of_the_users_had_is_given_to_one_service() -> None:
    """A service that the lab has only now prefers it."""
    port = free_port()
    cache = replace(MYSQL[0], name="cache", ports={"redis": port})
    kept, wished = {"shop": {"http": port}}, {"shop": {"http": port}}
    found = assign_ports([cache, own(http=port)], config(), kept, set(), wished)
    assert found["cache"]["redis"] == port
    assert found["shop"]["http"] != port
