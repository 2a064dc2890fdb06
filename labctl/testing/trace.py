"""The trace of a stuck row: what each station between source and silver knows of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import read_pipeline
from labctl.lab.observe.service_status import read_status
from labctl.lab.tables.in_flight import in_flight_records
from labctl.lab.tables.row_trace import trace
from labctl.tables import LabTable

__all__ = ["end_of_log", "trace_row"]

LOG_LINES = 15
LOGS = ("silver", "connect")


def trace_row(lab: Lab, row: tuple[str, Mapping[str, object]] | None) -> list[str]:
    """Return lines that follow a row from source to silver, then states and logs.

    The stations are source, topic, bronze and silver. `row` is a silver table's name and the row's
    key, `("sale", {"salesid": 200})`. If a station does not answer, its line says so: this function
    never raises an error of a service.
    """
    lines: list[str] = []
    if row is not None:
        lines += _stations(lab, lab.table(row[0]), row[1])
    lines += _told("services", lambda: "\n".join(_services(lab)) or "all ready, none has died")
    lines += _told("states", lambda: "\n".join(_states(lab)))
    for service in LOGS:
        lines.append(f"end of {service}'s log:")
        lines += [f"  {line}" for line in end_of_log(lab, service, LOG_LINES)]
    return lines


def end_of_log(lab: Lab, service: str, count: int) -> list[str]:
    """Return the last lines that a service logged, or the error if they cannot be read."""
    try:
        return lab.runtime.logs.tail(service, count)
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]


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
    """Return what a station says, or the error if it does not answer."""
    try:
        said = look()
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    return [f"  {station}: {line}" for line in said.splitlines() or ["nothing"]]


def _services(lab: Lab) -> Iterator[str]:
    """Yield the services that are not usable, or that have died before."""
    for service in read_status(lab).services:
        if service.last_death_at is not None:
            died = datetime.fromtimestamp(service.last_death_at, UTC).isoformat(timespec="seconds")
            why = f": {service.last_death_cause}" if service.last_death_cause else ""
            yield f"{service.name} {service.state}, {service.restarts} restarts, died {died}{why}"
        elif service.state != "ready":
            yield f"{service.name} {service.state}: {service.detail}"


def _states(lab: Lab) -> Iterator[str]:
    pipeline = read_pipeline(lab)
    for connector in pipeline.connectors:
        yield f"{connector.name} {connector.state}, tasks {', '.join(connector.tasks) or 'none'}"
    for table in pipeline.tables:
        error = f": {table.error}" if table.error else ""
        yield f"{table.name} {table.state}, last commit {table.last_commit_at}{error}"


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in values.items())
