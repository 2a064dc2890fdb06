"""Facts about services that are containers: memory, CPU time, deaths, disk space, builds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labctl.runtimes.compose.compose_limits import free_space_of
from labctl.runtimes.compose.containers import deaths_of, usages_of
from labctl.runtimes.compose.lab_containers import LabContainers
from labctl.runtimes.runtime_protocols import Death, DiskSpace, Usage
from labctl.services.service import Service

__all__ = ["ComposeInspector"]


class ComposeInspector:
    """The facts that the engine keeps about a lab's containers."""

    def __init__(
        self, containers: LabContainers, definitions: Callable[[], dict[str, Any]]
    ) -> None:
        """`definitions` returns the services of the Compose file."""
        self._containers = containers
        self._definitions = definitions

    def usages(self) -> dict[str, Usage]:
        """Return usages; memory is that of the control group minus reclaimable cache."""
        return usages_of(self._containers.replicas())

    def deaths(self) -> dict[str, list[Death]]:
        """Return deaths; the engine keeps only their number and the last time."""
        return deaths_of(self._containers.engine.client, self._containers.replicas())

    def space(self, name: str) -> DiskSpace | None:
        container = self._containers.get(name)
        return free_space_of(container) if container else None

    def build(self, service: Service) -> str:
        """Return the tag of the service's image; "" if the Compose files lack the service."""
        image = str(self._definitions().get(service.name, {}).get("image", ""))
        return image.partition("@")[0].rpartition(":")[2]
