"""Which images there are, whether they are up to date, and making those that are not."""

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
from labctl.images.commands import image_id, image_label, remove_image, require_engine, run
from labctl.images.context import stage
from labctl.images.recipes import BASE, RECIPES, REPOSITORY, STEPS, with_parents
from labctl.images.sources import SOURCES, contents, sources
from labctl.services.model import Recipe
from labctl.shipped import shipped

__all__ = ["ImageStatus", "build", "image_work", "recipe_of", "references", "statuses"]

LABEL = "labctl.inputs"
"""On every image: a digest of all it was made from."""
State = Literal["ready", "outdated", "missing"]


@dataclass(frozen=True)
class ImageStatus:
    """One image and where it stands."""

    name: str
    reference: str
    state: State
    """"outdated": it is there, made from something else than it would be made from now."""
    service: bool
    """Whether a Compose service runs it; otherwise it is a step on the way to one that does."""


def references(store: ArtifactStore) -> dict[str, str]:
    """The image of every Compose service that has one here, by the service's name."""
    return {name: _reference(store, name) for name in RECIPES if name not in STEPS}


def image_work(store: ArtifactStore) -> Path:
    """Where what images are built from is put together."""
    return store.cache_dir / "images"


def recipe_of(reference: str) -> str | None:
    """The recipe of an image of that name; None of another's."""
    repository, _, image = reference.partition("/")
    return image.partition(":")[0] if repository == REPOSITORY else None


def statuses(store: ArtifactStore) -> list[ImageStatus]:
    """Every image, in the order in which they are built. Makes nothing; asks the engine."""
    require_engine()
    plan = _Plan(store)
    return [plan.status(name) for name in (BASE, *RECIPES)]


def build(
    store: ArtifactStore,
    names: Iterable[str] | None = None,
    *,
    progress: Progress | None = None,
) -> list[ImageStatus]:
    """Build `names` (all, if None) and what they are made from; what is up to date stays.

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
    """`labctl-local/<name>:<version>`, the version in characters a tag may have."""
    if name == BASE:
        version = base.SUITE
    else:
        artifact = RECIPES[name].version
        version = store.version(artifact) if artifact else _own_version()
    return f"{REPOSITORY}/{name}:{re.sub(r'[^A-Za-z0-9_.-]', '-', version)}"


def _own_version() -> str:
    """Without what tells one commit from another: its image takes the place of the one before."""
    return re.sub(r"(\.dev|\+).*", "", metadata.version("labctl"))


class _Plan:
    """What each image would be made from now."""

    def __init__(self, store: ArtifactStore) -> None:
        self.store = store
        self.images = shipped("compose/images")
        # Beside the artefacts: contexts are made of hard links to them.
        self.work = image_work(store)
        self.root = sources(self.work)
        self.requirements = wheels.locked_text()
        self._digests: dict[str, str] = {}

    def reference(self, name: str) -> str:
        return _reference(self.store, name)

    def wheels(self) -> Path:
        """The wheelhouse of today's requirements."""
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
        """Changes whenever anything the image is made from does."""
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
