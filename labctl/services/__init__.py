"""The services of the lab, in the order a person would name them."""

from __future__ import annotations

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

__all__ = ["SERVICES", "Context", "NativeService", "Process", "Service"]

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
