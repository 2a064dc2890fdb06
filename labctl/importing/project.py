"""The project that files are brought into: one that is there, or the beginning of one."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labctl.config.model import find_project
from labctl.errors import ExitCode, LabError

__all__ = ["Project", "files_of", "open_project"]


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
