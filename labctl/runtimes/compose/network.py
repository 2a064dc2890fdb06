"""How services find each other inside the lab's own network."""

from __future__ import annotations

from collections.abc import Mapping

from labctl.config.endpoints import Endpoints
from labctl.config.model import LabConfig
from labctl.services import SERVICES
from labctl.services.endpoints import endpoints_at

__all__ = ["network_address", "network_endpoints"]

KAFKA_INTERNAL_PORT = 29092
"""Kafka tells every client where to come back to: those inside are told another port."""


def network_address(service: str, endpoint: str) -> str:
    """`host:port` inside the network: a service's name, and the port it prefers."""
    if (service, endpoint) == ("kafka", "broker"):
        return f"{service}:{KAFKA_INTERNAL_PORT}"
    port = next(s.ports[endpoint] for s in SERVICES if s.name == service)
    return f"{service}:{port}"


def network_endpoints(config: LabConfig, passwords: Mapping[str, str]) -> Endpoints:
    """The endpoints as a service of the lab reaches them."""
    return endpoints_at(network_address, config, passwords)
