"""Faults on purpose in containers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import ClassVar

from labctl.errors import ExitCode, LabError
from labctl.runtimes.compose.compose_limits import run_out_of_memory
from labctl.runtimes.compose.containers import kill, pause
from labctl.runtimes.compose.lab_containers import LabContainers
from labctl.services.service import Context, Service

__all__ = ["ComposeFaults"]

_ENGINE_IS_NOT_OURS = (
    "The container engine looks after the services, and it is not the lab's to kill or to stop"
)


class ComposeFaults:
    """The faults of services that are containers, which the engine starts again."""

    owns_supervisor: ClassVar[bool] = False
    cuts_off: ClassVar[bool] = True

    def __init__(self, containers: LabContainers) -> None:
        self._containers = containers

    def kill(self, name: str) -> None:
        """Kill a service (`kill -9`); the engine starts it again.

        Kills only one of several replicas: the others are meant to take over.
        """
        kill(self._containers.required(name))

    def kill_all(self, *, but: Collection[str] = ()) -> None:
        """Kill all services but `but`. The engine is not the lab's and restarts them."""
        for name in self._containers.all():
            if name not in but:
                self.kill(name)

    def kill_supervisor(self) -> None:
        raise LabError(_ENGINE_IS_NOT_OURS, exit_code=ExitCode.USAGE)

    def paused_supervisor(self) -> AbstractContextManager[None]:
        raise LabError(_ENGINE_IS_NOT_OURS, exit_code=ExitCode.USAGE)

    def out_of_memory(self, name: str) -> None:
        """Fill the container's memory from inside."""
        run_out_of_memory(self._containers.required(name))

    @contextmanager
    def with_environment(self, name: str, env: Mapping[str, str]) -> Iterator[None]:
        raise LabError(
            f"{name} cannot be given {next(iter(env))}: a container keeps the environment that it "
            "was made with",
            hint="a native lab can do it",
            exit_code=ExitCode.USAGE,
        )
        yield

    def moved(self, service: Service, own: Context, other: Context) -> AbstractContextManager[None]:
        raise LabError(
            f"{service.name} keeps its ports in a container",
            hint="`cut_off` takes a container off its network; a native lab can do the rest",
            exit_code=ExitCode.USAGE,
        )

    @contextmanager
    def paused(self, name: str) -> Iterator[None]:
        """Pause a service's container during the block."""
        container = self._containers.required(name)
        pause(container)
        try:
            yield
        finally:
            container.unpause()

    @contextmanager
    def cut_off(self, name: str) -> Iterator[None]:
        """Disconnect a service's container, with its published ports, during the block."""
        container = self._containers.required(name)
        (network_name,) = container.attrs["NetworkSettings"]["Networks"]
        network = self._containers.engine.client.networks.get(network_name)
        network.disconnect(container)
        try:
            yield
        finally:
            network.connect(container, aliases=[name])
