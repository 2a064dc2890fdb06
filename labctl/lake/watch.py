"""A watch on one table: the rows written since the last look, cheap enough to poll often."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from labctl.errors import ExitCode, LabError
from labctl.lake.safe_reading import reading
from labctl.lake.silver_table import SilverTable
from labctl.lake.view import COMMIT_TIME
from sqlapi.instants import to_datetime
from sqlapi.table_format import Commit, History

__all__ = ["Watch"]

_BEFORE_ALL = "19700101000000000"


class Watch:
    """Rows written to a table since this object was created.

    A look at an unchanged table takes one LIST request (1 ms on a local MinIO). A new commit takes
    two more requests, and one for each file that it wrote.
    """

    def __init__(self, table: SilverTable) -> None:
        self._table = table
        self._changes = table.stored.changes()
        self._timeline = table.timeline()
        self._told = {write.requested for write in self._timeline.writes}
        self._mark = self._timeline.completion_mark() or _BEFORE_ALL

    def poll(self) -> pa.Table | None:
        """Return the rows of commits since the last call, deleted ones included, or None."""
        return self._take(self._timeline.refreshed())

    def take(self, done: Iterable[Commit]) -> pa.Table | None:
        """Return the same after a report of completed writes, which saves reading the timeline."""
        return self._take(self._timeline.extended(done))

    def _take(self, timeline: History) -> pa.Table | None:
        self._timeline = timeline
        new = {write.requested for write in timeline.writes} - self._told
        if not new:
            return None
        ends = {w.requested: timeline.completion_mark([w]) or "" for w in timeline.writes}
        first, last = min(ends[name] for name in new), max(ends[name] for name in new)
        # The write of the mark may be archived meanwhile.
        told = [self._mark, *(end for name, end in ends.items() if name not in new)]
        begin = max((end for end in told if end < first), default=_BEFORE_ALL)
        rows = reading([self._table], lambda: self._changes.between(timeline, begin, last))
        self._told |= new
        self._mark = max(self._mark, last)
        # A write may be seen after one that was completed later, which then is between the two.
        return rows.filter(pc.field(COMMIT_TIME).isin([*new]))

    @property
    def completions(self) -> Mapping[str, datetime]:
        """Completion times by commit instant, of the writes known at the last `poll` or `take`."""
        return {i.requested: to_datetime(i.completed) for i in self._timeline.writes if i.completed}

    def wait_for(
        self, condition: pc.Expression, *, timeout_seconds: float = 30, interval: float = 0.01
    ) -> pa.Table:
        """Return the first newly written rows that meet `condition`: `pc.field("salesid") == 200`.

        `interval` is the pause between looks in seconds. Raise LabError when time is up.
        """
        end = time.monotonic() + timeout_seconds
        seen = 0
        while True:
            rows = self.poll()
            if rows is not None:
                seen += rows.num_rows
                found = rows.filter(condition)
                if found.num_rows:
                    return found
            if time.monotonic() >= end:
                raise LabError(
                    f"No row with {condition} was written to {self._table.name} "
                    f"within {timeout_seconds:g} s; {seen} others were.",
                    hint="Where it is stuck: labctl status, labctl topics.",
                    exit_code=ExitCode.FAILED,
                )
            time.sleep(interval)
