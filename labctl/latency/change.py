"""Changing one row at the source, and timing it until a query over silver returns the change."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from labctl.datasets import FollowedRow
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.seeding import lab_data_sets
from labctl.lake import Lake, Watch
from labctl.lake.view import COMMIT_TIME
from labctl.sources import TableRef, connect

__all__ = ["TIMEOUT_SECONDS", "Change", "followed_row", "make_change", "write_change"]

TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class Change:
    """A value before and after, and how long the change took. Seconds, monotonic clock."""

    table: str
    key: int
    column: str
    before: Any
    after: Any
    seconds: float
    """Time from the source's commit to the first query that returned the new value."""
    instant: str
    """The Hudi commit that holds it."""


def followed_row(lab: Lab) -> FollowedRow:
    """Return a data set's row to change and follow. Raises LabError (USAGE) if there is none."""
    for one in lab_data_sets(lab):
        if one.followed is not None:
            return one.followed
    raise LabError(
        "No data set of this lab has a row whose change can be followed", exit_code=ExitCode.USAGE
    )


def make_change(lab: Lab, row: FollowedRow) -> Change:
    """Change the row at its source, and wait until a query over silver returns the change.

    Raises LabError when the row does not exist or its change does not arrive.
    """
    table = lab.table_of(row.table)
    watch = Watch(Lake(lab.endpoints.objectstore).table(table.name))
    before, after, committed = write_change(lab, row)
    found = watch.wait_for(
        (pc.field(row.key) == row.value) & (pc.field(row.column) == after),
        timeout_seconds=TIMEOUT_SECONDS,
    )
    seconds = time.monotonic() - committed
    instant = found.column(COMMIT_TIME)[0].as_py()
    return Change(table.name, row.value, row.column, before, after, seconds, instant)


def write_change(lab: Lab, row: FollowedRow) -> tuple[Any, Any, float]:
    """Change the row at its source; return the old value, the new one, and the commit's time.

    The time is by the monotonic clock. Raises LabError when the row does not exist.
    """
    table = lab.table_of(row.table)
    with connect(lab.endpoints, table.source) as source:
        place = source.qualified(TableRef(table.db_schema, table.source_name))
        column, where = source.quote(row.column), f"{source.quote(row.key)} = %s"
        rows = source.execute(f"SELECT {column} FROM {place} WHERE {where}", (row.value,))  # noqa: S608
        if not rows:
            raise LabError(
                f"{table.source} has no {row.table} whose {row.key} is {row.value}",
                hint="labctl seed",
            )
        before = rows[0][0]
        after = row.next(before)
        source.affect(
            f"UPDATE {place} SET {column} = %s WHERE {where}",  # noqa: S608
            (after, row.value),
        )
    return before, after, time.monotonic()
