"""Folders that are created or replaced atomically."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["filled_folder", "has_ended"]

_NEW, _OLD = "new", "old"


@contextmanager
def filled_folder(target: Path) -> Iterator[Path]:
    """Yield a new folder to fill; rename it to `target` if the block ends without an error.

    It replaces an existing `target`. If the process is killed at any moment, `target` is complete
    or missing. If it is missing, the next call restores the old folder first. Each call also
    deletes temporary folders that a killed command left next to `target`.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    _put_back(target)
    staged, old = (_beside(target, kind) for kind in (_NEW, _OLD))
    staged.mkdir()
    try:
        yield staged
        if target.exists():
            target.rename(old)
        staged.rename(target)
    finally:
        _put_back(target)
        shutil.rmtree(staged, ignore_errors=True)


def has_ended(folder: Path) -> bool:
    """Return whether the process whose id ends the folder's name has ended."""
    return not Path("/proc", folder.name.rpartition(".")[2]).exists()


def _put_back(target: Path) -> None:
    """Delete leftovers next to `target`; if `target` is missing, restore the old folder first."""
    for kind in (_OLD, _NEW):
        for folder in target.parent.glob(f".{target.name}.{kind}.*"):
            if folder != _beside(target, kind) and not has_ended(folder):
                continue
            if kind == _OLD and not target.exists():
                folder.rename(target)
            else:
                shutil.rmtree(folder, ignore_errors=True)


def _beside(target: Path, kind: str) -> Path:
    return target.with_name(f".{target.name}.{kind}.{os.getpid()}")
