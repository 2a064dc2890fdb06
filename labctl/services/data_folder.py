"""Making a service's data folder, so that there is a whole one or none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.home.state import sync_folder

__all__ = ["is_made", "made_whole"]


def is_made(folder: Path, mark: str) -> bool:
    """Whether `folder` holds a service's data; `mark` is a file that all such data has.

    Raises LabError (ENVIRONMENT) when it holds anything else. It is never deleted: that would be
    the wrong answer to a mark that somebody has lost.
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
    """A new folder to fill, beside `folder`, which it becomes when the block has ended.

    All of it is on disk by then: neither an interruption nor a power cut leaves a part of it under
    the name of the whole. It is deleted when the block fails.
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
    """Put every file below `top` on disk: all begin to be written, then each is waited for."""
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
    """Have the kernel begin to write a file, without waiting: the way PostgreSQL's initdb does."""
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
