"""Choice of the rows that a read shows: now or then, live or deleted, merged or compacted only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from labctl.errors import ExitCode, LabError
from labctl.lake.instants import parse_instant, to_datetime
from lakecontract.deletes import DELETED, LIVE, MARK

if TYPE_CHECKING:
    import pyarrow as pa

    from labctl.lake.timeline import Timeline

__all__ = ["COMMIT_TIME", "LATEST", "OPERATION", "View", "live_rows"]

COMMIT_TIME = "_hoodie_commit_time"
OPERATION = "__op"


@dataclass(frozen=True)
class View:
    """The part of a table's history to read. Times are Hudi instants (see `instants`).

    - `as_of`: the table as it stood then, commits of that very instant included (time travel).
    - `begin`, `end`: the rows as they stood at `end` (default: now) whose last write came after
      `begin` (point in time, also called incremental). A commit at `begin` is out, at `end` in.
    - `deleted`: show rows deleted at the source too, which silver keeps with `__deleted` = 'true'.
      They are hidden otherwise, also in a point in time read.
    - `read_optimized`: only what has been compacted into base files; the same as the default
      for copy-on-write tables.
    """

    as_of: str | None = None
    begin: str | None = None
    end: str | None = None
    deleted: bool = False
    read_optimized: bool = False

    @classmethod
    def parse(
        cls,
        *,
        as_of: str | None = None,
        begin: str | None = None,
        end: str | None = None,
        deleted: bool = False,
        read_optimized: bool = False,
    ) -> View:
        """Create a view from user input. Raise LabError (USAGE) for times that make no sense."""
        if as_of is not None and (begin is not None or end is not None):
            raise LabError(
                "--as-of cannot be combined with --from or --to.",
                hint="Use --as-of for the table at one moment, --from/--to for what changed.",
                exit_code=ExitCode.USAGE,
            )
        view = cls(
            as_of=None if as_of is None else parse_instant(as_of),
            begin=None if begin is None else parse_instant(begin),
            end=None if end is None else parse_instant(end),
            deleted=deleted,
            read_optimized=read_optimized,
        )
        if view.begin and view.end and view.begin >= view.end:
            raise LabError(
                f"--from {begin} is not before --to {end}.",
                hint=f"As instants: {view.begin} and {view.end}.",
                exit_code=ExitCode.USAGE,
            )
        return view

    @property
    def at(self) -> str | None:
        """The moment whose state is read; None for now."""
        return self.as_of or self.end

    def filters(self, columns: list[str]) -> list[str]:
        """Return SQL conditions, for DuckDB and Spark alike, on a table that has `columns`."""
        conditions = []
        if self.begin:
            conditions.append(f"{COMMIT_TIME} > '{self.begin}'")
        if not self.deleted and DELETED in columns:
            conditions.append(LIVE)
        return conditions

    def check_readable(self, table: str, timeline: Timeline) -> None:
        """Raise LabError for a moment that the table's files cannot show, or not correctly."""
        zone = timeline.properties.get("hoodie.table.timeline.timezone", "LOCAL")
        if self.at and zone != "UTC" and datetime.now().astimezone().utcoffset():
            raise LabError(
                f"The commits of {table} are named in local time ({zone}), not in UTC.",
                hint="Write it with hoodie.table.timeline.timezone=UTC.",
            )
        earliest = timeline.earliest_readable()
        if self.at and earliest and self.at < earliest:
            raise LabError(
                f"{table} cannot be read as of {self.at}: its history before {earliest} "
                f"({to_datetime(earliest).isoformat(sep=' ', timespec='milliseconds')}) "
                "has been cleaned.",
                hint="Ask for a later time, or set lab.keep.minutes in the table's properties.",
                exit_code=ExitCode.USAGE,
            )


def live_rows(rows: pa.Table) -> pa.Table:
    """Return the rows of a silver table that are not marked deleted."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if DELETED not in rows.column_names:
        return rows
    marked = pc.field(DELETED).cast(pa.string())
    return rows.filter(marked.is_null() | (marked != MARK))


LATEST = View()
