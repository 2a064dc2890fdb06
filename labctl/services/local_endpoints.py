"""Endpoints of the services of a lab on this machine."""

from __future__ import annotations

from collections.abc import Mapping

from labctl.config.endpoints import Database, Endpoints, source_databases
from labctl.config.lab_config import LabConfig
from labctl.services.lab_services import services_of
from labctl.services.service import Address, Site
from labctl.sources import ENGINES
from labctl.state.sockets import LOOPBACK

__all__ = ["endpoints_at", "loopback_endpoints"]


def loopback_endpoints(
    config: LabConfig, ports: Mapping[str, Mapping[str, int]], passwords: Mapping[str, str]
) -> Endpoints:
    """Return the endpoints of a lab on this machine, whether as processes or in Docker."""
    return endpoints_at(
        lambda service, name: f"{LOOPBACK}:{ports[service][name]}", config, passwords
    )


def endpoints_at(address: Address, config: LabConfig, passwords: Mapping[str, str]) -> Endpoints:
    """Return the endpoints of a lab; `address` returns the address of each service."""
    site = Site(address, config, passwords)
    services = {service.name: service for service in services_of(config)}
    others = {name: service.endpoint(site) for name, service in services.items()}
    servers = {
        name: server for name in ENGINES if isinstance(server := others.pop(name, None), Database)
    }
    owners = {
        name: server if (owner := services[name].owner) is None else owner(site)
        for name, server in servers.items()
    }
    known = {name: others.pop(name) for name in list(others) if name in Endpoints.model_fields}
    addresses = {
        name: {endpoint: address(name, endpoint) for endpoint in service.ports}
        for name, service in services.items()
    }
    return Endpoints.model_validate(
        {
            **known,
            "servers": servers,
            "sources": source_databases(config, owners),
            "others": others,
            "addresses": addresses,
        }
    )
