"""Progress of each table from its source to silver, and what is missing on its way."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import requests

from labctl.counted import counted
from labctl.errors import ExitCode, LabError
from labctl.kafka.offsets import EndOffsets, end_offsets
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.lab.connectors.connector_states import require_not_failed
from labctl.lab.connectors.source_files import source_file
from labctl.lab.connectors.source_problems import key_problem
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import (
    HELD_UP,
    NOT_APPLIED,
    PipelineStatus,
    read_pipeline,
    silver_status,
)
from labctl.lab.tables.in_flight import records_behind
from labctl.lake import Lake
from labctl.sources import ENGINES, Source, TableRef, connect
from labctl.tables import LabTable
from labctl.verify import UnavailableError
from lakecontract.table_names import quoted

__all__ = ["TableCheck", "check_tables", "silver_rows", "wait_for_rows"]

_WAIT_SECONDS = 180.0
_POLL_SECONDS = 0.2
_ASK_SECONDS = 1.0
"""Seconds between two checks of whether a part has failed."""


@dataclass(frozen=True)
class TableCheck:
    """Result of the check of one table."""

    table: str
    """Name of the silver table."""
    source: str
    """Source and table, such as `orders public.customer`."""
    source_rows: int | None
    """Number of rows in the source; None if it has no such table."""
    connector: str
    """State of its connector."""
    topic: str
    topic_records: int | None
    """Number of records in the topic; None if there is no such topic."""
    silver: str
    """State of the silver table."""
    silver_rows: int | None
    """Number of rows in silver; None if the table has no commit yet."""
    records_behind: int | None
    missing: tuple[str, ...] = field(default=())
    """Problems that keep its rows from silver, from the source on, each with a remedy."""


def check_tables(lab: Lab, tables: Sequence[LabTable]) -> list[TableCheck]:
    """Check every part on the way of these tables. Raises LabError if one does not answer."""
    pipeline = read_pipeline(lab)
    ends = end_offsets(lab.endpoints.kafka, sorted({table.topic for table in tables}))
    checks = []
    for name in dict.fromkeys(table.source for table in tables):
        with connect(lab.endpoints, name) as database:
            mine = [table for table in tables if table.source == name]
            checks += [_check(lab, table, database, pipeline, ends) for table in mine]
    return sorted(checks, key=lambda check: check.table)


def _check(
    lab: Lab, table: LabTable, database: Source, pipeline: PipelineStatus, ends: EndOffsets
) -> TableCheck:
    ref = TableRef(table.db_schema, table.source_name)
    is_there = ref in database.tables(ref.schema)
    file = source_file(lab, table.source)
    connector = next((c for c in pipeline.connectors if c.name == file.name), None)
    state = connector.state if connector is not None else NOT_APPLIED
    silver = next((t for t in pipeline.tables if t.name == table.name), None)
    records = sum(ends[table.topic].values()) if ends.get(table.topic) else None
    rows = silver_rows(lab, table) if silver and silver.last_commit_at else None
    source_rows = database.count(ref) if is_there else None
    problems = [
        *_source_problems(database, table, file, is_there=is_there),
        *_connector_problems(file.name, state, connector.error if connector else None),
    ]
    if not problems and records is None and source_rows:
        problems.append(
            f"its topic {table.topic} has nothing: the connector has not read it yet, or a filter "
            f"of {file.path.name} leaves it out; labctl connectors snapshot {file.name} loads it"
        )
    if silver is None:
        problems.append("the Spark application does not know it: labctl up starts it with the file")
    elif silver.error or silver.state in HELD_UP:
        problems.append(f"silver is {silver.state}: {silver.error or 'labctl logs silver'}")
    elif silver.records_behind:
        problems.append(
            f"silver lacks the last {counted(silver.records_behind, 'record')} of its topic"
        )
    if not problems and source_rows != (rows or 0):
        problems.append(
            f"{counted(source_rows or 0, 'row')} in the source, {rows or 0:,} in silver now: "
            f"labctl verify {table.name}"
        )
    if silver is not None and silver.dead_letters:
        problems.append(
            f"{counted(silver.dead_letters, 'record', 'were')} put aside: "
            f"labctl topics deadletters list {table.name}"
        )
    return TableCheck(
        table=table.name,
        source=f"{table.source} {ref}",
        source_rows=source_rows,
        connector=state,
        topic=table.topic,
        topic_records=records,
        silver=silver.state if silver else "unknown",
        silver_rows=rows,
        records_behind=silver.records_behind if silver else None,
        missing=tuple(problems),
    )


def _source_problems(
    database: Source, table: LabTable, file: ConnectorFile, *, is_there: bool
) -> Iterator[str]:
    ref = TableRef(table.db_schema, table.source_name)
    if not is_there:
        yield f"its source has no table {ref}: create it, or take its properties file away"
        return
    if why := key_problem(database.keys_of_tables(ref.schema).get(ref), table, file):
        yield why
    unrecorded = ENGINES[database.engine].unrecorded(database, [ref], file)
    if ref in unrecorded:
        yield f"the database does not record its changes: {unrecorded[ref]}"


def _connector_problems(name: str, state: str, error: str | None) -> Iterator[str]:
    if state == NOT_APPLIED:
        yield f"its connector {name} is not applied: labctl connectors apply"
    elif state != "RUNNING" or error:
        yield f"its connector {name} is {state}{f': {error}' if error else ''}"


def silver_rows(lab: Lab, table: LabTable) -> int:
    """Return the number of rows in silver now, without deleted ones; 0 without a commit."""
    lake = Lake(lab.endpoints.objectstore)
    if not lake.has_commit(table.name):
        return 0
    answer = lake.query(f"SELECT count(*) AS n FROM {quoted(table.name)}")  # noqa: S608
    return int(answer.to_pylist()[0]["n"])


def wait_for_rows(
    lab: Lab, table: LabTable, *, at_least: int = 0, seconds: float = _WAIT_SECONDS
) -> int:
    """Wait until silver has the whole topic, and `at_least` rows; return the number of rows then.

    With `seconds` 0, returns the current number. Raises LabError (NOT_READY) when the time is up,
    or if the connector or silver has failed.
    """
    begun = time.monotonic()
    connector = lab.config.sources[table.source].connector
    asked = begun
    while True:
        rows = silver_rows(lab, table)
        if not seconds or (rows >= at_least and _caught_up(lab, table)):
            return rows
        if time.monotonic() - asked > _ASK_SECONDS:
            require_not_failed(lab, connector)
            _require_not_failed(lab, table)
            asked = time.monotonic()
        if time.monotonic() - begun > seconds:
            raise LabError(
                f"{table.name} has {counted(rows, 'row')} in silver after {seconds:.0f} s, and its "
                "topic has more",
                hint=f"labctl table check {table.name} says what is missing",
                exit_code=ExitCode.NOT_READY,
            )
        time.sleep(_POLL_SECONDS)


def _require_not_failed(lab: Lab, table: LabTable) -> None:
    """Raise LabError if silver has given up the table."""
    try:
        state = silver_status(lab)["tables"].get(table.name, {})
    except requests.RequestException:
        return
    if state.get("state") == "failed":
        raise LabError(
            f"{table.name} has failed in silver: {state['error']}", hint="labctl logs silver"
        )


def _caught_up(lab: Lab, table: LabTable) -> bool:
    try:
        return records_behind(lab, table) == 0
    except (UnavailableError, LabError):
        return False
