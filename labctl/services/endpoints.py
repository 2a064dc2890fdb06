"""Endpoints of the services of a lab on this machine."""

from __future__ import annotations

from collections.abc import Mapping

from labctl.config.endpoints import Database, Endpoint, Endpoints, source_databases
from labctl.config.model import LabConfig, SourceEngine
from labctl.home.sockets import LOOPBACK
from labctl.services import services_of
from labctl.services.model import Address, Site
from labctl.sources import ENGINES

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
    known: dict[str, Endpoint] = {}
    others: dict[str, Endpoint] = {}
    for service in services_of(config):
        found = known if service.name in Endpoints.model_fields else others
        found[service.name] = service.endpoint(site)
    owners: dict[SourceEngine, Database | None] = {}
    by_name = {service.name: service for service in services_of(config)}
    for engine in ENGINES:
        server = known.get(engine)
        owners[engine] = server if isinstance(server, Database) else None
        if engine in by_name and (owner := by_name[engine].owner) is not None:
            owners[engine] = owner(site)
    addresses = {
        name: {endpoint: address(name, endpoint) for endpoint in service.ports}
        for name, service in by_name.items()
    }
    return Endpoints.model_validate(
        {
            **known,
            "sources": source_databases(config, owners),
            "others": others,
            "addresses": addresses,
        }
    )
