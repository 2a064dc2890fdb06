"""The names of the installed database engines, known without loading any of them."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

__all__ = ["FOLDER", "GROUP", "INSTALLED", "EngineName", "engine_names"]

FOLDER = Path(__file__).parent / "engines"
"""Folder of the engines that labctl itself brings, each in a folder of its name."""
GROUP = "labctl.engines"
"""Group of entry points by which a Python package brings an engine: `name = "module:ENGINE"`."""


@cache
def engine_names() -> tuple[str, ...]:
    """Return the names of all installed engines, sorted."""
    own = (file.parent.name for file in FOLDER.glob("*/__init__.py"))
    return tuple(sorted({*own, *(point.name for point in entry_points(group=GROUP))}))


def _installed(name: str) -> str:
    if name not in engine_names():
        raise ValueError(f"there is no such engine; installed: {', '.join(engine_names())}")
    return name


INSTALLED = AfterValidator(_installed)
"""The check of an engine's name in a model."""
EngineName = Annotated[str, INSTALLED]
"""The name of an installed engine, such as `postgres`."""
