"""Where snapshots are, and what each says of itself."""

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
from labctl.home.folders import has_ended
from labctl.home.state import state_home, write_private
from labctl.lab.snapshots.files import FileRecord
from labctl.lab.snapshots.signing import is_signed, sign

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
"""Of a snapshot's layout and manifest."""
MANIFEST = "snapshot.json"
_NEW, _DELETED, _REPLACED = ".new", ".deleted", ".replaced"
"""How folders are called that are being filled, deleted, or replaced; a name and a process id
follow."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")


RECORDED = ("seeded", "schemas")
"""Keys of lab.json that say what the data is; a manifest has them too."""


class Manifest(BaseModel):
    """What snapshot.json says."""

    model_config = ConfigDict(strict=True)

    version: int
    lab: str
    """Of which lab it was taken."""
    made_at: datetime
    state_version: int
    """Of that lab's lab.json."""
    seeded: dict[str, Any]
    """As in lab.json: what was loaded of each data set."""
    schemas: dict[str, Any] = {}
    """As in lab.json: what was applied of the project's own schemas."""
    builds: dict[str, str]
    """By service that keeps anything: which version wrote it."""
    files: dict[str, FileRecord]
    """By path below the snapshot's folder."""
    entries: dict[str, str] | None = None
    """Everything there, folders and links too, as `read_entries` tells it; older ones lack it."""


@dataclass(frozen=True)
class Snapshot:
    """One snapshot on this machine."""

    name: str
    manifest: Manifest

    @property
    def folder(self) -> Path:
        return snapshot_home() / self.name

    @property
    def is_own(self) -> bool:
        """Whether this user has saved it here, or said that it may be trusted."""
        return is_signed(self.folder / MANIFEST)

    def trust(self) -> None:
        """Sign it as this user's own."""
        sign(self.folder / MANIFEST)

    @property
    def size_bytes(self) -> int:
        """Of all its files together. Files that snapshots share count in each."""
        return sum(size for size, _ in self.manifest.files.values())


def snapshot_home() -> Path:
    """The folder of all snapshots, of all labs. It is no lab's: `destroy` leaves it alone."""
    return state_home() / ".snapshots"


def check_name(name: str) -> None:
    """Raises LabError (USAGE) when no snapshot can have that name."""
    if not _NAME.fullmatch(name):
        raise LabError(
            f"{name!r} cannot name a snapshot",
            hint="lower-case letters, digits, dots, dashes and _, 60 at most",
            exit_code=ExitCode.USAGE,
        )


def snapshots() -> list[Snapshot]:
    """All that can be read, the oldest first."""
    found = []
    for file in snapshot_home().glob(f"[!.]*/{MANIFEST}"):
        try:
            found.append(_read(file))
        except LabError:
            continue
    return sorted(found, key=lambda snapshot: snapshot.manifest.made_at)


def find_snapshot(name: str) -> Snapshot:
    """The snapshot of that name. Raises LabError: USAGE when there is none, ENVIRONMENT when its
    manifest is damaged or of a newer labctl."""
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
    """Delete a snapshot, a damaged one too. Raises LabError (USAGE) when there is none."""
    check_name(name)
    remove_leftovers()
    folder = snapshot_home() / name
    if not folder.is_dir():
        find_snapshot(name)
    shutil.rmtree(put_aside(folder))


def put_aside(folder: Path, kind: str = _DELETED) -> Path:
    """Give a snapshot's folder a name that none has; the new path, which is to be deleted.

    What an interruption leaves of it is not taken for a snapshot.
    """
    return folder.rename(folder.with_name(f"{kind}.{folder.name}.{os.getpid()}"))


def put_in_place(staged: Path, name: str) -> None:
    """Make a staged folder the snapshot of that name, instead of an earlier one.

    Killed in between, the earlier one comes back with the next command about snapshots.
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
    """A new folder, in which to make a snapshot of that name; it is to be renamed or deleted."""
    remove_leftovers()
    home = snapshot_home()
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = home / f"{_NEW}.{name}.{os.getpid()}"
    folder.mkdir(mode=0o700)
    return folder


def remove_leftovers() -> None:
    """Delete what commands that were killed had begun to make, or to delete.

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
