"""The recipe of each image."""

from __future__ import annotations

from collections.abc import Iterable

from labctl.errors import ExitCode, LabError
from labctl.services.container import Recipe
from labctl.services.lab_services import SERVICES, container_forms

__all__ = ["BASE", "RECIPES", "REPOSITORY", "STEPS", "with_parents"]

REPOSITORY = "labctl-local"
BASE = "base"

RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("jre", "local/jre", "jre", {"BASE": BASE}, artifacts=("jre",)),
        *(recipe for _, form in container_forms(SERVICES) for recipe in form.recipes),
    )
}
"""Recipes by name, each after those of its parents. SQL Server and the user interfaces of Apicurio
and Kafka come in no package, so they cannot be built without an image hub."""

STEPS = {parent for recipe in RECIPES.values() for parent in recipe.parents.values()}
"""Images that others are made from and that no service runs."""


def with_parents(names: Iterable[str] | None) -> list[str]:
    """Return `names` and their parents in build order. Raises LabError (USAGE)."""
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
