"""Restoring a snapshot, into the lab it was taken of or into another.

Up to one rename the lab is as it was; from then on it is the snapshot's. An interruption before it
leaves a copy that the next restore deletes, one after it is completed by the next `up`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.home.state import STATE_VERSION, LabState, sync_folder, write_private
from labctl.lab.lab import Lab
from labctl.lab.snapshots.files import copy_folder, unlike
from labctl.lab.snapshots.store import FOLDERS, RECORDED, Snapshot, remove_leftovers

__all__ = ["builds", "check_files", "check_versions", "finish_restore", "restore_snapshot"]

COPY = "restoring.new"
"""In the lab's folder: what is being copied."""
WHOLE = "restoring"
"""The same once it is complete: it takes the place of the lab's own folders."""
_RECORD = "restored.json"


def restore_snapshot(lab: Lab, snapshot: Snapshot) -> None:
    """Replace the lab's data by the snapshot's. `up` has to follow: nothing of the lab runs
    afterwards but services that are suspended, until `up` resumes them.

    Raises LabError (ENVIRONMENT), and changes nothing, when a part of the snapshot is damaged, or
    was written by another version of a service.
    """
    lab.require_here().runtime.require_files()
    remove_leftovers()
    check_versions(snapshot, builds(lab))
    state = lab.state
    with state.changing():
        finish_restore(state)
        copy = state.folder / COPY
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
                # What they would still write is deleted anyway.
                lab.runtime.kill_all(but=kept)
            if not kept:
                lab.runtime.shutdown()
            copy.rename(state.folder / WHOLE)
        except BaseException:
            _resume(lab, kept)
            raise
        finally:
            shutil.rmtree(copy, ignore_errors=True)
        sync_folder(state.folder)
        finish_restore(state)
        if kept:
            # By the passwords that it has now; and one may have died and been started meanwhile.
            for name in set(kept).difference(_suspended(replace(lab))):
                lab.runtime.stop(name)


def _copy(snapshot: Snapshot, target: Path) -> None:
    for part in FOLDERS:
        copy_folder(snapshot.folder / part, target / part)


def _suspended(lab: Lab) -> list[str]:
    """Suspend the services that can be; those that are."""
    suspended = []
    for service in lab.services:
        if service.suspension is not None and lab.runtime.state(service.name).running:
            with suppress(OSError, LabError):  # it is started again then
                service.suspension.suspend(lab.context(service))
                suspended.append(service.name)
    return suspended


def _resume(lab: Lab, names: Collection[str]) -> None:
    for service in lab.services:
        if service.suspension is not None and service.name in names:
            service.suspension.resume(lab.context(service))


def finish_restore(state: LabState) -> bool:
    """Complete a restore that has got as far as its rename; whether there was one.

    To be called by whoever holds the lab, with none of its services running, or suspended.
    """
    whole = state.folder / WHOLE
    if not whole.is_dir():
        return False
    for part in FOLDERS:
        if (whole / part).is_dir():
            old = state.folder / f".{part}.{os.getpid()}"
            own = state.folder / part
            if own.is_dir():
                own.rename(old)
            (whole / part).rename(own)
    record = whole / _RECORD
    if record.is_file():
        state.save(**json.loads(record.read_bytes()))
    shutil.rmtree(whole)
    for part in FOLDERS:
        for old in state.folder.glob(f".{part}.*"):
            shutil.rmtree(old, ignore_errors=True)
    return True


def builds(lab: Lab) -> dict[str, str]:
    """By service that keeps anything: which version of it this labctl runs."""
    return {s.name: lab.runtime.build(s) for s in lab.services if not s.forgets}


def check_versions(snapshot: Snapshot, present: dict[str, str]) -> None:
    """Raise LabError (ENVIRONMENT) unless `present` services are those that wrote the snapshot."""
    made = snapshot.manifest
    if made.state_version > STATE_VERSION:
        raise LabError(
            f"Snapshot {snapshot.name!r} is of a lab of a newer labctl",
            hint="use that labctl",
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


def check_files(snapshot: Snapshot) -> None:
    """Raise LabError (ENVIRONMENT) for the first file that is not as it was saved."""
    for part in FOLDERS:
        below = {
            name.removeprefix(f"{part}/"): record
            for name, record in snapshot.manifest.files.items()
            if name.startswith(f"{part}/")
        }
        if problem := unlike(snapshot.folder / part, below):
            raise LabError(
                f"Snapshot {snapshot.name!r} is damaged: {part}/{problem}",
                hint=f"`labctl snapshot delete {snapshot.name}`; restore another",
                exit_code=ExitCode.ENVIRONMENT,
            )
