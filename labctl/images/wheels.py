"""The Python packages of requirements.lock as files, for a build without network access."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from labctl.artifacts import Progress
from labctl.images.docker_commands import run
from labctl.shipped import shipped

__all__ = ["locked_text", "wheelhouse"]

BUILD_TOOLS = ("setuptools", "wheel")
"""Build tools of packages that come as source (PySpark); pinned in requirements-dev.lock."""


def locked_text() -> str:
    """Return all requirements of a wheelhouse, with versions and hashes."""
    return "".join(
        [
            shipped("requirements.lock").read_text(encoding="utf-8"),
            *_pinned(shipped("requirements-dev.lock").read_text(encoding="utf-8")),
        ]
    )


def _pinned(lock: str) -> list[str]:
    """Return the lines of `BUILD_TOOLS` in a lock file, including continuation lines."""
    entries: list[str] = []
    inside = False
    for line in lock.splitlines(keepends=True):
        if not line.startswith((" ", "#")):
            inside = line.split("==")[0] in BUILD_TOOLS
        if inside:
            entries.append(line)
    return entries


def wheelhouse(text: str, target: Path, progress: Progress, name: str) -> None:
    """Fill `target` with the packages of `text` (pip checks their hashes), unless it exists."""
    if target.is_dir():
        return
    new = target.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    requirements = new / "requirements.txt"
    requirements.write_text(text, encoding="utf-8")
    progress.begin(name, "downloading Python packages", None, "packages")

    def line(output: str) -> None:
        if output.startswith("Saved "):
            progress.advance(name, 1)

    run(
        [
            *(sys.executable, "-m", "pip", "download", "--require-hashes", "--no-deps"),
            *("--disable-pip-version-check", "--no-input", "--progress-bar", "off"),
            *("--dest", str(new), "--requirement", str(requirements)),
        ],
        what="pip could not download the Python packages of requirements.lock",
        hint="check the network, proxy and pip settings, then run the command again",
        line=line,
    )
    requirements.unlink()
    new.rename(target)
