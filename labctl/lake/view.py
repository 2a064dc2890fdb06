"""Choice of the rows that a read shows: now or then, live or deleted, merged or compacted only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labctl.errors import ExitCode, LabError
from labctl.lake.instants import parse_instant
from lakecontract.deletes import DELETED, LIVE, MARK
from sqlapi.hudi.names import COMMIT_TIME

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["COMMIT_TIME", "LATEST", "OPERATION", "View", "live_rows"]

OPERATION = "__op"


@dataclass(frozen=True)
class View:
    """The part of a table's history to read. Times are instants (`sqlapi.instants`).

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


def live_rows(rows: pa.Table) -> pa.Table:
    """Return the rows of a silver table that are not marked deleted."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if DELETED not in rows.column_names:
        return rows
    marked = pc.field(DELETED).cast(pa.string())
    return rows.filter(marked.is_null() | (marked != MARK))


LATEST = View()
