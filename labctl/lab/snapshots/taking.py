"""Save a snapshot: all processes stand still while their data is copied."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.snapshots.restoring import builds, finish_restore
from labctl.lab.snapshots.snapshot_files import (
    copy_folder,
    forget_processes,
    link_unchanged,
    read_entries,
    read_records,
)
from labctl.lab.snapshots.snapshot_store import (
    RECORDED,
    SNAPSHOT_VERSION,
    Manifest,
    Snapshot,
    check_name,
    put_in_place,
    snapshot_home,
    snapshots,
    stage,
    write_manifest,
)
from labctl.state.lab_state import SAVED, STATE_VERSION

__all__ = ["save_snapshot"]


def save_snapshot(lab: Lab, name: str, *, replace: bool = False) -> Snapshot:
    """Save what the lab's services have stored by now. The lab may run, and continues afterwards.

    All its processes stand still while the files are copied, so the copy is what a power cut at one
    moment would leave. Checksums are computed after the processes continue. Raises LabError: USAGE
    if there is a snapshot of that name, unless `replace` is set.
    """
    check_name(name)
    folder = snapshot_home() / name
    with lab.require_here().state.changing(existing=True):
        lab.runtime.files.require()
        finish_restore(lab.state)
        if folder.exists() and not replace:
            raise LabError(
                f"There is a snapshot {name!r} already",
                hint=f"`--replace` takes its place, `labctl snapshot delete {name}` removes it",
                exit_code=ExitCode.USAGE,
            )
        with _staged(name) as staged:
            frozen = lab.runtime.files.frozen() if lab.running else nullcontext()
            with frozen:
                made_at = datetime.now(UTC)
                for part in SAVED:
                    copy_folder(lab.state.folder / part, staged / part)
            forget_processes(staged / "data")
            manifest = Manifest(
                version=SNAPSHOT_VERSION,
                lab=lab.name,
                made_at=made_at,
                state_version=STATE_VERSION,
                **{key: lab.state.load().get(key, {}) for key in RECORDED},
                builds=builds(lab),
                files=read_records(staged),
                entries=read_entries(staged),
            )
            earlier = [(one.folder, one.manifest.files) for one in snapshots()]
            link_unchanged(staged, manifest.files, earlier)
            write_manifest(staged, manifest)
            put_in_place(staged, name)
    return Snapshot(name, manifest)


@contextmanager
def _staged(name: str) -> Iterator[Path]:
    """Yield a new folder to fill; delete it at the end unless it has been renamed."""
    staged = stage(name)
    try:
        yield staged
    finally:
        shutil.rmtree(staged, ignore_errors=True)
