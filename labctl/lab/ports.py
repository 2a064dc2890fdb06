"""Which ports a lab's services listen on: the preferred ones, else free ones, kept for good."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path

import psutil

from labctl.config.model import LabConfig
from labctl.errors import ExitCode, LabError
from labctl.services.model import Service

__all__ = ["LOOPBACK", "assign_ports", "free_port", "is_free", "owner_of"]

LOOPBACK = "127.0.0.1"
EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST_KEPT = 20_000
"""Below it are ports that programs are known by."""
Ports = Mapping[str, Mapping[str, int]]


def assign_ports(
    services: Iterable[Service], config: LabConfig, kept: Ports, reserved: set[int]
) -> dict[str, dict[str, int]]:
    """Ports by service and endpoint name.

    A port this lab held before is kept; one fixed in `lab.toml` is taken as it is; else the
    preferred one, unless another lab (`reserved`) or a listener has it, then a free one.
    """
    ports: dict[str, dict[str, int]] = {}
    taken = set(reserved)
    for service in services:
        fixed = config.settings(service.name).ports
        if unknown := set(fixed) - set(service.ports):
            raise LabError(
                f"lab.toml: services.{service.name}.ports.{min(unknown)}: no such endpoint",
                hint=f"known: {', '.join(service.ports)}",
                exit_code=ExitCode.USAGE,
            )
        ports[service.name] = {}
        for endpoint, preferred in service.ports.items():
            held = kept.get(service.name, {}).get(endpoint)
            port = fixed.get(endpoint) or held
            if port is None:
                port = preferred if preferred not in taken and is_free(preferred) else None
            if port is None:
                port = free_port(taken)
            taken.add(port)
            ports[service.name][endpoint] = port
    return ports


def is_free(port: int) -> bool:
    """Whether this process could listen on `port` of the loopback address now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def owner_of(port: int) -> str:
    """Who listens on `port`, as far as this user can see: `name (pid)`."""
    for connection in psutil.net_connections(kind="tcp"):
        if connection.status != psutil.CONN_LISTEN or tuple(connection.laddr)[1:2] != (port,):
            continue
        if connection.pid is None:
            break
        try:
            return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
        except psutil.Error:
            break
    return "another process"


def free_port(taken: set[int]) -> int:
    """A free port below those the kernel hands out to clients, so that it can be kept.

    One of the kernel's own might be some client's when its service comes up the next time.
    """
    first_of_clients = int(EPHEMERAL_RANGE.read_text(encoding="ascii").split()[0])
    candidates = range(min(LOWEST_KEPT, first_of_clients - 1), first_of_clients)
    for port in random.sample(candidates, len(candidates)):
        if port not in taken and is_free(port):
            return port
    raise LabError(
        f"No port from {candidates.start} to {candidates.stop - 1} is free",
        hint="stop other programs or labs",
        exit_code=ExitCode.ENVIRONMENT,
    )
