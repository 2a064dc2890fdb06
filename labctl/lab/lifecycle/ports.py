"""Ports of a lab's services: the preferred ones, else free ones, kept for good."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Self

from labctl.config.lab_config import LabConfig
from labctl.errors import ExitCode, LabError
from labctl.services.service import Service
from labctl.state.holds import Hold
from labctl.state.sockets import free_port, is_free, own_range, owner_of

__all__ = ["PortTakenError", "Reservation", "assign_ports"]

Ports = Mapping[str, Mapping[str, int]]


class PortTakenError(LabError):
    """Error for a port of the lab that another process has."""

    def __init__(self, port: int, service: str, endpoint: str) -> None:
        super().__init__(
            f"Port {port} ({service}, {endpoint}) is taken by {owner_of(port)}",
            hint=(
                f"stop that process, or set another port in lab.toml: "
                f"[services.{service}] ports = {{ {endpoint} = … }}"
            ),
            exit_code=ExitCode.ENVIRONMENT,
        )
        self.port, self.service, self.endpoint = port, service, endpoint


class Reservation:
    """Ports that this command keeps for services that are not started yet.

    No other lab, of any user, chooses one of them, and no process can listen on one until the ports
    of its service are released.
    """

    def __init__(self) -> None:
        self._holds: dict[str, list[Hold]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release(list(self._holds))

    def take(self, ports: Ports, *, but: Collection[int] = ()) -> None:
        """Keep all of `ports` except `but`, which the lab itself has.

        Raises PortTakenError, and then keeps none.
        """
        try:
            for service, endpoints in ports.items():
                for endpoint, port in endpoints.items():
                    if port in but:
                        continue
                    try:
                        self._holds.setdefault(service, []).append(Hold.take(port))
                    except OSError:
                        raise PortTakenError(port, service, endpoint) from None
        except BaseException:
            self.release(list(self._holds))
            raise

    def release(self, services: Iterable[str]) -> None:
        """Release the ports of `services`, which start now or whose supervisor keeps them."""
        for service in services:
            for hold in self._holds.pop(service, ()):
                hold.close()


def assign_ports(
    services: Iterable[Service],
    config: LabConfig,
    kept: Ports,
    reserved: set[int],
    wished: Ports = MappingProxyType({}),
) -> dict[str, dict[str, int]]:
    """Return ports by service and endpoint name.

    A port that `lab.toml` fixes is used as it is, else one that this lab held before. Otherwise the
    preferred port is used, unless another lab (`reserved`) or a listener has it or it is outside of
    $LABCTL_PORTS; then a free port is used. A service of the user's own gets another port when
    lab.toml prefers another one than in `wished`.
    """
    ports: dict[str, dict[str, int]] = {}
    assigned: set[int] = set()
    taken = set(reserved)
    own = own_range()
    for service in services:
        fixed = config.settings(service.name).ports  # empty for a service of the user's own
        if unknown := set(fixed) - set(service.ports):
            raise LabError(
                f"lab.toml: services.{service.name}.ports.{min(unknown)}: no such endpoint",
                hint=f"known: {', '.join(service.ports)}",
                exit_code=ExitCode.USAGE,
            )
        ports[service.name] = {}
        for endpoint, preferred in service.ports.items():
            held = kept.get(service.name, {}).get(endpoint)
            if held in assigned:
                held = None  # a service that the lab did not have then has it now
            if service.is_own and wished.get(service.name, {}).get(endpoint) != preferred:
                held = None
            port = fixed.get(endpoint) or held
            if port is None:
                allowed = preferred not in taken and (own is None or preferred in own)
                port = preferred if allowed and is_free(preferred) else None
            if port is None:
                port = free_port(taken)
            taken.add(port)
            assigned.add(port)
            ports[service.name][endpoint] = port
    return ports
