"""The container engine: asked through its API, and through `docker compose`."""

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
    """There is no engine that answers, or no Compose."""

    def __init__(self, what: str) -> None:
        super().__init__(what, hint=INSTALL_HINT, exit_code=ExitCode.ENVIRONMENT)


class Engine:
    """The engine that the `docker` command uses: $DOCKER_HOST, else the current context's."""

    @cached_property
    def client(self) -> docker.DockerClient:
        """Raises EngineMissingError when no engine answers."""
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
        """What the engine says of its machine."""
        found: dict[str, Any] = self.client.info()
        return found

    def image_id(self, image: str) -> str | None:
        """Of the image that has this name now; None when there is none."""
        try:
            return str(self.client.images.get(image).id)
        except docker.errors.ImageNotFound:
            return None

    def containers(self, project: str) -> dict[str, list[Any]]:
        """Every container of a Compose project by service, whatever its state."""
        found: dict[str, list[Any]] = defaultdict(list)
        for container in self.client.containers.list(
            all=True, filters={"label": f"{PROJECT_LABEL}={project}"}, ignore_removed=True
        ):
            found[container.labels[SERVICE_LABEL]].append(container)
        return found

    def container(self, project: str, service: str) -> Any | None:
        """One service's container, or None."""
        labels = [f"{PROJECT_LABEL}={project}", f"{SERVICE_LABEL}={service}"]
        found = self.client.containers.list(
            all=True, filters={"label": labels}, ignore_removed=True
        )
        return found[0] if found else None

    @staticmethod
    def _context_host() -> str:
        template = "{{.Endpoints.docker.Host}}"
        done = _run(["docker", "context", "inspect", "--format", template])
        return done.stdout.strip()


class Compose:
    """`docker compose` for one project: its files, its variables, its name."""

    def __init__(self, project: str, files: Sequence[Path], env_file: Path) -> None:
        self._prefix = ["docker", "compose", "--project-name", project, "--env-file", str(env_file)]
        for file in files:
            self._prefix += ["--file", str(file)]

    def config(self) -> dict[str, Any]:
        """The whole configuration as Compose understands it."""
        parsed: dict[str, Any] = json.loads(self.run("config", "--format", "json"))
        return parsed

    def hashes(self) -> dict[str, str]:
        """A hash of each service's configuration, as containers carry it in a label."""
        lines = self.run("config", "--hash", "*").splitlines()
        return dict(line.split() for line in lines if line.strip())

    def run(self, *arguments: str, profiles: Sequence[str] = ()) -> str:
        """What a command printed. Raises LabError with what it said when it fails.

        `profiles`: of the Compose files, instead of those that the variables name.
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
    """Of Docker Compose. Raises EngineMissingError when the `docker` command has none."""
    done = _run(["docker", "compose", "version", "--short"])
    if done.returncode != 0:
        raise EngineMissingError("The `docker` command has no `compose`")
    return done.stdout.strip()
