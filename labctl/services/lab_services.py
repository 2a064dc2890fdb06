"""The services of the lab, in the order in which a person would name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

from labctl.config.lab_config import ComposeProfile, LabConfig
from labctl.services import (
    api_service,
    cache_service,
    connect_service,
    kafka_service,
    metastore_service,
    objectstore_service,
    registry_service,
    silver_service,
    sqlapi_service,
    thriftserver_service,
)
from labctl.services.container import Container
from labctl.services.own import own_services
from labctl.services.own_sections import check_services, refused
from labctl.services.service import Service
from labctl.sources import ENGINES

__all__ = [
    "PASSWORDS",
    "SERVICES",
    "compose_variables",
    "container_forms",
    "load_config",
    "services_of",
]

SERVICES: tuple[Service, ...] = (
    *(engine.service() for engine in ENGINES.values()),
    kafka_service.SERVICE,
    connect_service.SERVICE,
    registry_service.SERVICE,
    objectstore_service.SERVICE,
    silver_service.SERVICE,
    sqlapi_service.SERVICE,
    metastore_service.SERVICE,
    thriftserver_service.SERVICE,
    cache_service.SERVICE,
    api_service.SERVICE,
)
"""The services that labctl itself brings; a lab has those that `services_of` returns."""

PASSWORDS = tuple(dict.fromkeys(role for service in SERVICES for role in service.passwords))
"""Roles that have a password."""


def services_of(config: LabConfig) -> tuple[Service, ...]:
    """Return a lab's services, each after those that it needs.

    These are the services that its sources need, the pipeline, optional ones that are enabled, and
    those of the user's own.
    """
    return (*(service for service in SERVICES if service.enabled(config)), *own_services(config))


def container_forms(services: Iterable[Service]) -> Iterator[tuple[Service, Container]]:
    """Yield those of `services` whose records have a container form, with that form."""
    for service in services:
        if service.container is not None:
            yield service, service.container


def compose_variables(project: Path, config: LabConfig) -> dict[str, str]:
    """Return the Compose file's variables for the lab's services, from their records."""
    return {
        name: value
        for _, form in container_forms(services_of(config))
        for name, value in form.variables(project, config).items()
    }


def load_config(path: Path) -> LabConfig:
    """Read and check `lab.toml`, the services' names and definitions included.

    Raises LabError (USAGE) naming file, key and a hint.
    """
    config = LabConfig.load(path)
    known = [service.name for service in SERVICES]
    for profile_name, profile in config.profiles.items():
        images = profile.image if isinstance(profile, ComposeProfile) else {}
        for name in images:
            if name not in known:
                close = get_close_matches(name, known, n=1)
                meant = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
                key = ["profiles", profile_name, "image", name]
                raise refused(path, key, f"there is no such service; {meant}")
    _check_databases(path, config)
    return check_services(path, config, known)


def _check_databases(path: Path, config: LabConfig) -> None:
    for name, source in config.sources.items():
        engine, key = ENGINES[source.engine], ["sources", name, "database"]
        if engine.schemas_are_databases and source.database is not None:
            raise refused(
                path, key, f"{engine.title} has no databases beside its schemas: leave it out"
            )
        if not engine.schemas_are_databases and source.database is None:
            raise refused(path, key, 'name the database that holds the schemas: database = "…"')
