"""Location of the snapshots, and their manifests."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from labctl.errors import ExitCode, LabError
from labctl.lab.snapshots.signing import is_signed, sign
from labctl.lab.snapshots.snapshot_files import FileRecord
from labctl.state.folders import has_ended
from labctl.state.lab_state import state_home, write_private

__all__ = [
    "RECORDED",
    "SNAPSHOT_VERSION",
    "Manifest",
    "Snapshot",
    "check_name",
    "delete_snapshot",
    "find_snapshot",
    "put_in_place",
    "remove_leftovers",
    "snapshot_home",
    "snapshots",
    "stage",
    "write_manifest",
]

SNAPSHOT_VERSION = 1
"""Version of a snapshot's layout and manifest."""
MANIFEST = "snapshot.json"
_NEW, _DELETED, _REPLACED = ".new", ".deleted", ".replaced"
"""Prefixes of folders that are being filled, deleted or replaced; name and process id follow."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")


RECORDED = ("seeded", "schemas")
"""Keys of lab.json that say what the data is; a manifest has them too."""


class Manifest(BaseModel):
    """Content of snapshot.json."""

    model_config = ConfigDict(strict=True)

    version: int
    lab: str
    """Lab that the snapshot was taken of."""
    made_at: datetime
    state_version: int
    """Version of that lab's lab.json."""
    seeded: dict[str, Any]
    """Rows that were loaded of each data set, as in lab.json."""
    schemas: dict[str, Any]
    """The project's own schemas that were applied, as in lab.json."""
    builds: dict[str, str]
    """Version that wrote the data, for each service that stores any."""
    files: dict[str, FileRecord]
    """Record of each file, by its path below the snapshot's folder."""
    entries: dict[str, str]
    """All entries, as `read_entries` returns them."""


@dataclass(frozen=True)
class Snapshot:
    """A snapshot on this machine."""

    name: str
    manifest: Manifest

    @property
    def folder(self) -> Path:
        return snapshot_home() / self.name

    @property
    def is_own(self) -> bool:
        """True if this user has saved it here, or declared it trusted."""
        return is_signed(self.folder / MANIFEST)

    def trust(self) -> None:
        """Sign the snapshot as this user's own."""
        sign(self.folder / MANIFEST)

    @property
    def size_bytes(self) -> int:
        """Size of all its files together. Files that snapshots share count in each."""
        return sum(size for size, _ in self.manifest.files.values())


def snapshot_home() -> Path:
    """Return the folder of all labs' snapshots. It belongs to no lab: `destroy` keeps it."""
    return state_home() / ".snapshots"


def check_name(name: str) -> None:
    """Raise LabError (USAGE) if no snapshot can have that name."""
    if not _NAME.fullmatch(name):
        raise LabError(
            f"{name!r} cannot name a snapshot",
            hint="lower-case letters, digits, dots, dashes and _, 60 at most",
            exit_code=ExitCode.USAGE,
        )


def snapshots() -> list[Snapshot]:
    """Return all readable snapshots, oldest first."""
    found = []
    for file in snapshot_home().glob(f"[!.]*/{MANIFEST}"):
        try:
            found.append(_read(file))
        except LabError:
            continue
    return sorted(found, key=lambda snapshot: snapshot.manifest.made_at)


def find_snapshot(name: str) -> Snapshot:
    """Return the snapshot of that name.

    Raises LabError: USAGE if there is none, ENVIRONMENT if its manifest is damaged or of another
    version of labctl.
    """
    check_name(name)
    file = snapshot_home() / name / MANIFEST
    if not file.is_file():
        remove_leftovers()
    if not file.is_file():
        names = ", ".join(snapshot.name for snapshot in snapshots())
        raise LabError(
            f"There is no snapshot {name!r}",
            hint=f"snapshots: {names}" if names else "make one with `labctl snapshot save NAME`",
            exit_code=ExitCode.USAGE,
        )
    return _read(file)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write `manifest` into a snapshot's folder, with this user's signature."""
    write_private(folder / MANIFEST, manifest.model_dump_json())
    sign(folder / MANIFEST)


def delete_snapshot(name: str) -> None:
    """Delete a snapshot, even a damaged one. Raises LabError (USAGE) if there is none."""
    check_name(name)
    remove_leftovers()
    folder = snapshot_home() / name
    if not folder.is_dir():
        find_snapshot(name)
    shutil.rmtree(put_aside(folder))


def put_aside(folder: Path, kind: str = _DELETED) -> Path:
    """Rename a snapshot's folder to an unused name; return the new path, to be deleted.

    If the deletion is interrupted, what is left does not count as a snapshot.
    """
    return folder.rename(folder.with_name(f"{kind}.{folder.name}.{os.getpid()}"))


def put_in_place(staged: Path, name: str) -> None:
    """Make a staged folder the snapshot of that name, and delete an earlier one.

    If the command is killed in between, the next command about snapshots restores the earlier one.
    """
    folder = snapshot_home() / name
    old = put_aside(folder, _REPLACED) if folder.exists() else None
    try:
        staged.rename(folder)
    except BaseException:
        if old is not None:
            old.rename(folder)
        raise
    if old is not None:
        shutil.rmtree(old)


def stage(name: str) -> Path:
    """Return a new folder for a snapshot of that name; the caller renames or deletes it."""
    remove_leftovers()
    home = snapshot_home()
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = home / f"{_NEW}.{name}.{os.getpid()}"
    folder.mkdir(mode=0o700)
    return folder


def remove_leftovers() -> None:
    """Delete the folders that killed commands had begun to make or to delete.

    A snapshot that one of them was about to replace gets its name back.
    """
    for start in (_REPLACED, _NEW, _DELETED):
        for folder in snapshot_home().glob(f"{start}.*"):
            if not has_ended(folder):
                continue
            name = folder.name.removeprefix(f"{start}.").rpartition(".")[0]
            if start == _REPLACED and not (snapshot_home() / name).exists():
                folder.rename(snapshot_home() / name)
            else:
                shutil.rmtree(folder, ignore_errors=True)


def _read(file: Path) -> Snapshot:
    name = file.parent.name
    try:
        manifest = Manifest.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise LabError(
            f"{file} is damaged: {str(error).splitlines()[0]}",
            hint=f"`labctl snapshot delete {name}`, then save it again",
            exit_code=ExitCode.ENVIRONMENT,
        ) from None
    if manifest.version != SNAPSHOT_VERSION:
        raise LabError(
            f"Snapshot {name!r} was made by another labctl: it has version {manifest.version}, "
            f"this labctl knows {SNAPSHOT_VERSION}",
            hint=f"use that labctl, or `labctl snapshot delete {name}`",
            exit_code=ExitCode.ENVIRONMENT,
        )
    return Snapshot(name, manifest)
