"""The list of images, their state, and building those that are missing or outdated."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from labctl.artifacts import ArtifactStore, Progress, SilentProgress
from labctl.images import base, wheels
from labctl.images.context import stage
from labctl.images.docker_commands import image_id, image_label, remove_image, require_engine, run
from labctl.images.recipes import BASE, RECIPES, REPOSITORY, STEPS, with_parents
from labctl.images.sources import SOURCES, contents, sources
from labctl.services.container import Recipe
from labctl.shipped import shipped

__all__ = ["ImageStatus", "build", "image_work", "recipe_of", "references", "statuses"]

LABEL = "labctl.inputs"
"""Label of every image; its value is a digest of all inputs."""
State = Literal["ready", "outdated", "missing"]


@dataclass(frozen=True)
class ImageStatus:
    """An image and its state."""

    name: str
    reference: str
    state: State
    """"outdated": the image exists, but was made from other inputs than the current ones."""
    service: bool
    """True if a Compose service runs the image; otherwise only other images are built from it."""


def references(store: ArtifactStore) -> dict[str, str]:
    """Return the image of every Compose service that has a recipe here, by service name."""
    return {name: _reference(store, name) for name in RECIPES if name not in STEPS}


def image_work(store: ArtifactStore) -> Path:
    """Return the folder in which build contexts are put together."""
    return store.cache_dir / "images"


def recipe_of(reference: str) -> str | None:
    """Return the recipe's name from an image reference; None if the image is not labctl's."""
    repository, _, image = reference.partition("/")
    return image.partition(":")[0] if repository == REPOSITORY else None


def statuses(store: ArtifactStore) -> list[ImageStatus]:
    """Return every image's status in build order. Asks the engine and builds nothing."""
    require_engine()
    plan = _Plan(store)
    return [plan.status(name) for name in (BASE, *RECIPES)]


def build(
    store: ArtifactStore,
    names: Iterable[str] | None = None,
    *,
    progress: Progress | None = None,
) -> list[ImageStatus]:
    """Build `names` (all, if None) and their parents, skipping images that are up to date.

    `store` must not take this machine's own programs for artefacts. Raises LabError.
    """
    wanted = with_parents(names)
    require_engine()
    report = progress or SilentProgress()
    store.fetch(_artifacts(wanted), progress=report)
    plan = _Plan(store)
    plan.work.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        if plan.status(name).state != "ready":
            replaced = image_id(plan.reference(name))
            _make(plan, name, report)
            if replaced is not None and replaced != image_id(plan.reference(name)):
                remove_image(replaced)
    return [plan.status(name) for name in wanted]


def _artifacts(names: Iterable[str]) -> list[str]:
    recipes = [RECIPES[name] for name in names if name != BASE]
    parts = (part for recipe in recipes for part in (*recipe.artifacts, *recipe.cached))
    return list(dict.fromkeys(parts))


def _reference(store: ArtifactStore, name: str) -> str:
    """Return `labctl-local/<name>:<version>`, the version with a tag's valid characters only."""
    if name == BASE:
        version = base.SUITE
    else:
        artifact = RECIPES[name].version
        version = store.version(artifact) if artifact else _own_version()
    return f"{REPOSITORY}/{name}:{re.sub(r'[^A-Za-z0-9_.-]', '-', version)}"


def _own_version() -> str:
    """Return the version without its commit part, so that a new image replaces the previous one."""
    return re.sub(r"(\.dev|\+).*", "", metadata.version("labctl"))


class _Plan:
    """The current inputs of each image."""

    def __init__(self, store: ArtifactStore) -> None:
        self.store = store
        self.images = shipped("compose/images")
        # In the artefacts' file system: contexts contain hard links to them.
        self.work = image_work(store)
        self.root = sources(self.work)
        self.requirements = wheels.locked_text()
        self._digests: dict[str, str] = {}

    def reference(self, name: str) -> str:
        return _reference(self.store, name)

    def wheels(self) -> Path:
        """Return the wheelhouse of the current requirements."""
        digest = hashlib.sha256(self.requirements.encode()).hexdigest()
        return self.work / f"wheels-{digest[:16]}"

    def status(self, name: str) -> ImageStatus:
        reference = self.reference(name)
        label = image_label(reference, LABEL)
        state: State = "missing"
        if label is not None:
            state = "ready" if label == self.digest(name) else "outdated"
        return ImageStatus(name, reference, state, name not in STEPS)

    def digest(self, name: str) -> str:
        """Return a digest that changes whenever an input of the image changes."""
        if name not in self._digests:
            digest = hashlib.sha256()
            for part in base.inputs() if name == BASE else self._inputs(RECIPES[name]):
                digest.update(len(part).to_bytes(8, "big") + part)
            self._digests[name] = digest.hexdigest()[:16]
        return self._digests[name]

    def _inputs(self, recipe: Recipe) -> Iterator[bytes]:
        for argument, parent in recipe.parents.items():
            yield f"{argument}={self.digest(parent)}".encode()
        for part in (*recipe.artifacts, *recipe.cached):
            locked = self.store.lock.artifacts[part]
            yield f"{part} {locked.digest} {self.store.status(part).version}".encode()
        yield from contents(self.images / recipe.folder)
        for shared in recipe.shared:
            yield from contents(self.images / "local" / shared)
        if recipe.wheels:
            yield self.requirements.encode()
        if recipe.project:
            for source in SOURCES:
                yield from contents(self.root / source)


def _make(plan: _Plan, name: str, progress: Progress) -> None:
    label = f"{LABEL}={plan.digest(name)}"
    if name == BASE:
        base.make(plan.reference(name), label, plan.work, progress)
        return
    recipe = RECIPES[name]
    if recipe.wheels:
        wheels.wheelhouse(plan.requirements, plan.wheels(), progress, name)
    with TemporaryDirectory(dir=plan.work, prefix=f"{name}-") as folder:
        context = plan.root if recipe.project else Path(folder)
        if not recipe.project:
            progress.begin(name, "gathering", None, "bytes")
            stage(recipe, context, images=plan.images, store=plan.store, wheels=plan.wheels())
        progress.begin(name, "building", None, "bytes")
        arguments = [f"{key}={plan.reference(parent)}" for key, parent in recipe.parents.items()]
        run(
            [
                *("docker", "build", "--tag", plan.reference(name), "--label", label),
                *("--file", str(plan.images / recipe.folder / "Dockerfile")),
                *(part for argument in arguments for part in ("--build-arg", argument)),
                str(context),
            ],
            what=f"The image of {name} could not be built",
            hint="see what docker build says above",
        )
    progress.finish(name)
