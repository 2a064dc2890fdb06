"""The Compose runtime: Docker Compose creates the containers and the engine restarts them."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from labctl.artifacts import ArtifactStore, Progress
from labctl.config.endpoints import Endpoints
from labctl.config.lab_config import ComposeProfile, LabConfig
from labctl.errors import ExitCode, LabError
from labctl.images import build, recipe_of
from labctl.runtimes.compose.compose_checks import check_engine
from labctl.runtimes.compose.compose_data_files import ComposeDataFiles
from labctl.runtimes.compose.compose_faults import ComposeFaults
from labctl.runtimes.compose.compose_inspector import ComposeInspector
from labctl.runtimes.compose.compose_logs import ComposeLogs
from labctl.runtimes.compose.container_secrets import write_service_secrets
from labctl.runtimes.compose.containers import is_running, published_ports, state_of
from labctl.runtimes.compose.docker_engine import COMPOSE_FOLDER, Compose, Engine
from labctl.runtimes.compose.lab_containers import LabContainers
from labctl.runtimes.compose.own_containers import OWN_LABEL, own_containers
from labctl.runtimes.compose.variables import lab_variables
from labctl.runtimes.runtime_protocols import AllFetched, Check, Level, ProcessState
from labctl.services.lab_services import services_of
from labctl.services.local_endpoints import loopback_endpoints
from labctl.services.service import Context, Service
from labctl.state.lab_state import LabState, write_private

__all__ = ["ComposeRuntime"]

HASH_LABEL = "com.docker.compose.config-hash"
EVERY_PROFILE = ("*",)
"""All Compose profiles: otherwise a service that was switched off meanwhile would remain."""


class ComposeRuntime:
    """A runtime that runs services as the containers of one Compose project."""

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
        names = {service.name for service in services_of(config)}
        self._containers = LabContainers(self.engine, self.name, names)
        self.logs = ComposeLogs(self._containers)
        self.inspector = ComposeInspector(self._containers, lambda: self._definitions)
        self.files = ComposeDataFiles(self._containers)
        self.faults = ComposeFaults(self._containers)

    def endpoints(self) -> Endpoints:
        return loopback_endpoints(self._config, self._ports, self._passwords)

    def checks(self) -> list[Check]:
        return check_engine(self.engine, self._profile, running=lambda: bool(self.states()))

    def parts(self) -> list[Check]:
        # The file of the user's services is as the last `up` wrote it; lab.toml is newer.
        missing = self._missing([s for s in services_of(self._config) if not s.is_own])
        sections = self._config.own_services.values()
        images = {section.image for section in sections if section.image is not None}
        own = sorted(image for image in images if not self.engine.image_id(image))
        checks = [*self._lab_images(missing), *map(_not_pulled, own)]
        return checks or [Check("images", Level.OK, "all here")]

    def _lab_images(self, missing: Mapping[str, str]) -> list[Check]:
        if not missing:
            return []
        names = ", ".join(sorted(set(missing.values())))
        how = "`labctl up` builds them"
        if self._profile.images == "official":
            how = "`labctl up` pulls and builds them"
        return [Check("images", Level.WARN, f"not here yet: {names}", how)]

    def states(self) -> dict[str, ProcessState]:
        found = {name: state_of(container) for name, container in self._containers.all().items()}
        return found if any(state.state != "STOPPED" for state in found.values()) else {}

    def state(self, name: str) -> ProcessState:
        container = self._containers.get(name)
        return state_of(container) if container else ProcessState("STOPPED", None, None)

    def fetch(self, services: Sequence[Service], progress: Progress) -> None:
        """Build or pull the missing images of `services`.

        Raises LabError (USAGE) for a mistake in a section of the user's, before anything is pulled.
        """
        self._write_own_services()
        if self._profile.images == "local":
            names = {
                name for image in self._images(services).values() if (name := recipe_of(image))
            }
            build(_store(), sorted(names), progress=progress)
        missing = self._missing(services)
        for service, image in missing.items():
            verb = "build" if self._definitions[service].get("build") else "pull"
            progress.begin(image, f"{verb}ing", None, "packages")
            try:
                self._compose.run(verb, service)
            except LabError as error:
                if verb == "pull" and service in self._config.own_services:
                    raise _no_image(service, image, error) from None
                raise
            progress.finish(image)

    @contextmanager
    def fetching(self, services: Sequence[Service], progress: Progress) -> Iterator[AllFetched]:
        self.fetch(services, progress)
        yield AllFetched(services)

    def write_secrets(self) -> None:
        write_service_secrets(self._state.secrets, self._config, self._passwords)

    def declare(self, services: Sequence[tuple[Service, Context]]) -> set[str]:
        wanted = {service.name for service, _ in services}
        # Another project or source may have used the lab since (labctl/latency/shadow_tables.py).
        self.write_variables()
        self._write_own_services()
        self._remove_former_services()
        # One command creates network and volumes, because services are started concurrently.
        self._compose.run("create", "--no-recreate", "--no-build", *sorted(wanted))
        hashes = self._compose.hashes()
        return {
            name
            for name, containers in self._containers.replicas().items()
            if name in wanted
            and (
                any(self._is_outdated(container, hashes.get(name)) for container in containers)
                # `create` has made missing containers but has not started them.
                or sum(map(is_running, containers)) != self._replicas(name)
            )
        }

    def _remove_former_services(self) -> None:
        """Remove the containers of the user's services that have no section or image any more.

        Their volumes stay until the lab is destroyed.
        """
        for name, containers in self.engine.containers(self.name).items():
            if name in self._config.own_services:
                continue
            for container in containers:
                if OWN_LABEL in container.labels:
                    container.stop()
                    container.remove(v=True, force=True)

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
        if service.name not in self._definitions:
            raise LabError(
                f"{service.name} has no container yet",
                hint="labctl up",
                exit_code=ExitCode.NOT_READY,
            )
        beside = (name for name in service.sidecars if name in self._definitions)
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
        if name in self._containers.all():
            self._compose.run("stop", name, *self._only_with(name))

    def _only_with(self, name: str) -> list[str]:
        """Return Compose services that exist only for this service of the lab."""
        known = {service.name: service for service in services_of(self._config)}
        sidecars = known[name].sidecars
        return [one for one in sidecars if one in self._definitions and one not in known]

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
        # Compose knows only the volumes that its present files define.
        self.engine.remove_volumes(self.name)

    @property
    def compose_files(self) -> list[Path]:
        """The Compose files; each overrides the one before."""
        files = [COMPOSE_FOLDER / "compose.yaml"]
        if self._profile.images == "local":
            files.append(COMPOSE_FOLDER / "stand-in.yaml")
        if self._state.own_containers.is_file():
            files.append(self._state.own_containers)
        return files + [self._project / file for file in self._profile.files]

    def lab_services(self) -> list[str]:
        """Return the services that Compose runs, sidecars included, without the user's own."""
        return [name for name in self._definitions if name not in self._config.own_services]

    def _write_own_services(self) -> None:
        """Write the Compose file of the user's services, or remove it if there are none.

        Raises LabError (USAGE) for a mistake in one of their sections. Only `up` calls this:
        every other command uses the file that is there, whatever lab.toml says now.
        """
        file = self._state.own_containers
        before = file.read_text(encoding="utf-8") if file.is_file() else None
        text = None
        if self._config.own_services:
            text = own_containers(self._config, self._state.name, self._ports, self._passwords)
        if text == before:
            return
        if text is None:
            file.unlink()
        else:
            write_private(file, text)
        # Both have read the file.
        for cached in ("_compose", "_definitions"):
            self.__dict__.pop(cached, None)

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

    def _missing(self, services: Sequence[Service]) -> dict[str, str]:
        """Return the images that the engine does not have, by service."""
        images = self._images(services)
        return {name: image for name, image in images.items() if not self.engine.image_id(image)}

    def _images(self, services: Sequence[Service]) -> dict[str, str]:
        """Return the images of `services` and of their sidecars, by service."""
        wanted = {service.name for service in services}
        wanted |= {name for service in services for name in service.sidecars}
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
        return Compose(self.name, self.compose_files, self.write_variables())


def _not_pulled(image: str) -> Check:
    return Check(
        "images",
        Level.WARN,
        f"not here yet: {image}, of a service of your own",
        f"`labctl up` pulls it; if no registry has it, build it: docker build -t {image} FOLDER",
    )


def _no_image(service: str, image: str, error: LabError) -> LabError:
    """Return the error for an image of a service of the user's own that cannot be pulled."""
    return LabError(
        f"{service}: the engine has no image {image}, and cannot pull it",
        details=(*error.details, error.what),
        hint=f"build or pull {image} yourself, or correct [services.{service}] image in lab.toml",
        exit_code=ExitCode.ENVIRONMENT,
    )


def _store() -> ArtifactStore:
    return ArtifactStore(system_tools=False)
