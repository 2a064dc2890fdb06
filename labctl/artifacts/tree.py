"""Installed artefacts: folders that are installed atomically, each with a stamp of its files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from labctl.artifacts.checksum import sha256_of
from labctl.artifacts.job import Job, Provenance
from labctl.artifacts.owners import give_to_owner, is_foreign, own_tree

__all__ = [
    "Entry",
    "Stamp",
    "damage",
    "is_of_others",
    "publish",
    "read_stamp",
    "take_from_others",
    "tree_path",
    "write_stamp",
]

SECOND = 10**9


def tree_path(cache_dir: Path, name: str, digest: str) -> Path:
    """Return the folder of an installed artefact; it depends on the digest of its lock entry."""
    return cache_dir / "artifacts" / name / digest


class Entry(BaseModel):
    """A file or symbolic link of an installed tree."""

    model_config = ConfigDict(frozen=True)

    path: str
    """Path relative to the tree."""
    size: int
    mtime_ns: int
    content: str
    """Hex SHA-256 of a file; target of a link."""
    link: bool = False


class Stamp(BaseModel):
    """A record of an installed tree, written last: a tree without a stamp is not installed."""

    model_config = ConfigDict(frozen=True)

    version: str
    verified_by: Literal["lock", "archive"]
    note: str | None
    installed_at: datetime
    size: int
    """Bytes of all files."""
    entries: tuple[Entry, ...]
    damaged: tuple[str, ...] = ()
    """Files that a full check found changed or missing."""


def publish(job: Job, provenance: Provenance, target: Path) -> None:
    """Move the job's finished tree to `target` and replace an existing tree."""
    job.begin("sealing", None)
    stamp = _seal(job, provenance)
    _stamp_path(target).unlink(missing_ok=True)
    if target.exists():
        replaced = job.work / "replaced"
        shutil.rmtree(replaced, ignore_errors=True)
        target.rename(replaced)
    target.parent.mkdir(parents=True, exist_ok=True)
    job.tree.rename(target)
    write_stamp(target, stamp)


def damage(
    tree: Path, stamp: Stamp, *, thorough: bool, seen: Callable[[int], None] = lambda _bytes: None
) -> list[str]:
    """Return the files of `tree` that are missing or have changed since installation.

    If a file's size and modification time are unchanged, its content is read only if `thorough`.
    Calls `seen` with the size in bytes of each checked file.
    """
    found = []
    for entry in stamp.entries:
        if not _intact(tree, entry, thorough):
            found.append(entry.path)
        seen(entry.size)
    return found


def read_stamp(tree: Path) -> Stamp | None:
    """Return the stamp of an installed tree; None if it is not installed."""
    try:
        return Stamp.model_validate_json(_stamp_path(tree).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def write_stamp(tree: Path, stamp: Stamp) -> None:
    """Write the stamp of `tree` atomically."""
    path = _stamp_path(tree)
    temporary = path.with_suffix(".new")
    temporary.write_text(stamp.model_dump_json(exclude_defaults=True))
    temporary.replace(path)


def _stamp_path(tree: Path) -> Path:
    return tree.with_name(f"{tree.name}.json")


def is_of_others(tree: Path, stamp: Stamp) -> bool:
    """Return whether files of an installed tree belong to another user than the tree.

    An earlier labctl, run by root, left such files.
    """
    try:
        return is_foreign(tree, _names(tree, stamp))
    except OSError:
        return False


def take_from_others(tree: Path, stamp: Stamp) -> Stamp:
    """Give an installed tree's files to its owner, check them all and return the new stamp.

    Until now another user could have changed them.
    """
    with suppress(OSError):
        give_to_owner(tree, _names(tree, stamp))
        stamp = stamp.model_copy(update={"damaged": tuple(damage(tree, stamp, thorough=True))})
        write_stamp(tree, stamp)
    return stamp


def _names(tree: Path, stamp: Stamp) -> list[str]:
    """Return the stamp's existing files and their parent folders, relative to the tree."""
    folders: set[str] = set()
    for entry in stamp.entries:
        # Strings, because thousands of Path objects would take a tenth of a second.
        folder, _, _ = entry.path.rpartition("/")
        while folder and folder not in folders:
            folders.add(folder)
            folder, _, _ = folder.rpartition("/")
    files = (entry.path for entry in stamp.entries)
    return [name for name in (*folders, *files) if os.path.lexists(f"{tree}/{name}")]


def _seal(job: Job, provenance: Provenance) -> Stamp:
    own_tree(job.tree)
    entries = []
    for folder, names, files in os.walk(job.tree):
        links = [name for name in names if Path(folder, name).is_symlink()]
        for name in (*files, *links):
            job.check()
            entries.append(_entry(job.tree, Path(folder, name)))
    return Stamp(
        version=provenance.version,
        verified_by=provenance.verified_by,
        note=provenance.note,
        installed_at=datetime.now(UTC),
        size=sum(entry.size for entry in entries),
        entries=tuple(sorted(entries, key=lambda entry: entry.path)),
    )


def _entry(tree: Path, path: Path) -> Entry:
    status = path.lstat()
    link = path.is_symlink()
    return Entry(
        path=str(path.relative_to(tree)),
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        content=str(path.readlink()) if link else sha256_of(path),
        link=link,
    )


def _intact(tree: Path, entry: Entry, thorough: bool) -> bool:
    path = tree / entry.path
    try:
        status = path.lstat()
        if path.is_symlink() != entry.link or status.st_size != entry.size:
            return False
        if entry.link:
            return str(path.readlink()) == entry.content
        # Archives, and therefore image layers, store whole seconds.
        unchanged = status.st_mtime_ns // SECOND == entry.mtime_ns // SECOND
        return (unchanged and not thorough) or sha256_of(path) == entry.content
    except OSError:
        return False
