"""Ownership of a tree's files: all must belong to the user who fetched the tree.

An archive names an owner for each file, and a tool that unpacks it as root sets that owner. Another
user of the machine could then change a program that a lab runs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["give_to_owner", "is_foreign", "own_tree"]

_SPECIAL = stat.S_ISUID | stat.S_ISGID | stat.S_IWOTH


def own_tree(tree: Path) -> None:
    """Give everything below `tree` to the folder's owner; clear setuid, setgid and world write.

    Raises OSError for a device, fifo or socket, and for a file that only root could change.
    """
    give_to_owner(tree, _below(tree))


def give_to_owner(tree: Path, names: Iterable[str]) -> None:
    """Do the same as `own_tree` for the given paths, which are relative to the tree."""
    owner = tree.stat()
    for path in (tree / name for name in names):
        status = path.lstat()
        mode = status.st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            raise OSError(0, "is neither a file nor a folder nor a link", str(path))
        # The group needs no check, only the owner: only root can take over other users' files.
        if status.st_uid != owner.st_uid:
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
        if not stat.S_ISLNK(mode) and mode & _SPECIAL:
            path.chmod(stat.S_IMODE(mode) & ~_SPECIAL)


def is_foreign(tree: Path, names: Iterable[str]) -> bool:
    """Return whether one of these paths of a tree belongs to another user than the tree."""
    top = str(tree)
    owner = tree.stat().st_uid
    return any(os.lstat(f"{top}/{name}").st_uid != owner for name in names)


def _below(tree: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(tree):
        for name in (*folders, *files):
            yield os.path.relpath(f"{folder}/{name}", tree)
