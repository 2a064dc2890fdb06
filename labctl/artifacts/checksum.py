"""Checks of files against the lock."""

from __future__ import annotations

import hashlib
from pathlib import Path

from labctl.errors import LabError

__all__ = ["require", "sha256_of"]


def sha256_of(path: Path) -> str:
    """Return the hex SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require(path: Path, expected: str, *, what: str, found: str | None = None) -> None:
    """Delete `path` and raise LabError unless its SHA-256 is `expected`.

    `what` names the file as the lock does. `found` is its SHA-256 if the caller knows it already.
    """
    found = found or sha256_of(path)
    if found == expected:
        return
    path.unlink()
    raise LabError(
        f"{what} is not the file that the lock asks for, and was removed",
        hint="run the command again; if it happens twice, something between this machine and "
        "the registry changes files, or the lock is wrong",
        details=(
            f"file      {path.name}",
            f"expected  sha256 {expected}",
            f"found     sha256 {found}",
        ),
    )
