"""A Compose lab for a test session, kept by testcontainers."""

from __future__ import annotations

from testcontainers.compose import DockerCompose

from labctl.runtimes.compose.engine import COMPOSE_FOLDER
from labctl.runtimes.compose.runtime import ComposeRuntime

__all__ = ["start_stack"]


def start_stack(runtime: ComposeRuntime) -> None:
    """Bring a lab's Compose project up and healthy, by Compose's own doing.

    What `docker compose up` starts is all there is to start: `labctl up` finds it running.
    """
    runtime.write_secrets()
    stack = DockerCompose(
        context=COMPOSE_FOLDER,
        compose_file_name=[str(file) for file in runtime.files],
        env_file=str(runtime.write_variables()),
        wait=True,
    )
    stack.start()
