"""Following one silver table by reading the rows of each commit."""

from __future__ import annotations

import time

import pyarrow as pa
import pyarrow.compute as pc

from labctl.background import Background
from labctl.errors import LabError
from labctl.lake import Lake, Watch
from labctl.latency.targets import Target
from labctl.soak.tracking import Tracker, Version
from lakecontract.deletes import DELETED, MARK

__all__ = ["TableFollower", "versions_of"]

_LOOK_SECONDS = 0.1


class TableFollower(Background):
    """A thread that reports every row written to a table to a tracker."""

    def __init__(self, lake: Lake, target: Target, first_key: int, tracker: Tracker) -> None:
        super().__init__(f"follow {target.silver}")
        self._target = target
        self._first_key = first_key
        self._tracker = tracker
        self._watch = Watch(lake.table(target.silver))

    def _run(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            try:
                rows = self._watch.poll()
            except (LabError, OSError):
                continue  # the object store is away: a fault of the run
            if rows is not None:
                seen = time.time()
                self._tracker.shown(versions_of(rows, self._target, self._first_key), seen)


def versions_of(rows: pa.Table, target: Target, first_key: int) -> list[tuple[int, Version]]:
    """Return the keys and versions of the run's rows."""
    rows = rows.filter(pc.field(target.key) >= first_key)
    columns = (rows.column(name).to_pylist() for name in (target.key, target.number, DELETED))
    return [
        (int(key), Version(int(str(number).strip()), deleted == MARK))
        for key, number, deleted in zip(*columns, strict=True)
    ]
