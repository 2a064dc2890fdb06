"""Where a row is stuck: what each station between source and silver knows of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from labctl.lab.in_flight import in_flight_records
from labctl.lab.lab import Lab
from labctl.lab.pipeline import read_pipeline
from labctl.lab.row_trace import trace
from labctl.tables import LabTable

__all__ = ["trace_row"]

LOG_LINES = 15
LOGS = ("connect", "silver")


def trace_row(lab: Lab, row: tuple[str, Mapping[str, object]] | None) -> list[str]:
    """Lines that follow a row through source, topic, bronze and silver, then states and logs.

    `row` is a silver table's name and the row's key, `("sale", {"salesid": 200})`. A station that
    does not answer says so in its line: this never raises an error of a service.
    """
    lines: list[str] = []
    if row is not None:
        lines += _stations(lab, lab.table(row[0]), row[1])
    lines += _told("states", lambda: "\n".join(_states(lab)))
    for service in LOGS:
        lines.append(f"end of {service}'s log:")
        lines += [f"  {line}" for line in lab.runtime.tail(service, LOG_LINES)]
    return lines


def _stations(lab: Lab, table: LabTable, key: Mapping[str, object]) -> Iterator[str]:
    yield f"{table.name} {_pairs(key)}, from source to silver:"
    try:
        found = trace(lab, table, key)
    except Exception as error:
        yield f"  {type(error).__name__}: {error}"
        return
    for station in found.stations:
        row = f": {_pairs(station.row)}" if station.row else ""
        yield f"  {station.name}: {station.state}, {station.place}{row}"
        if station.why:
            yield f"  {station.name}: {station.why}"
    yield from _told("in flight", lambda: f"{in_flight_records(lab, table)} records")


def _told(station: str, look: Callable[[], str]) -> list[str]:
    """What a station says; why not, where it does not answer."""
    try:
        said = look()
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    return [f"  {station}: {line}" for line in said.splitlines() or ["nothing"]]


def _states(lab: Lab) -> Iterator[str]:
    pipeline = read_pipeline(lab)
    for connector in pipeline.connectors:
        yield f"{connector.name} {connector.state}, tasks {', '.join(connector.tasks) or 'none'}"
    for table in pipeline.tables:
        error = f": {table.error}" if table.error else ""
        yield f"{table.name} {table.state}, last commit {table.last_commit_instant}{error}"


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in values.items())
