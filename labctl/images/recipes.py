"""What each image is made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from labctl.errors import ExitCode, LabError

__all__ = ["BASE", "RECIPES", "REPOSITORY", "SERVICES", "Recipe", "with_parents"]

REPOSITORY = "labctl-local"
BASE = "base"
LOCAL = "local"


@dataclass(frozen=True)
class Recipe:
    """A Dockerfile below compose/images, and what its context holds beside it."""

    name: str
    folder: str
    """Of the Dockerfile, below compose/images."""
    version: str | None = None
    """The artefact whose version the image carries; None: labctl's own."""
    parents: Mapping[str, str] = field(default_factory=lambda: {"BASE": "jre"})
    """Build arguments that name another recipe's image."""
    artifacts: tuple[str, ...] = ()
    """Unpacked below `artifacts/` in the context."""
    shared: tuple[str, ...] = ()
    """Other folders of compose/images/local in the context."""
    cached: tuple[str, ...] = ()
    """Artefacts below `cache/` in the context, as they are in labctl's own cache."""
    wheels: bool = False
    """Python packages of requirements.lock below `wheels/` in the context."""
    project: bool = False
    """The context is the project itself."""


_PLUGINS = ("debezium-postgres", "debezium-mysql", "debezium-sqlserver", "apicurio-converter")
_FROM_BASE = {"BASE": BASE}

RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("jre", f"{LOCAL}/jre", "jre", _FROM_BASE, artifacts=("jre",)),
        Recipe("postgres", f"{LOCAL}/postgres", "postgres", _FROM_BASE, artifacts=("postgres",)),
        Recipe("mysql", f"{LOCAL}/mysql", "mysql", _FROM_BASE, artifacts=("mysql",)),
        Recipe("objectstore", f"{LOCAL}/objectstore", "minio", _FROM_BASE, artifacts=("minio",)),
        Recipe(
            "registry", f"{LOCAL}/registry", "apicurio-registry", artifacts=("apicurio-registry",)
        ),
        Recipe("kafka", f"{LOCAL}/kafka", "kafka", artifacts=("kafka",), shared=("kafka-bin",)),
        Recipe(
            "connect-base",
            f"{LOCAL}/connect-base",
            "debezium-postgres",
            artifacts=("kafka", *_PLUGINS),
            shared=("kafka-bin",),
        ),
        # The base has no client of Confluent's hub: an image without the S3 sink connector.
        Recipe(
            "connect",
            "connect",
            "debezium-postgres",
            {"CONNECT_BASE": "connect-base", "SINK_HUB_IMAGE": BASE},
        ),
        Recipe(
            "silver-builder",
            f"{LOCAL}/silver-builder",
            None,
            _FROM_BASE,
            cached=("jre", "spark-packages"),
            wheels=True,
        ),
        Recipe(
            "silver",
            "silver",
            None,
            {"SILVER_BASE": BASE, "SILVER_BUILDER": "silver-builder"},
            project=True,
        ),
    )
}
"""In an order in which every image follows those it is made from."""

SERVICES = ("postgres", "mysql", "kafka", "connect", "registry", "objectstore", "silver")
"""Compose services that have an image here. SQL Server, and the user interfaces of Apicurio and
Kafka, come in no package: they cannot be built without an image hub."""


def with_parents(names: Iterable[str] | None) -> list[str]:
    """`names` and what they are made from, in building order. Raises LabError (USAGE)."""
    known = [BASE, *RECIPES]
    wanted = set(known if names is None else names)
    if unknown := wanted - set(known):
        raise LabError(
            f"There is no image named {', '.join(sorted(unknown))}",
            hint=f"there are: {', '.join(known)}",
            exit_code=ExitCode.USAGE,
        )
    for name in reversed(RECIPES):
        if name in wanted:
            wanted.update(RECIPES[name].parents.values())
    return [name for name in known if name in wanted]
