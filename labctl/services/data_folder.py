"""Atomic creation of a service's data folder: it is either complete or missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.state.lab_state import sync_folder

__all__ = ["is_made", "made_whole"]


def is_made(folder: Path, mark: str) -> bool:
    """Return whether `folder` holds a service's data; `mark` is a file that all such data has.

    Raises LabError (ENVIRONMENT) if it holds other files only. It is never deleted, because only
    the mark may have been lost.
    """
    if (folder / mark).exists():
        return True
    if folder.is_dir() and any(folder.iterdir()):
        raise LabError(
            f"{folder} holds files, but not {mark}: it is damaged, or was never whole",
            hint="put the file back from a copy, or move the folder away and lose its data",
            exit_code=ExitCode.ENVIRONMENT,
        )
    return False


@contextmanager
def made_whole(folder: Path) -> Iterator[Path]:
    """Yield a new folder to fill; rename it to `folder` when the block has ended.

    All its files are synced to disk before that: neither an interruption nor a power cut leaves an
    incomplete `folder`. The new folder is deleted if the block fails.
    """
    staged = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True, mode=0o700)
    try:
        yield staged
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    _sync_tree(staged)
    staged.rename(folder)
    sync_folder(folder.parent)


def _sync_tree(top: Path) -> None:
    """Sync every file below `top` to disk: start writing all of them, then wait for each."""
    files = [Path(folder, name) for folder, _, names in os.walk(top) for name in names]
    for sync in (_begin, os.fsync):
        for file in files:
            if file.is_symlink() or not file.is_file():
                continue
            descriptor = os.open(file, os.O_RDONLY)
            try:
                sync(descriptor)
            finally:
                os.close(descriptor)
    for folder, _, _ in os.walk(top):
        sync_folder(Path(folder))


def _begin(descriptor: int) -> None:
    """Tell the kernel to start writing a file, without waiting, as PostgreSQL's initdb does."""
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
