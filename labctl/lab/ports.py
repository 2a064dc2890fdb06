"""Which ports a lab's services listen on: the preferred ones, else free ones, kept for good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from labctl.config.model import LabConfig
from labctl.errors import ExitCode, LabError
from labctl.home.sockets import free_port, is_free, own_range
from labctl.services.model import Service

__all__ = ["assign_ports"]

Ports = Mapping[str, Mapping[str, int]]


def assign_ports(
    services: Iterable[Service], config: LabConfig, kept: Ports, reserved: set[int]
) -> dict[str, dict[str, int]]:
    """Ports by service and endpoint name.

    A port this lab held before is kept; one fixed in `lab.toml` is taken as it is; else the
    preferred one, unless another lab (`reserved`) or a listener has it or it is outside of
    $LABCTL_PORTS, then a free one.
    """
    ports: dict[str, dict[str, int]] = {}
    taken = set(reserved)
    own = own_range()
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
                allowed = preferred not in taken and (own is None or preferred in own)
                port = preferred if allowed and is_free(preferred) else None
            if port is None:
                port = free_port(taken)
            taken.add(port)
            ports[service.name][endpoint] = port
    return ports
