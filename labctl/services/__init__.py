"""The services of the lab, in the order in which a person would name them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from labctl.config.model import ComposeProfile, LabConfig
from labctl.config.reading import line_of_key
from labctl.errors import ExitCode, LabError
from labctl.services import (
    api,
    cache,
    connect,
    kafka,
    metastore,
    mysql,
    objectstore,
    postgres,
    registry,
    silver,
    sqlapi,
    sqlserver,
    thriftserver,
)
from labctl.services.model import Context, NativeService, Process, Service

__all__ = [
    "PASSWORDS",
    "SERVICES",
    "Context",
    "NativeService",
    "Process",
    "Service",
    "compose_variables",
    "load_config",
    "services_of",
]

SERVICES: tuple[Service, ...] = (
    postgres.SERVICE,
    mysql.SERVICE,
    sqlserver.SERVICE,
    kafka.SERVICE,
    connect.SERVICE,
    registry.SERVICE,
    objectstore.SERVICE,
    silver.SERVICE,
    sqlapi.SERVICE,
    metastore.SERVICE,
    thriftserver.SERVICE,
    cache.SERVICE,
    api.SERVICE,
)
"""All services; a lab has those that `services_of` returns."""

PASSWORDS = tuple(dict.fromkeys(role for service in SERVICES for role in service.passwords))
"""Roles that have a password."""


def services_of(config: LabConfig) -> tuple[Service, ...]:
    """Return a lab's services: those its sources need, the pipeline, and optional ones enabled."""
    return tuple(service for service in SERVICES if service.needed(config))


def compose_variables(project: Path, config: LabConfig) -> dict[str, str]:
    """Return the Compose file's variables for the lab's services, from their records."""
    return {
        name: value
        for service in services_of(config)
        for name, value in service.container.variables(project, config).items()
    }


def load_config(path: Path) -> LabConfig:
    """Read and check `lab.toml`, the names of services included.

    Raises LabError (USAGE) naming file, key and a hint.
    """
    config = LabConfig.load(path)
    _require_known(path, "services", config.services)
    for name, profile in config.profiles.items():
        if isinstance(profile, ComposeProfile):
            _require_known(path, f"profiles.{name}.image", profile.image)
    return config


def _require_known(path: Path, section: str, names: Iterable[str]) -> None:
    known = [service.name for service in SERVICES]
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            meant = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
            line = line_of_key(path, [*section.split("."), name])
            raise LabError(
                f"{path}:{line} is not usable: {section}.{name}: there is no such service; {meant}",
                hint="docs/configuration.md lists every key",
                exit_code=ExitCode.USAGE,
            )
