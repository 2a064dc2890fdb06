"""The data of containers, which is in volumes of the engine."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.runtimes.compose.compose_limits import volume_folder
from labctl.runtimes.compose.lab_containers import LabContainers

__all__ = ["ComposeDataFiles"]


class ComposeDataFiles:
    """The volumes of a lab's containers. They are not in the lab's folder."""

    def __init__(self, containers: LabContainers) -> None:
        self._containers = containers

    def folder(self, name: str) -> Path:
        return volume_folder(self._containers.required(name))

    def require(self) -> None:
        raise _no_snapshots()

    def frozen(self) -> AbstractContextManager[None]:
        raise _no_snapshots()


def _no_snapshots() -> LabError:
    return LabError(
        "A lab in containers keeps its data in the engine's volumes: it has no snapshots",
        hint="a native lab has them",
        exit_code=ExitCode.USAGE,
    )
