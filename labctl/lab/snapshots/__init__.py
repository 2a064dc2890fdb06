"""Snapshots of a lab: everything that its services store, at one point in time, and its restore.

`files` has the files of a snapshot, `store` their location; `taking` and `restoring` have the
steps. A table's own history is not here: that is time travel (`labctl query --as-of`).
"""

from __future__ import annotations

from labctl.lab.snapshots.restoring import finish_restore, restore_snapshot
from labctl.lab.snapshots.snapshot_store import (
    Snapshot,
    delete_snapshot,
    find_snapshot,
    remove_leftovers,
    snapshots,
)
from labctl.lab.snapshots.taking import save_snapshot

__all__ = [
    "Snapshot",
    "delete_snapshot",
    "find_snapshot",
    "finish_restore",
    "remove_leftovers",
    "restore_snapshot",
    "save_snapshot",
    "snapshots",
]
