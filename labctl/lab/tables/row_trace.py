"""Trace of one row from its source to silver, and why it has got no further.

Each station is asked for the newest version that it has of the row. Silver and bronze keep the
offset of each record: a smaller offset than that of the topic's newest record means an older state
of the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any

from labctl.errors import ExitCode, LabError
from labctl.kafka.topic_records import Topics
from labctl.kafkaconnect.keys import lists
from labctl.lab.connectors.source_files import source_file
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import PipelineStatus, SilverTableStatus, read_pipeline
from labctl.lab.tables.bronze_folders import lab_bronze
from labctl.lab.tables.source_row import find_row
from labctl.lab.tables.table_requests import lab_dead_letters
from labctl.lab.tables.verification import source_capture
from labctl.lake import Lake, View
from labctl.lake.deadletters import DeadLetter
from labctl.lake.records import Record
from labctl.sources import TableRef, connect, connect_server
from labctl.tables import LabTable
from labctl.verify import CaptureState
from lakecontract.bronze_beginning import Beginning
from lakecontract.deletes import TRUNCATED, is_deleted
from lakecontract.table_names import quoted
from sqlapi.hudi.names import COMMIT_TIME, FILE_NAME
from sqlapi.instants import to_datetime

__all__ = [
    "RowTrace",
    "State",
    "Station",
    "bronze_station",
    "dropped_by",
    "silver_station",
    "topic_station",
    "trace",
    "why_not_in_bronze",
    "why_not_in_silver",
    "why_not_in_topic",
]

_PARTITION, _OFFSET = "__kafka_partition", "__kafka_offset"


class State(StrEnum):
    """State of the row at a station."""

    CURRENT = "current"
    OLDER = "older"
    """The station has an earlier version of the row."""
    MISSING = "missing"
    DELETED = "deleted"
    """The station knows that the row was deleted."""
    REMOVED = "removed"
    """The station had the row's record, which was removed after the lake's retention."""
    UNKNOWN = "unknown"
    """The station could not be asked."""


@dataclass(frozen=True)
class Station:
    """A place on the row's way."""

    name: str
    state: State
    place: str = ""
    at: datetime | None = None
    row: Mapping[str, Any] | None = None
    """The row as it is at this station."""
    why: str | None = None
    """Reason why the row is missing here, or older than at the station before."""


@dataclass(frozen=True)
class RowTrace:
    """Stations of a row in their order: source, topic, bronze, silver."""

    table: str
    key: Mapping[str, object]
    stations: tuple[Station, ...]

    @property
    def stopped(self) -> Station | None:
        """The first station that lacks what the one before it has."""
        return next((station for station in self.stations if station.why), None)

    @property
    def nowhere(self) -> bool:
        """True if no station knows the row: it was never there, or its key is wrong."""
        return all(station.state is State.MISSING for station in self.stations)


def trace(lab: Lab, table: LabTable, key: Mapping[str, object]) -> RowTrace:
    """Ask all stations for the row of `table` that has the values of `key`.

    A station that does not answer is `UNKNOWN` and has the reason. Raises LabError (USAGE) for a
    column that the source does not have, and for a `key` that more than one of its rows has.
    """
    endpoints = lab.endpoints
    topics = Topics(endpoints.kafka, endpoints.registry)
    with ThreadPoolExecutor(7) as pool:
        source = pool.submit(_source, lab, table, key)
        pipeline = pool.submit(read_pipeline, lab)
        in_topic = pool.submit(
            # A delete's own record, not the empty one after it.
            _asked,
            lambda: _newest(topics.find(table.topic, key, tombstones=False)),
        )
        in_bronze = pool.submit(_asked, lambda: _newest(lab_bronze(lab).find(table.topic, key)))
        begins = pool.submit(_asked, lambda: lab_bronze(lab).beginning(table.topic))
        in_silver = pool.submit(_asked, partial(_silver, lab, table, key))
        letters = pool.submit(_asked, lambda: lab_dead_letters(lab).of_topic(table.topic))
    row, capture = source.result()
    if isinstance(row, str):
        first = Station("source", State.UNKNOWN, _place(table), why=row)
    else:
        first = Station(
            "source", State.MISSING if row is None else State.CURRENT, _place(table), row=row
        )
    record, file, silver = in_topic.result(), in_bronze.result(), in_silver.result()
    status = pipeline.result()
    stations = [
        first,
        topic_station(record, row, why=lambda: why_not_in_topic(lab, table, capture)),
        bronze_station(
            file,
            record,
            why=lambda: why_not_in_bronze(status, table.topic),
            beginning=begins.result(),
        ),
        silver_station(
            silver,
            record,
            why=lambda: why_not_in_silver(
                table.name, record, status.tables, letters.result() or []
            ),
        ),
    ]
    return RowTrace(table.name, key, tuple(stations))


