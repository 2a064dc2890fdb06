"""The project that files are brought into: one that is there, or the beginning of one."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lakehouse
from labctl.config.model import find_project
from labctl.errors import ExitCode, LabError
from labctl.importing.model import ImportedFile

__all__ = ["Project", "files_of", "open_project", "shipped", "shipped_path"]

_SHIPPED = Path(lakehouse.__file__).resolve().parents[2]
"""The project that labctl comes with: what every lab needs besides is taken from there."""


@dataclass(frozen=True)
class Project:
    """A folder, and what its lab.toml says of sources; it may have none of them yet."""

    folder: Path
    sources: dict[str, dict[str, Any]]


def open_project() -> Project:
    """The project around the working directory; where there is no lab.toml, that directory itself.

    A lab.toml that names no source yet is good enough. Raises LabError (USAGE) for one that is no
    TOML.
    """
    try:
        folder = find_project()
    except LabError:
        return Project(Path.cwd(), {})
    path = folder / "lab.toml"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LabError(
            f"{path} cannot be read: {error}", hint="correct it", exit_code=ExitCode.USAGE
        ) from None
    sources = content.get("sources", {})
    named = sources.items() if isinstance(sources, dict) else ()
    return Project(folder, {name: source for name, source in named if isinstance(source, dict)})


def shipped(project: Project, names: Iterable[str]) -> list[ImportedFile]:
    """Those of these files that the project does not have, as labctl comes with them."""
    found = []
    for name in names:
        origin, target = shipped_path(name), project.folder / name
        if origin.is_file() and not target.exists():
            text = origin.read_text(encoding="utf-8")
            found.append(ImportedFile(origin, target, text, text))
    return found


def shipped_path(name: str) -> Path:
    """A file of the project that labctl comes with."""
    return _SHIPPED / name


def files_of(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder. Raises LabError (USAGE) for one that is not there or has none."""
    if not folder.is_dir():
        raise LabError(
            f"{folder} is no folder",
            hint="give the folder that holds the files",
            exit_code=ExitCode.USAGE,
        )
    if found := sorted(path for path in folder.glob(pattern) if path.is_file()):
        return found
    raise LabError(
        f"{folder} holds no {pattern}", hint="give another folder", exit_code=ExitCode.USAGE
    )
