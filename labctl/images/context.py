"""Build contexts: a Dockerfile's folder together with the artefacts that it copies."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from labctl.artifacts import ArtifactStore
from labctl.services.container import Recipe

__all__ = ["stage"]


def stage(
    recipe: Recipe, context: Path, *, images: Path, store: ArtifactStore, wheels: Path
) -> None:
    """Fill the folder `context`; artefacts and `wheels` are linked, not copied."""
    shutil.copytree(images / recipe.folder, context, dirs_exist_ok=True)
    for shared in recipe.shared:
        shutil.copytree(images / "local" / shared, context / shared)
    for part in recipe.artifacts:
        _link_tree(store.path(part), context / "artifacts" / part)
    for part in recipe.cached:
        tree = store.path(part)
        target = context / "cache" / tree.relative_to(store.cache_dir)
        _link_tree(tree, target)
        stamp = tree.with_name(f"{tree.name}.json")
        _link(stamp, target.with_name(stamp.name))
    if recipe.wheels:
        _link_tree(wheels, context / "wheels")


def _link_tree(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True, copy_function=_link)


def _link(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # another file system, or one without hard links
        shutil.copy2(source, target, follow_symlinks=False)
