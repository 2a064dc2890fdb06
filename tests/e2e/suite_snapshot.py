"""The snapshot of the suite's lab after its first load, from which later runs start.

Its name holds a hash of everything that the loaded lab is made from. A run after any change of
these files makes and loads a new lab.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from labctl.lab.lab import Lab
from labctl.lab.snapshots import delete_snapshot, save_snapshot, snapshots

__all__ = ["keep_loaded_lab", "snapshot_name", "start_from_loaded_lab"]

_PREFIX = "pytest-suite-"
_MADE_FROM = (
    "connectors",
    "gold",
    "lab.toml",
    "labctl",
    "lakeapi",
    "queries",
    "requirements.lock",
    "scenarios",
    "seeds",
    "spark",
    "sqlapi",
    "tests/e2e/conftest.py",
    "tests/e2e/second_source.py",
    "tests/e2e/wide_tables.py",
    "tests/quick_start.py",
)
_HASH_LENGTH = 12


def start_from_loaded_lab(config: pytest.Config, name: str) -> bool:
    """Have the session's lab start from that snapshot, where it has been kept; return if so.

    That is never so for a lab in containers, nor where `--lab` or `--lab-snapshot` names another
    start.
    """
    if not _is_ours(config) or name not in [snapshot.name for snapshot in snapshots()]:
        return False
    config.option.lab_snapshot = name
    return True


def keep_loaded_lab(config: pytest.Config, name: str, lab: Lab) -> None:
    """Save the snapshot of a lab that has just been loaded, and delete earlier ones.

    `name` is that of before the load: a file may have been edited meanwhile.
    """
    if not _is_ours(config):
        return
    for snapshot in snapshots():
        if snapshot.name.startswith(_PREFIX):
            delete_snapshot(snapshot.name)
    save_snapshot(lab, name, replace=True)


def snapshot_name(project: Path) -> str:
    """Return the name of the snapshot for the files of `project` as they are now."""
    content = hashlib.sha256()
    for file in _files(project):
        content.update(f"{file.relative_to(project)}\0".encode())
        content.update(hashlib.sha256(file.read_bytes()).digest())
    return f"{_PREFIX}{content.hexdigest()[:_HASH_LENGTH]}"


def _files(project: Path) -> Iterator[Path]:
    for part in _MADE_FROM:
        path = project / part
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        yield from (f for f in files if f.is_file() and "__pycache__" not in f.parts)


def _is_ours(config: pytest.Config) -> bool:
    options = config.getoption
    return (
        options("--lab-runtime") == "native"
        and not options("--lab")
        and not options("--lab-snapshot")
    )
