"""The Compose runtime: Docker Compose creates the containers and the engine restarts them."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from labctl.artifacts import ArtifactStore, Progress
from labctl.config.endpoints import Endpoints
from labctl.config.model import ComposeProfile, LabConfig
from labctl.errors import ExitCode, LabError
from labctl.home.state import LabState, write_private
from labctl.images import build, recipe_of
from labctl.runtimes.compose.checks import check_engine
from labctl.runtimes.compose.containers import (
    deaths_of,
    is_running,
    kill,
    pause,
    published_ports,
    state_of,
    usages_of,
)
from labctl.runtimes.compose.engine import COMPOSE_FOLDER, Compose, Engine
from labctl.runtimes.compose.limits import (
    free_space_of,
    run_out_of_memory,
    volume_folder,
)
from labctl.runtimes.compose.own_containers import own_containers
from labctl.runtimes.compose.secrets import write_service_secrets
from labctl.runtimes.compose.variables import lab_variables
from labctl.runtimes.model import (
    AllFetched,
    Check,
    Death,
    DiskSpace,
    Level,
    ProcessState,
    Usage,
)
from labctl.services import (
    Context,
    Service,
    services_of,
)
from labctl.services.endpoints import loopback_endpoints

__all__ = ["ComposeRuntime"]

HASH_LABEL = "com.docker.compose.config-hash"
EVERY_PROFILE = ("*",)
"""All Compose profiles: otherwise a service that was switched off meanwhile would remain."""
ENGINE_IS_NOT_OURS = (
    "The container engine looks after the services, and it is not the lab's to kill or to stop"
)


def _no_snapshots() -> LabError:
    return LabError(
        "A lab in containers keeps its data in the engine's volumes: it has no snapshots",
        hint="a native lab has them",
        exit_code=ExitCode.USAGE,
    )


class ComposeRuntime:
    """A runtime that runs services as the containers of one Compose project."""

    owns_supervisor: ClassVar[bool] = False
    cuts_off: ClassVar[bool] = True

    def __init__(
        self,
        project: Path,
        config: LabConfig,
        profile: ComposeProfile,
        state: LabState,
        ports: Mapping[str, Mapping[str, int]],
        passwords: Mapping[str, str],
    ) -> None:
        self._project = project
        self._config = config
        self._profile = profile
        self._state = state
        self._ports = ports
        self._passwords = passwords
        self._starting: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self.engine = Engine()
        self.name = f"labctl-{state.name}"
        """Name of the Compose project; prefix of its containers, volumes and network."""

    def endpoints(self) -> Endpoints:
        return loopback_endpoints(self._config, self._ports, self._passwords)

    def checks(self) -> list[Check]:
        return check_engine(self.engine, self._profile, running=self.running)

    def parts(self) -> list[Check]:
        missing = self._missing(services_of(self._config))
        if not missing:
            return [Check("images", Level.OK, "all here")]
        names = ", ".join(sorted(set(missing.values())))
        how = "`labctl up` builds them"
        if self._profile.images == "official":
            how = "`labctl up` pulls and builds them"
        return [Check("images", Level.WARN, f"not here yet: {names}", how)]

    def running(self) -> bool:
        return bool(self.states())

    def states(self) -> dict[str, ProcessState]:
        found = {name: state_of(container) for name, container in self._containers().items()}
        return found if any(state.state != "STOPPED" for state in found.values()) else {}

    def state(self, name: str) -> ProcessState:
        container = self.engine.container(self.name, name)
        return state_of(container) if container else ProcessState("STOPPED", None, None)

    def fetch(self, services: Sequence[Service], progress: Progress) -> None:
        """Build or pull the missing images of `services`."""
        if self._profile.images == "local":
            names = {
                name for image in self._images(services).values() if (name := recipe_of(image))
            }
            build(_store(), sorted(names), progress=progress)
        missing = self._missing(services)
        for service, image in missing.items():
            verb = "build" if self._definitions[service].get("build") else "pull"
            progress.begin(image, f"{verb}ing", None, "packages")
            self._compose.run(verb, service)
            progress.finish(image)

    @contextmanager
    def fetching(self, services: Sequence[Service], progress: Progress) -> Iterator[AllFetched]:
        self.fetch(services, progress)
        yield AllFetched(services)

    def write_secrets(self) -> None:
        write_service_secrets(self._state.secrets, self._config, self._passwords)

    def declare(self, services: Sequence[tuple[Service, Context]]) -> set[str]:
        wanted = {service.name for service, _ in services}
        # Another project or source may have used the lab since (labctl/latency/twins.py).
        self.write_variables()
        self._write_own_services()
        # One command creates network and volumes, because services are started concurrently.
        self._compose.run("create", "--no-recreate", "--no-build", *sorted(wanted))
        hashes = self._compose.hashes()
        return {
            name
            for name, containers in self._all_containers().items()
            if name in wanted
            and (
                any(self._is_outdated(container, hashes.get(name)) for container in containers)
                # `create` has made missing containers but has not started them.
                or sum(map(is_running, containers)) != self._replicas(name)
            )
        }

    def _is_outdated(self, container: Any, config_hash: str | None) -> bool:
        """Return whether a container differs from the current Compose file or image."""
        image = self.engine.image_id(container.attrs["Config"]["Image"])
        return bool(
            container.labels.get(HASH_LABEL) != config_hash or container.attrs["Image"] != image
        )

    def _replicas(self, name: str) -> int:
        return int(self._definitions[name].get("deploy", {}).get("replicas", 1))

    def start(self, service: Service, context: Context) -> None:
        del context
        beside = (name for name in service.container.companions if name in self._definitions)
        names = sorted([service.name, *beside])
        with ExitStack() as held:
            # Two concurrent commands for the same container conflict.
            for name in names:
                held.enter_context(self._starting[name])
            if self.state(service.name).state == "FATAL":
                # The engine keeps counting its deaths and would never call it healthy again.
                self._compose.run("rm", "--force", "--stop", service.name)
            self._compose.run("up", "--detach", "--no-deps", "--no-build", *names)

    def stop(self, name: str) -> None:
        if name in self._containers():
            self._compose.run("stop", name, *self._only_with(name))

    def _only_with(self, name: str) -> list[str]:
        """Return Compose services that exist only for this service of the lab."""
        known = {service.name: service for service in services_of(self._config)}
        companions = known[name].container.companions
        return [one for one in companions if one in self._definitions and one not in known]

    def own_ports(self) -> set[int]:
        every = self.engine.containers(self.name).values()
        return published_ports(container for containers in every for container in containers)

    def require_own_listeners(self, name: str, pid: int | None) -> None:
        """Do nothing: the engine holds a container's ports for its whole lifetime."""

    def end_strays(self) -> None:
        """Do nothing: the engine supervises every container."""

    def shutdown(self) -> None:
        self._compose.run("down", "--remove-orphans", profiles=EVERY_PROFILE)

    def remove(self) -> None:
        self._compose.run("down", "--remove-orphans", "--volumes", profiles=EVERY_PROFILE)

    def usages(self) -> dict[str, Usage]:
        """Return usages; memory is that of the control group minus reclaimable cache."""
        return usages_of(self._all_containers())

    def deaths(self) -> dict[str, list[Death]]:
        """Return deaths; the engine keeps only their number and the last time."""
        return deaths_of(self.engine.client, self._all_containers())

    def space(self, name: str) -> DiskSpace | None:
        container = self.engine.container(self.name, name)
        return free_space_of(container) if container else None

    def build(self, service: Service) -> str:
        """Return the tag of the service's image."""
        image = str(self._definitions[service.name].get("image", ""))
        return image.partition("@")[0].rpartition(":")[2]

    def log_file(self, name: str) -> None:
        """Return None: the engine keeps the logs."""
        del name

    def tail(self, name: str, lines: int) -> list[str]:
        texts = (c.logs(tail=lines) for c in self._all_containers().get(name, ()))
        return [line for text in texts for line in text.decode(errors="replace").splitlines()]

    def follow(self, name: str) -> Iterator[str]:
        container = self.engine.container(self.name, name)
        if container is None:
            return
        rest = b""
        for chunk in container.logs(stream=True, follow=True, tail=0):
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line.decode(errors="replace")

    @property
    def files(self) -> list[Path]:
        """The Compose files; each overrides the one before."""
        files = [COMPOSE_FOLDER / "compose.yaml"]
        if self._profile.images == "local":
            files.append(COMPOSE_FOLDER / "stand-in.yaml")
        # It stays if the user's services are gone, so that `destroy` finds their volumes.
        if self._state.own_containers.is_file():
            files.append(self._state.own_containers)
        return files + [self._project / file for file in self._profile.files]

    def _write_own_services(self) -> None:
        if self._config.own_services:
            text = own_containers(self._config, self._state.name, self._ports, self._passwords)
            write_private(self._state.own_containers, text)

    def write_variables(self) -> Path:
        """Write the Compose file's variables for `docker compose --env-file`; return the file."""
        env_file = self._state.compose_variables
        variables = lab_variables(
            self._project,
            self._config,
            self._profile,
            self._state,
            self._ports,
            self._passwords,
            store=_store(),
        )
        lines = (f"{key}={value}\n" for key, value in variables.items())
        write_private(env_file, "".join(lines))
        return env_file

    def kill(self, name: str) -> None:
        """Kill a service (`kill -9`); the engine starts it again.

        Kills only one of several replicas: the others are meant to take over.
        """
        kill(self._container(name))

    def kill_all(self, *, but: Collection[str] = ()) -> None:
        """Kill all services but `but`. The engine is not the lab's and restarts them."""
        for name in self._containers():
            if name not in but:
                self.kill(name)

    def kill_supervisor(self) -> None:
        raise LabError(ENGINE_IS_NOT_OURS, exit_code=ExitCode.USAGE)

    def paused_supervisor(self) -> AbstractContextManager[None]:
        raise LabError(ENGINE_IS_NOT_OURS, exit_code=ExitCode.USAGE)

    def out_of_memory(self, name: str) -> None:
        """Fill the container's memory from inside."""
        run_out_of_memory(self._container(name))

    def data_folder(self, name: str) -> Path:
        return volume_folder(self._container(name))

    def require_files(self) -> None:
        raise _no_snapshots()

    def frozen(self) -> AbstractContextManager[None]:
        raise _no_snapshots()

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
        container = self._container(name)
        pause(container)
        try:
            yield
        finally:
            container.unpause()

    @contextmanager
    def cut_off(self, name: str) -> Iterator[None]:
        """Disconnect a service's container, with its published ports, during the block."""
        container = self._container(name)
        (network_name,) = container.attrs["NetworkSettings"]["Networks"]
        network = self.engine.client.networks.get(network_name)
        network.disconnect(container)
        try:
            yield
        finally:
            network.connect(container, aliases=[name])

    def _container(self, name: str) -> Any:
        """Return a service's container. Raise LabError (NOT_READY) if there is none."""
        container = self.engine.container(self.name, name)
        if container is None:
            raise LabError(f"{name} has no container", exit_code=ExitCode.NOT_READY)
        return container

    def _containers(self) -> dict[str, Any]:
        """Return one container per service: a stopped one if any replica is stopped."""
        found = self._all_containers()
        return {name: min(every, key=is_running) for name, every in found.items()}

    def _all_containers(self) -> dict[str, list[Any]]:
        known = {service.name for service in services_of(self._config)}
        found = self.engine.containers(self.name)
        return {name: every for name, every in found.items() if name in known}

    def _missing(self, services: Sequence[Service]) -> dict[str, str]:
        """Return the images that the engine does not have, by service."""
        images = self._images(services)
        return {name: image for name, image in images.items() if not self.engine.image_id(image)}

    def _images(self, services: Sequence[Service]) -> dict[str, str]:
        """Return the images of `services` and of their companions, by service."""
        wanted = {service.name for service in services}
        wanted |= {name for service in services for name in service.container.companions}
        return {
            name: str(definition["image"])
            for name, definition in self._definitions.items()
            if name in wanted
        }

    @cached_property
    def _definitions(self) -> dict[str, Any]:
        """The services of the Compose file, with all variables resolved."""
        definitions: dict[str, Any] = self._compose.config()["services"]
        return definitions

    @cached_property
    def _compose(self) -> Compose:
        self._write_own_services()
        return Compose(self.name, self.files, self.write_variables())


def _store() -> ArtifactStore:
    return ArtifactStore(system_tools=False)