def why_not_in_topic(lab: Lab, table: LabTable, capture: CaptureState | str) -> str:
    """Return why the connector has written no record of a row that its source has."""
    connector = lab.config.sources[table.source].connector
    if isinstance(capture, str):
        return capture
    if capture.waiting_for:
        return capture.waiting_for
    if capture.moving is not None:
        return f"connector {connector} has read the change and is writing it"
    return (
        f"connector {connector} has read the log to its end and wrote no such record: "
        f"{dropped_by(source_file(lab, table.source).config)}, or the row is older than the "
        f"connector and no snapshot took it (labctl connectors snapshot {connector})"
    )


def dropped_by(config: Mapping[str, str]) -> str:
    """Return what in a connector's configuration leaves a row out, as far as its keys tell."""
    transforms = lists.names(config.get("transforms"))
    kinds = {name: config.get(f"transforms.{name}.type", "") for name in transforms}
    found = [
        f"the transform {name} ({kind})"
        for name, kind in kinds.items()
        if kind.rpartition(".")[2] == "Filter"
    ]
    if (skipped := config.get("skipped.operations", "none")) != "none":
        found.append(f"skipped.operations={skipped}")
    if found:
        return f"its file has {' and '.join(found)}, which may leave it out"
    return "a transform of its file leaves it out"


def why_not_in_bronze(pipeline: PipelineStatus, topic: str) -> str:
    """Return why no file has the newest record of a row."""
    bronze = pipeline.bronze
    if bronze is None:
        return "the Spark application does not answer: labctl status"
    if reason := bronze.stopped_topics.get(topic) or bronze.error:
        return reason
    if bronze.writer == "connect":
        return "the sink connector has not closed its file yet: flush.size, rotate.interval.ms"
    return "its file is not written yet: files of a topic are closed together, by size or time"


def why_not_in_silver(
    name: str,
    record: Record | None,
    tables: list[SilverTableStatus],
    letters: list[DeadLetter] | str,
) -> str:
    """Return why the table does not have the newest record of a row."""
    if record is not None and not isinstance(letters, str):
        for letter in letters:
            if (letter.partition, letter.offset) == (record.partition, record.offset):
                place = f"{letter.partition}:{letter.offset}"
                shown = f"labctl topics deadletters show {name} {place}"
                return f"it was put aside: {letter.reason} ({shown})"
    table = next((one for one in tables if one.name == name), None)
    if table is None:
        return "the Spark application does not answer, or does not know the table: labctl status"
    if reason := table.error or table.source_problem:
        return f"the table is {table.state}: {reason}"
    if table.records_behind:
        return (
            f"the table is {table.state}; {table.records_behind:,} records of its topic are not in "
            "it yet"
        )
    return f"the table has all records of its topic: labctl verify {name} compares it"


def _asked(ask: Callable[[], Any]) -> Any:
    """Return the answer of `ask`, or as text why there is none.

    Returns None if the topic, folder or table does not exist yet.
    """
    try:
        return ask()
    except (LabError, OSError) as error:
        if isinstance(error, LabError) and error.exit_code is ExitCode.USAGE:
            return None
        return str(error)


def _source(
    lab: Lab, table: LabTable, key: Mapping[str, object]
) -> tuple[Mapping[str, Any] | str | None, CaptureState | str]:
    """Return the row, and its connector's progress in the source's log.

    If the source cannot be asked, both are text with the reason.
    """
    try:
        return _source_row(lab, table, key)
    except LabError as error:
        if error.exit_code is ExitCode.USAGE:
            raise
        return error.what, error.what


def _source_row(
    lab: Lab, table: LabTable, key: Mapping[str, object]
) -> tuple[Mapping[str, Any] | None, CaptureState | str]:
    ref = TableRef(table.db_schema, table.source_name)
    with connect(lab.endpoints, table.source) as source:
        row = find_row(source, table, key)
    with connect_server(lab.endpoints, table.source) as server:
        capture = source_capture(lab, table.source, lambda: server)
        state = _asked(lambda: capture.state(capture.end(ref))) or CaptureState()
    return row, state


def _newest(found: list[Record]) -> Record | None:
    """Return the newest record, if its value has fields."""
    return next((one for one in found if isinstance(one.value, dict)), None)


