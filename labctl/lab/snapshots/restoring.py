"""Restore a snapshot, into the lab that it was taken of or into another.

Until one rename, the lab is as it was; from then on it has the snapshot's data. An interruption
before the rename leaves a copy that the next restore deletes. After the rename, the next `up`
completes the restore.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.snapshots.snapshot_files import copy_folder, unlike, unlike_entries
from labctl.lab.snapshots.snapshot_store import RECORDED, Snapshot, remove_leftovers
from labctl.state.lab_state import (
    COPIED,
    RESTORING,
    SAVED,
    STATE_VERSION,
    LabState,
    sync_folder,
    write_private,
)

__all__ = [
    "builds",
    "check_entries",
    "check_files",
    "check_versions",
    "finish_restore",
    "restore_snapshot",
]

T = TypeVar("T")
_RECORD = "restored.json"


def restore_snapshot(lab: Lab, snapshot: Snapshot, *, trusted: bool = False) -> None:
    """Replace the lab's data by the snapshot's. `up` has to follow.

    Afterwards nothing of the lab runs except services that are suspended until `up` resumes them.

    Raises LabError (ENVIRONMENT), and changes nothing, if a part of the snapshot is damaged, if it
    was written by another version of a service, or if it lacks this user's signature. A `trusted`
    snapshot gets that signature.
    """
    lab.require_here().runtime.files.require()
    remove_leftovers()
    if not (trusted or snapshot.is_own):
        raise LabError(
            f"Snapshot {snapshot.name!r} was not saved here, by this user and this labctl",
            hint="restoring it runs what is in it, as you: its databases have settings and "
            "functions, its Kafka has connectors. If you trust who made it: "
            f"`labctl snapshot restore {snapshot.name} --trust`",
            exit_code=ExitCode.ENVIRONMENT,
        )
    check_versions(snapshot, builds(lab))
    check_entries(snapshot)
    state = lab.state
    with state.changing():
        finish_restore(state)
        copy = state.folder / COPIED
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir(mode=0o700)
        kept: list[str] = []
        try:
            with ThreadPoolExecutor(max_workers=1) as beside:
                copied = beside.submit(_copy, snapshot, copy)
                check_files(snapshot)
                copied.result()
            recorded = {key: getattr(snapshot.manifest, key) for key in RECORDED}
            write_private(copy / _RECORD, json.dumps(recorded))
            if lab.running:
                kept = _suspended(lab)
                # What the services would still write is deleted anyway.
                lab.runtime.faults.kill_all(but=kept)
            if not kept:
                lab.runtime.shutdown()
            if not snapshot.is_own:
                snapshot.trust()
            copy.rename(state.folder / RESTORING)
        except BaseException:
            _resume(lab, kept)
            raise
        finally:
            shutil.rmtree(copy, ignore_errors=True)
        sync_folder(state.folder)
        finish_restore(state)
        if kept:
            # Suspend again with the restored passwords, and stop what cannot be suspended: a
            # service may have died and been started meanwhile.
            for name in set(kept).difference(_suspended(replace(lab))):
                lab.runtime.stop(name)


def _copy(snapshot: Snapshot, target: Path) -> None:
    for part in SAVED:
        copy_folder(snapshot.folder / part, target / part)


def _suspended(lab: Lab) -> list[str]:
    """Suspend the services that support it; return the names of the suspended ones."""
    suspended = []
    for service in lab.services:
        if service.suspension is not None and lab.runtime.state(service.name).running:
            with suppress(OSError, LabError):  # `up` starts it again
                service.suspension.suspend(lab.context(service))
                suspended.append(service.name)
    return suspended


def _resume(lab: Lab, names: Collection[str]) -> None:
    for service in lab.services:
        if service.suspension is not None and service.name in names:
            service.suspension.resume(lab.context(service))


def finish_restore(state: LabState) -> bool:
    """Complete a restore that has got as far as its rename; return whether there was one.

    The caller must hold the lab, with all of its services stopped or suspended.
    """
    whole = state.folder / RESTORING
    if not whole.is_dir():
        return False
    for part in SAVED:
        if (whole / part).is_dir():
            old = state.folder / f".{part}.{time.time_ns()}"
            own = state.folder / part
            if own.is_dir():
                own.rename(old)
            (whole / part).rename(own)
    # Delete first: on a full disk this makes room for the rest.
    for part in SAVED:
        for old in state.folder.glob(f".{part}.*"):
            shutil.rmtree(old, ignore_errors=True)
    record = whole / _RECORD
    if record.is_file():
        state.save(**json.loads(record.read_bytes()))
    shutil.rmtree(whole)
    return True


def builds(lab: Lab) -> dict[str, str]:
    """Return the version that this labctl runs, for each of its services that stores data."""
    stored = (s for s in lab.services if not (s.ephemeral or s.is_own))
    return {service.name: lab.runtime.inspector.build(service) for service in stored}


def check_versions(snapshot: Snapshot, present: dict[str, str]) -> None:
    """Raise LabError (ENVIRONMENT) unless the `present` versions are those of the snapshot."""
    made = snapshot.manifest
    if made.state_version != STATE_VERSION:
        age = "a newer" if made.state_version > STATE_VERSION else "an older"
        raise LabError(
            f"Snapshot {snapshot.name!r} is of a lab of {age} labctl",
            hint=f"use that labctl, or `labctl snapshot delete {snapshot.name}`",
            exit_code=ExitCode.ENVIRONMENT,
        )
    unequal = [
        f"{name}: {made.builds.get(name, 'none')} in the snapshot, {present.get(name, 'none')} here"
        for name in sorted({*made.builds, *present})
        if made.builds.get(name) != present.get(name)
    ]
    if unequal:
        raise LabError(
            f"Snapshot {snapshot.name!r} was written by other versions, or with other sources",
            hint="restore it with the labctl and the lab.toml that it was saved with",
            details=tuple(unequal),
            exit_code=ExitCode.ENVIRONMENT,
        )


def check_entries(snapshot: Snapshot) -> None:
    """Raise LabError (ENVIRONMENT) for the first entry that differs from what was saved.

    The entry is a file, folder or link that is missing, was added, or is of another kind. No file
    is opened.
    """
    made = snapshot.manifest
    for part in SAVED:
        if (snapshot.folder / part).is_symlink():
            raise _damaged(snapshot, f"{part} is a link")
        if problem := unlike_entries(snapshot.folder / part, _below(part, made.entries)):
            raise _damaged(snapshot, f"{part}/{problem}")


def check_files(snapshot: Snapshot) -> None:
    """Raise LabError (ENVIRONMENT) for the first file that differs from what was saved."""
    for part in SAVED:
        below = _below(part, snapshot.manifest.files)
        if problem := unlike(snapshot.folder / part, below):
            raise _damaged(snapshot, f"{part}/{problem}")


def _below(part: str, paths: Mapping[str, T]) -> dict[str, T]:
    """Return what is below a folder of the snapshot, by the path from there."""
    start = f"{part}/"
    return {name.removeprefix(start): it for name, it in paths.items() if name.startswith(start)}


def _damaged(snapshot: Snapshot, problem: str) -> LabError:
    return LabError(
        f"Snapshot {snapshot.name!r} is damaged: {problem}",
        hint=f"`labctl snapshot delete {snapshot.name}`; restore another",
        exit_code=ExitCode.ENVIRONMENT,
    )
