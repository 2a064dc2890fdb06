"""Where a row is stuck: what each station between source and silver knows of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from labctl.kafka.topics import Topics
from labctl.lab.bronze import lab_bronze
from labctl.lab.in_flight import in_flight_records
from labctl.lab.lab import Lab
from labctl.lab.pipeline import read_pipeline
from labctl.lake import Lake, View
from labctl.lake.records import Record
from labctl.sources import TableRef, connect
from labctl.tables import LabTable
from lakehouse.table_names import quoted

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
    endpoints = lab.endpoints
    topics = Topics(endpoints.kafka, endpoints.registry)
    yield f"{table.name} {_pairs(key)}, from source to silver:"
    yield from _told("source", lambda: _source(lab, table, key))
    yield from _told("topic", lambda: _records(topics.find(table.topic, key)))
    yield from _told("bronze", lambda: _records(lab_bronze(lab).find(table.topic, key)))
    yield from _told("silver", lambda: _silver(lab, table, key))
    yield from _told("in flight", lambda: f"{in_flight_records(lab, table)} records")


def _told(station: str, look: Callable[[], str]) -> list[str]:
    """What a station says; why not, where it does not answer."""
    try:
        said = look()
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    return [f"  {station}: {line}" for line in said.splitlines() or ["nothing"]]


def _source(lab: Lab, table: LabTable, key: Mapping[str, object]) -> str:
    ref = TableRef(table.db_schema, table.source_name)
    with connect(lab.endpoints, table.source) as source:
        names = [column.name for column in source.describe(ref).columns]
        where = " AND ".join(f"{source.quote(name)} = %s" for name in key)
        shown = ", ".join(source.quote(name) for name in names)
        rows = source.execute(
            f"SELECT {shown} FROM {source.qualified(ref)} WHERE {where}",  # noqa: S608
            tuple(key.values()),
        )
    return "\n".join(_pairs(dict(zip(names, row, strict=True))) for row in rows) or "no such row"


def _records(found: list[Record]) -> str:
    return "\n".join(map(_record, found)) or "no such record"


def _record(record: Record) -> str:
    place = f"partition {record.partition}, offset {record.offset}, at {record.timestamp}"
    value = record.value
    content = _pairs(value) if isinstance(value, dict) else str(value)
    return f"{place}{f' in {record.file}' if record.file else ''}: {content}"


def _silver(lab: Lab, table: LabTable, key: Mapping[str, object]) -> str:
    where = " AND ".join(f'"{name}" = {_literal(value)}' for name, value in key.items())
    rows = Lake(lab.endpoints.objectstore).query(
        f"SELECT * FROM {quoted(table.name)} WHERE {where}",  # noqa: S608
        View(deleted=True),
    )
    return "\n".join(map(_pairs, rows.to_pylist())) or "no such row"


def _literal(value: object) -> str:
    text = str(value)
    return text if isinstance(value, int) else "'" + text.replace("'", "''") + "'"


def _states(lab: Lab) -> Iterator[str]:
    pipeline = read_pipeline(lab)
    for connector in pipeline.connectors:
        yield f"{connector.name} {connector.state}, tasks {', '.join(connector.tasks) or 'none'}"
    for table in pipeline.tables:
        error = f": {table.error}" if table.error else ""
        yield f"{table.name} {table.state}, last commit {table.last_commit_instant}{error}"


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in values.items())
