"""Folders that appear whole, or take the place of another one."""

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
    """A new folder to fill, which is `target` once the block has ended without an error.

    It replaces what is there. Killed at any moment, `target` is whole or not there; then it is as
    it was when the next command fills it. What a killed command left beside it is deleted.
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
    """Whether the process whose id ends the name of a folder runs no more."""
    return not Path("/proc", folder.name.rpartition(".")[2]).exists()


def _put_back(target: Path) -> None:
    """Delete what lies beside `target`; an old one takes its place again where that is empty."""
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
