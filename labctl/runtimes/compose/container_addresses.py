"""Addresses of services inside the lab's network."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from labctl.config.endpoints import Endpoints
from labctl.config.lab_config import LabConfig
from labctl.services import kafka_service
from labctl.services.lab_services import SERVICES
from labctl.services.local_endpoints import endpoints_at
from labctl.services.own import container_port

__all__ = ["network_address", "network_endpoints"]


def network_address(config: LabConfig, service: str, endpoint: str) -> str:
    """Return `host:port` inside the network: the service's name and its default port."""
    if (service, endpoint) == ("kafka", "broker"):
        # Kafka tells each client which address to use.
        return f"{service}:{kafka_service.INTERNAL_PORT}"
    if (own := config.own_services.get(service)) is not None:
        return f"{service}:{container_port(own, endpoint)}"
    port = next(s.ports[endpoint] for s in SERVICES if s.name == service)
    return f"{service}:{port}"


def network_endpoints(config: LabConfig, passwords: Mapping[str, str]) -> Endpoints:
    """Return the endpoints under the addresses that the lab's services use."""
    return endpoints_at(partial(network_address, config), config, passwords)
