"""The services of the lab, in the order a person would name them."""

from __future__ import annotations

from labctl.config.model import LabConfig
from labctl.services import (
    connect,
    kafka,
    mysql,
    objectstore,
    postgres,
    registry,
    silver,
    sqlserver,
)
from labctl.services.model import Context, NativeService, Process, Service

__all__ = ["SERVICES", "Context", "NativeService", "Process", "Service", "services_of"]

SERVICES: tuple[Service, ...] = (
    postgres.SERVICE,
    mysql.SERVICE,
    sqlserver.SERVICE,
    kafka.SERVICE,
    connect.SERVICE,
    registry.SERVICE,
    objectstore.SERVICE,
    silver.SERVICE,
)
"""All there are; a lab has those of `services_of`."""


def services_of(config: LabConfig) -> tuple[Service, ...]:
    """The services that a lab has: what its sources need, and the pipeline."""
    return tuple(service for service in SERVICES if service.needed(config))
