"""The project that files are imported into: an existing one, or a new one."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labctl.config.lab_config import find_project
from labctl.errors import ExitCode, LabError
from lakecontract.regular_files import read_text

__all__ = ["Project", "files_of", "open_project", "target_of"]

_FILE_NAME = re.compile(r"(?!\.)[^/\\\"\x00-\x1f\x7f-\x9f\u2028\u2029]{1,200}")
"""Pattern of file names that also need no quoting in lab.toml."""
_MOST_BYTES = 4 * 1024**2


@dataclass(frozen=True)
class Project:
    """A folder, and the sources in its lab.toml; it may have neither sources nor lab.toml yet."""

    folder: Path
    sources: dict[str, dict[str, Any]]


def open_project() -> Project:
    """Return the project that contains the working directory; without lab.toml, the directory.

    The lab.toml need not name a source yet. Raises LabError (USAGE) if it cannot be read or is not
    valid TOML.
    """
    try:
        folder = find_project()
    except LabError:
        return Project(Path.cwd(), {})
    path = folder / "lab.toml"
    try:
        content = tomllib.loads(read_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise LabError(
            f"{path} cannot be read: {error}", hint="correct it", exit_code=ExitCode.USAGE
        ) from None
    sources = content.get("sources", {})
    named = sources.items() if isinstance(sources, dict) else ()
    return Project(folder, {name: source for name, source in named if isinstance(source, dict)})


def target_of(folder: Path, name: str, suffix: str, origin: Path) -> Path:
    """Return the path in `folder` of a file called `name`, a name taken from `origin`.

    Raises LabError (USAGE) for a name that no file can have.
    """
    if _FILE_NAME.fullmatch(name):
        return folder / f"{name}{suffix}"
    raise LabError(
        f"{origin}: no file can be called {name!r:.80}",
        hint="nothing was written; give the connector or topic another name",
        exit_code=ExitCode.USAGE,
    )


def files_of(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder that match `pattern`.

    Raises LabError (USAGE) if the folder does not exist or has no such file, if a file is too
    large, or if a file is a link to a file outside of the folder.
    """
    if not folder.is_dir():
        raise LabError(
            f"{folder} is no folder",
            hint="give the folder that holds the files",
            exit_code=ExitCode.USAGE,
        )
    if found := sorted(path for path in folder.glob(pattern) if path.is_file()):
        for path in found:
            _require_own(path, folder)
        return found
    raise LabError(
        f"{folder} holds no {pattern}", hint="give another folder", exit_code=ExitCode.USAGE
    )


def _require_own(path: Path, folder: Path) -> None:
    size = path.stat().st_size
    if size > _MOST_BYTES:
        reason = f"has {size:,} bytes, and {_MOST_BYTES:,} are the most"
    elif not path.resolve().is_relative_to(folder.resolve()):
        reason = f"is a link to {path.resolve()}"
    else:
        return
    raise LabError(
        f"{path} {reason}",
        hint="nothing was written; move the file away, or copy the one that is meant",
        exit_code=ExitCode.USAGE,
    )
