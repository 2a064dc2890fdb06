"""Access to the container engine through its API and `docker compose`."""

from __future__ import annotations

import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import docker
import docker.errors
import requests

from labctl.errors import ExitCode, LabError
from labctl.shipped import shipped

__all__ = ["COMPOSE_FOLDER", "Compose", "Engine", "EngineMissingError", "compose_version"]

COMPOSE_FOLDER = shipped("compose")
INSTALL_HINT = "docs/compose.md says what is needed; the native profile needs no engine"
QUERY_SECONDS = 60.0
PROJECT_LABEL = "com.docker.compose.project"
SERVICE_LABEL = "com.docker.compose.service"


class EngineMissingError(LabError):
    """No container engine answers, or Compose is missing."""

    def __init__(self, what: str) -> None:
        super().__init__(what, hint=INSTALL_HINT, exit_code=ExitCode.ENVIRONMENT)


class Engine:
    """The engine that the `docker` command uses: $DOCKER_HOST, else that of the current context."""

    @cached_property
    def client(self) -> docker.DockerClient:
        """The connected client. Raises EngineMissingError if no engine answers."""
        url = os.environ.get("DOCKER_HOST") or self._context_host()
        socket = Path(url.removeprefix("unix://")) if url.startswith("unix://") else None
        if socket is not None and not socket.exists():
            raise EngineMissingError(f"No container engine: there is no {socket}")
        try:
            client = docker.DockerClient(base_url=url, timeout=int(QUERY_SECONDS))
            client.ping()
        except (docker.errors.DockerException, requests.RequestException) as error:
            raise EngineMissingError(f"No container engine answers at {url}: {error}") from None
        return client

    def info(self) -> dict[str, Any]:
        """Return the engine's information about its machine."""
        found: dict[str, Any] = self.client.info()
        return found

    def image_id(self, image: str) -> str | None:
        """Return the id of the image with this name; None if there is none."""
        try:
            return str(self.client.images.get(image).id)
        except docker.errors.ImageNotFound:
            return None

    def containers(self, project: str) -> dict[str, list[Any]]:
        """Return all containers of a Compose project by service, whatever their state."""
        found: dict[str, list[Any]] = defaultdict(list)
        for container in self.client.containers.list(
            all=True, filters={"label": f"{PROJECT_LABEL}={project}"}, ignore_removed=True
        ):
            found[container.labels[SERVICE_LABEL]].append(container)
        return found

    def container(self, project: str, service: str) -> Any | None:
        """Return a container of the service; None if there is none."""
        labels = [f"{PROJECT_LABEL}={project}", f"{SERVICE_LABEL}={service}"]
        found = self.client.containers.list(
            all=True, filters={"label": labels}, ignore_removed=True
        )
        return found[0] if found else None

    def remove_volumes(self, project: str) -> None:
        """Delete all volumes of a Compose project, also those that its files no longer define."""
        filters = {"label": f"{PROJECT_LABEL}={project}"}
        for volume in self.client.volumes.list(filters=filters):
            try:
                volume.remove()
            except docker.errors.NotFound:
                pass
            except docker.errors.APIError as error:
                raise LabError(
                    f"Volume {volume.name} cannot be deleted: {error.explanation or error}",
                    hint="remove the container that uses it, then repeat the command",
                ) from None

    @staticmethod
    def _context_host() -> str:
        template = "{{.Endpoints.docker.Host}}"
        done = _run(["docker", "context", "inspect", "--format", template])
        return done.stdout.strip()


class Compose:
    """`docker compose` for one project with its name, files and variables."""

    def __init__(self, project: str, files: Sequence[Path], env_file: Path) -> None:
        self._prefix = ["docker", "compose", "--project-name", project, "--env-file", str(env_file)]
        for file in files:
            self._prefix += ["--file", str(file)]

    def config(self) -> dict[str, Any]:
        """Return the complete configuration, as Compose resolves it."""
        parsed: dict[str, Any] = json.loads(self.run("config", "--format", "json"))
        return parsed

    def hashes(self) -> dict[str, str]:
        """Return each service's configuration hash, which its containers have in a label."""
        lines = self.run("config", "--hash", "*").splitlines()
        return dict(line.split() for line in lines if line.strip())

    def run(self, *arguments: str, profiles: Sequence[str] = ()) -> str:
        """Run a command and return its output. Raise LabError with its messages if it fails.

        `profiles` are Compose profiles to use instead of those in the variables.
        """
        chosen = [f"--profile={name}" for name in profiles]
        done = _run([*self._prefix, *chosen, "--ansi", "never", "--progress", "plain", *arguments])
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise LabError(
                f"docker compose {arguments[0]} failed: {said[-1] if said else 'no message'}",
                details=tuple(said[-8:-1]),
                hint="labctl doctor",
            )
        return done.stdout


def _run(argv: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise EngineMissingError("There is no `docker` command on this machine") from None


def compose_version() -> str:
    """Return the version of Docker Compose. Raise EngineMissingError if it is missing."""
    done = _run(["docker", "compose", "version", "--short"])
    if done.returncode != 0:
        raise EngineMissingError("The `docker` command has no `compose`")
    return done.stdout.strip()
