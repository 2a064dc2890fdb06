"""A row on its way, as the page that follows a change shows it.

The functions run in a process of `lake_workers`, and so answer with classes of this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labctl.overview import Tone
from labctl.ui.cell_text import cell_text

if TYPE_CHECKING:
    from labctl.lab.lab import Lab
    from labctl.lab.tables.row_trace import Station

__all__ = [
    "Column",
    "Followed",
    "RowAtSource",
    "StationLine",
    "Way",
    "followed",
    "row_at_source",
    "way",
    "write",
]


@dataclass(frozen=True)
class Followed:
    """A row of the lab's data set, which may be changed without harm, and its next value."""

    table: str
    key: Mapping[str, str]
    column: str
    value: str | None


@dataclass(frozen=True)
class Column:
    """A value of a row."""

    name: str
    type: str
    """The type as the database declares it."""
    text: str | None
    """None for null."""
    is_key: bool


@dataclass(frozen=True)
class RowAtSource:
    """A row as its source has it."""

    columns: tuple[Column, ...]
    written: str | None = None
    """The statement that has just changed it."""
    at: float | None = None
    """Time of that statement, in seconds since the epoch; None if the row is as it was."""


@dataclass(frozen=True)
class StationLine:
    """The row at one place of its way."""

    name: str
    state: str
    tone: Tone
    at: float | None
    """Time since which it is there, in seconds since the epoch."""
    place: str
    why: str | None
    differs: tuple[tuple[str, str], ...]
    """The columns, and their values, in which it differs from the station before."""


@dataclass(frozen=True)
class Way:
    """All stations of a row."""

    stations: tuple[StationLine, ...]
    has_arrived: bool
    """True if every station has what the source has, or a newer state."""


def followed(lab: Lab) -> Followed | None:
    """Return the data set's row that `labctl demo` changes; None for a lab without a data set."""
    from labctl.errors import LabError
    from labctl.lab.tables.source_row import find_row
    from labctl.latency.change import followed_row
    from labctl.sources import connect

    lab.require_running()
    try:
        row = followed_row(lab)
    except LabError:
        return None
    table = lab.table_of(row.table)
    with connect(lab.endpoints, table.source) as source:
        found = find_row(source, table, {row.key: row.value})
    if found is None:
        return None
    value = cell_text(row.next(found[row.column]))
    return Followed(table.name, {row.key: str(row.value)}, row.column, value)


def row_at_source(lab: Lab, table_name: str, key: Mapping[str, str]) -> RowAtSource:
    """Return the row that has the values of `key`; without columns if there is none."""
    from labctl.lab.tables.source_row import columns_of, find_row
    from labctl.sources import connect

    table = lab.require_running().table(table_name)
    with connect(lab.endpoints, table.source) as source:
        columns = columns_of(source, table)
        row = find_row(source, table, key)
    if row is None:
        return RowAtSource(())
    keys = table.properties.key_fields
    found = (
        Column(name, column.declared.full, cell_text(row[name]), name in keys)
        for name, column in columns.items()
    )
    return RowAtSource(tuple(found))


def write(
    lab: Lab, table_name: str, key: Mapping[str, str], column: str, value: str | None
) -> RowAtSource:
    """Set a column of the row at its source, and return the row."""
    from labctl.lab.tables.source_row import write_value

    table = lab.require_running().table(table_name)
    done = write_value(lab, table, key, column, value)
    now = row_at_source(lab, table_name, key)
    return RowAtSource(now.columns, done.statement, done.at if done.has_changed else None)


def way(lab: Lab, table_name: str, key: Mapping[str, str], since: float | None) -> Way:
    """Return where the row is; with `since`, where the change is that was written then."""
    from labctl.lab.tables.row_trace import trace

    found = trace(lab, lab.require_running().table(table_name), key)
    lines: list[StationLine] = []
    before: dict[str, str] = {}
    waits = False
    for station in found.stations:
        # Until the topic has a record of the change, what follows is of an earlier one.
        waits = waits or (
            since is not None
            and station.name == "topic"
            and (station.at is None or station.at.timestamp() < int(since * 1000) / 1000)
        )
        row = {name: str(value) for name, value in (station.row or {}).items()}
        lines.append(_line(station, row, before, waits=waits and station.name != "source"))
        before = before | row
    arrived = not waits and found.stopped is None and not found.nowhere
    return Way(tuple(lines), arrived)


def _line(
    station: Station, row: Mapping[str, str], before: Mapping[str, str], *, waits: bool
) -> StationLine:
    is_current = station.state.value == "current"
    # A driver and Avro may write one value in two ways: what differs explains an older row.
    differs = tuple(
        (name, cell_text(value) or "")
        for name, value in row.items()
        if not is_current and before.get(name, value) != value
    )
    if waits:
        return StationLine(station.name, "waiting", Tone.BUSY, None, station.place, None, differs)
    tones = {"current": Tone.GOOD, "deleted": Tone.GOOD, "removed": Tone.GOOD, "unknown": Tone.BAD}
    return StationLine(
        station.name,
        station.state.value,
        tones.get(station.state.value, Tone.BUSY),
        station.at.timestamp() if station.at else None,
        station.place,
        station.why,
        differs,
    )
