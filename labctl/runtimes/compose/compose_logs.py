"""The logs of containers, which the engine keeps."""

from __future__ import annotations

from collections.abc import Iterator

from labctl.runtimes.compose.lab_containers import LabContainers

__all__ = ["ComposeLogs"]


class ComposeLogs:
    """The logs of a lab's containers."""

    def __init__(self, containers: LabContainers) -> None:
        self._containers = containers

    def file(self, name: str) -> None:
        """Return None: the engine keeps the logs."""
        del name

    def tail(self, name: str, lines: int) -> list[str]:
        texts = (c.logs(tail=lines) for c in self._containers.replicas().get(name, ()))
        return [line for text in texts for line in text.decode(errors="replace").splitlines()]

    def follow(self, name: str) -> Iterator[str]:
        container = self._containers.get(name)
        if container is None:
            return
        rest = b""
        for chunk in container.logs(stream=True, follow=True, tail=0):
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line.decode(errors="replace")