def _silver(lab: Lab, table: LabTable, key: Mapping[str, object]) -> dict[str, Any] | None:
    where = " AND ".join(f'"{name}" = {_literal(value)}' for name, value in key.items())
    rows = Lake(lab.endpoints.objectstore).query(
        f"SELECT * FROM {quoted(table.name)} WHERE {where}",  # noqa: S608
        View(deleted=True),
    )
    found: list[dict[str, Any]] = rows.to_pylist()
    return max(found, key=lambda row: row.get(_OFFSET) or -1, default=None)


def topic_station(
    record: Record | str | None, row: Mapping[str, Any] | str | None, *, why: Callable[[], str]
) -> Station:
    if isinstance(record, str):
        return Station("topic", State.UNKNOWN, why=record)
    if record is None:
        return Station("topic", State.MISSING, why=why() if isinstance(row, dict) else None)
    deleted = is_deleted(record.value)
    is_newest = isinstance(row, str) or deleted == (row is None)
    if isinstance(row, dict) and not deleted and _differ(row, record.value):
        is_newest = False
    state = State.OLDER if not is_newest else State.DELETED if deleted else State.CURRENT
    station = Station("topic", state, why=None if is_newest else why())
    return _at(station, record, f"{record.topic}, ")


def _differ(row: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    """Return whether a column surely has another value.

    Only types that drivers and Avro return alike are compared.
    """
    both = ((row[name], value[name]) for name in row.keys() & value.keys())
    return any(
        a.rstrip() != b.rstrip() if isinstance(a, str) else a != b
        for a, b in both
        if type(a) is type(b) and not isinstance(a, datetime)
    )


def bronze_station(
    file: Record | str | None,
    record: Record | str | None,
    *,
    why: Callable[[], str],
    beginning: Beginning | str | None = None,
) -> Station:
    """Return the station of bronze, which may begin at `beginning`; text: it is not known."""
    if isinstance(file, str):
        return Station("bronze", State.UNKNOWN, why=file)
    if file is None:
        place = ""
        if isinstance(beginning, Beginning):
            place = f"it begins at {beginning}: older files were removed (lake.retention)"
            if isinstance(record, Record) and beginning.is_after(record.partition, record.offset):
                return Station("bronze", State.REMOVED, place)
        state, lacks = _beside(None, None, record, why)
        return Station("bronze", state, place, why=lacks)
    state, lacks = _beside(file.value, file.offset, record, why)
    return _at(Station("bronze", state, why=lacks), file, f"{file.file}, ")


def silver_station(
    row: Mapping[str, Any] | str | None, record: Record | str | None, *, why: Callable[[], str]
) -> Station:
    if isinstance(row, str):
        return Station("silver", State.UNKNOWN, why=row)
    if row is None:
        state, lacks = _beside(None, None, record, why)
        return Station("silver", state, why=lacks)
    offset, commit = row.get(_OFFSET), str(row.get(COMMIT_TIME) or "")
    state, lacks = _beside(row, offset, record, why)
    place = f"commit {commit} in {row.get(FILE_NAME)}, offset {offset}"
    own = {name: value for name, value in row.items() if not name.startswith("_")}
    at = to_datetime(commit) if commit else None
    return Station("silver", state, place=place, at=at, row=own, why=lacks)


def _beside(
    value: Mapping[str, Any] | None,
    offset: int | None,
    record: Record | str | None,
    why: Callable[[], str],
) -> tuple[State, str | None]:
    """Return a station's state against the topic's newest record, and why it lacks that one."""
    lacks = isinstance(record, Record) and (
        not _is_truncate(record) if value is None else offset is not None and offset < record.offset
    )
    if value is None:
        state = State.MISSING
    elif lacks:
        state = State.OLDER
    else:
        state = State.DELETED if is_deleted(value) else State.CURRENT
    return state, why() if lacks else None


def _is_truncate(record: Record) -> bool:
    """Return whether a record removed all rows: a station without the row then lacks nothing."""
    return TRUNCATED in record.value


def _at(station: Station, record: Record, before: str) -> Station:
    place = f"{before}partition {record.partition}, offset {record.offset}"
    own = {name: value for name, value in record.value.items() if not name.startswith("__")}
    at = record.timestamp.astimezone(UTC) if record.timestamp else None
    return Station(station.name, station.state, place, at, own, station.why)


def _literal(value: object) -> str:
    text = str(value)
    return text if isinstance(value, int) else "'" + text.replace("'", "''") + "'"


def _place(table: LabTable) -> str:
    return f"{table.source}, {table.db_schema}.{table.source_name}"
