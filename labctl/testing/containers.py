"""A Compose lab for a test session, kept by testcontainers."""

from __future__ import annotations

from testcontainers.compose import DockerCompose

from labctl.runtimes.compose.compose_runtime import ComposeRuntime
from labctl.runtimes.compose.docker_engine import COMPOSE_FOLDER

__all__ = ["start_stack"]


def start_stack(runtime: ComposeRuntime) -> None:
    """Start a lab's Compose project with Compose itself, and wait until it is healthy.

    `docker compose up` starts everything but the user's own services, so `labctl up` finds the
    project running. It starts the user's own after it has made the tables that they need.
    """
    runtime.write_secrets()
    stack = DockerCompose(
        context=COMPOSE_FOLDER,
        compose_file_name=[str(file) for file in runtime.compose_files],
        env_file=str(runtime.write_variables()),
        wait=True,
        services=runtime.lab_services(),
    )
    stack.start()
