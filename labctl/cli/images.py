"""`labctl tools images`: images of the Compose runtime, built without any image hub."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from labctl.artifacts import ArtifactStore
from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result
from labctl.cli.progress import ConsoleProgress
from labctl.images import ImageStatus, build, statuses

__all__ = ["build_command", "list_command"]

app = group("images")
Names = Annotated[list[str] | None, typer.Argument(help="Which images [default: all].")]


@command(app, "list", example="labctl tools images list")
def list_command(invocation: Invocation) -> None:
    """List the images that can be built, and whether each is there and up to date."""
    _show(invocation, statuses(_store()))


@command(app, "build", example="labctl tools images build kafka connect")
def build_command(invocation: Invocation, names: Names = None) -> None:
    """Build what is missing or outdated, and what it is made from.

    Needs a Docker engine and, for the base image, root and debootstrap. There are no
    packages of SQL Server and of the user interfaces of Kafka and Apicurio, so no images either.
    """
    with ConsoleProgress() as progress:
        built = build(_store(), names or None, progress=progress)
    _show(invocation, built)


def _store() -> ArtifactStore:
    return ArtifactStore(system_tools=False)


def _show(invocation: Invocation, images: list[ImageStatus]) -> None:
    print_result(invocation.format, {"images": images}, lambda: _render(images))


def _render(images: list[ImageStatus]) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    for title in ("image", "reference", "state", "for"):
        table.add_column(title, overflow="fold")
    for image in images:
        use = "a service" if image.service else "other images"
        table.add_row(image.name, image.reference, image.state, use)
    return table
