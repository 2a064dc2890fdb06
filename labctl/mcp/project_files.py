"""The files of a project that an agent may read and write: those the lab runs by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mcp.server.mcpserver.exceptions import ToolError

from labctl.errors import LabError
from labctl.state.file_changes import change_files

__all__ = ["listed", "read", "write"]

_FOLDERS = ("connectors", "gold", "queries", "scenarios", "spark", "tests", "ddl")
_FILES = ("lab.toml",)
_SUFFIXES = (".json", ".properties", ".py", ".sql", ".toml")
_MOST_BYTES = 256 * 1024


def listed(project: Path) -> list[str]:
    """Return the files' paths below the project's folder."""
    return sorted(str(path.relative_to(project)) for path in _files(project))


def read(project: Path, path: str) -> str:
    """Return a file's text. Raises ToolError for one that is not the project's."""
    file = _inside(project, path)
    if not file.is_file():
        raise ToolError(f"error: the project has no file {path}\nnext: files_list names them")
    if file.stat().st_size > _MOST_BYTES:
        raise ToolError(f"error: {path} has more than {_MOST_BYTES // 1024} KB")
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ToolError(f"error: {path} cannot be read: {error}") from None


def write(project: Path, path: str, text: str) -> None:
    """Write a file as a whole, or not at all. Raises ToolError where none may be."""
    if len(text.encode()) > _MOST_BYTES:
        raise ToolError(f"error: the text has more than {_MOST_BYTES // 1024} KB")
    file = _inside(project, path)
    try:
        change_files(project, {file: text.encode()})
    except LabError as error:
        raise ToolError(f"error: {error.what}\nnext: {error.hint}") from None


def _files(project: Path) -> Iterator[Path]:
    yield from (project / name for name in _FILES if (project / name).is_file())
    for folder in _FOLDERS:
        for path in (project / folder).rglob("*"):
            if path.suffix in _SUFFIXES and path.is_file() and "secrets" not in path.parts:
                yield path


def _inside(project: Path, path: str) -> Path:
    """Return the file of that path, if it is one of the kind that `listed` shows."""
    root = project.resolve()
    file = (root / path).resolve()
    below = file.relative_to(root).parts if file.is_relative_to(root) else ()
    is_known = "/".join(below) in _FILES or (
        len(below) > 1 and below[0] in _FOLDERS and file.suffix in _SUFFIXES
    )
    if not is_known or "secrets" in below:
        raise ToolError(
            f"error: {path} is no file that the lab runs by\n"
            f"next: {', '.join(_FILES)}, or a file below {', '.join(_FOLDERS)}"
            f" that ends in {', '.join(_SUFFIXES)}"
        )
    return file
