"""The containers of one lab, found by the labels that Compose gives them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from labctl.errors import ExitCode, LabError
from labctl.runtimes.compose.containers import is_running
from labctl.runtimes.compose.docker_engine import Engine

__all__ = ["LabContainers"]


class LabContainers:
    """The containers of a Compose project, for the services that the lab knows."""

    def __init__(self, engine: Engine, project: str, services: Collection[str]) -> None:
        self.engine = engine
        self.project = project
        self._services = services

    def replicas(self) -> dict[str, list[Any]]:
        """Return all containers by service, whatever their state."""
        found = self.engine.containers(self.project)
        return {name: every for name, every in found.items() if name in self._services}

    def all(self) -> dict[str, Any]:
        """Return one container per service: a stopped one if any replica is stopped."""
        return {name: min(every, key=is_running) for name, every in self.replicas().items()}

    def get(self, name: str) -> Any | None:
        """Return a container of the service; None if there is none."""
        return self.engine.container(self.project, name)

    def required(self, name: str) -> Any:
        """Return a container of the service. Raise LabError (NOT_READY) if there is none."""
        container = self.get(name)
        if container is None:
            raise LabError(f"{name} has no container", exit_code=ExitCode.NOT_READY)
        return container
