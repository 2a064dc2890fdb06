"""Where the services of a lab on this machine answer."""

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
    """The endpoints of a lab that listens on this machine, as processes or published by Docker."""
    return endpoints_at(
        lambda service, name: f"{LOOPBACK}:{ports[service][name]}", config, passwords
    )


def endpoints_at(address: Address, config: LabConfig, passwords: Mapping[str, str]) -> Endpoints:
    """The endpoints of a lab whose services are found by `address`."""
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
    return Endpoints.model_validate(
        {**known, "sources": source_databases(config, owners), "others": others}
    )
