"""Incremental snapshot: load a table, or a part of it, again while its changes continue."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import requests

from labctl.counted import counted
from labctl.errors import ExitCode, LabError
from labctl.kafka.offsets import end_offsets, records_left
from labctl.kafka.topic_records import Topics
from labctl.kafkaconnect.apply import runs_otherwise
from labctl.kafkaconnect.connect_client import ConnectClient
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.kafkaconnect.keys import NOTIFICATIONS, SIGNALS, missing_signals
from labctl.kafkaconnect.opening import connect_client
from labctl.kafkaconnect.traces import cause
from labctl.lab.connectors.connector_states import is_running, wait_running
from labctl.lab.connectors.failed_capture import why_failed
from labctl.lab.connectors.source_files import source_file
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import silver_status
from labctl.sources import ENGINES, Source, TableRef, connect
from labctl.sources.signal_table import send_signal
from labctl.tables import LabTable

__all__ = [
    "Backfilled",
    "ReloadRefusedError",
    "asked_rows",
    "backfill_table",
    "hold_connector",
    "rows_condition",
]

Offsets = Mapping[int, int]
"""Offsets by partition of a topic."""

_POLL_SECONDS = 0.5
_QUIET_SECONDS = 120.0
"""Seconds without progress after which a run counts as stuck."""
_STILL_SECONDS = 15.0
"""Seconds without progress after which the table's columns are compared with those at the start."""
_STOP_SECONDS = 20.0
_NEWEST = 50
"""Number of newest notifications to read: there is one for each chunk of rows."""
_LONGEST = 2_000
"""Maximum length of a signal in characters, for which every engine's table has room."""
_READ = ("SUCCEEDED", "EMPTY")
_WHY = {
    "NO_PRIMARY_KEY": "it has no primary key",
    "SQL_EXCEPTION": "the database refused a statement",
    "UNKNOWN_SCHEMA": "the connector does not capture it",
    "SKIPPED": "the connector left it out",
}
"""Reasons by Debezium's status of a table that it did not read."""


class ReloadRefusedError(LabError):
    """The table cannot be backfilled; its connector can load all its tables again."""


class ColumnsChangedError(LabError):
    """The table was altered while it was read, so that the connector reads no further."""


@dataclass(frozen=True)
class Backfilled:
    """A table that was loaded again."""

    table: str
    rows: int
    """Number of requested rows that the source had when the run began."""
    records: int
    """Number of records that reached the topic meanwhile: these rows, and other changes."""
    seconds: float


def backfill_table(
    lab: Lab,
    name: str,
    *,
    where: str | None = None,
    columns: Sequence[str] = (),
    is_new: bool = False,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Backfilled:
    """Have a table's connector read it again, and wait until silver has every row of it.

    `where` is a condition in the source's SQL; rows in which all of `columns` are NULL are left
    out. A connector that has run since before the table was captured (`is_new`) is restarted first,
    because it looks for tables only then. Streaming continues: a row that changes in the meantime
    is taken from its change, and a row that is deleted stays deleted. If the user interrupts, the
    connector stops reading. Raises LabError.
    """
    table = lab.table(name)
    ref = TableRef(table.db_schema, table.source_name)
    file = source_file(lab, table.source)
    client = connect_client(lab.endpoints.connect)
    _check_file(client, file)
    begun = time.monotonic()
    with hold_connector(lab, file.name, table.name), connect(lab.endpoints, table.source) as source:
        _check_recorded(source, ref, file, table.name)
        _check_readable(source, ref, file, table.name)
        condition = rows_condition(source, ref, where, columns)
        if is_new:
            client.forget_reading(file.name)
            wait_running(client, [file.name], explain=partial(why_failed, lab))
        rows = _count(source, ref, condition)
        starts = _ends(lab, table)
        run = _Run(lab, client, file, table, source, ref, _identifier(lab, table, ref))
        run.request(condition)
        try:
            run.wait(
                lambda records: on_progress(f"{records:,} of {counted(rows, 'row')} read"), starts
            )
        except KeyboardInterrupt:
            run.stop()
            raise
        except ColumnsChangedError:
            # The connector would read on at each start, and fail at the same place.
            if client.tells_offsets:
                on_progress("restarting its connector without what it has not read")
                client.forget_reading(file.name)
            raise
    ends = _ends(lab, table)
    on_progress("waiting until silver has them")
    _wait_for_silver(lab, table, ends)
    return Backfilled(table.name, rows, _between(starts, ends), time.monotonic() - begun)


@contextmanager
def hold_connector(lab: Lab, connector: str, table: str) -> Iterator[None]:
    """Hold a connector for one backfill. Raises LabError (BUSY) while another one holds it.

    Debezium reads the tables of all signals one after another, and does not report the end of a
    single one.
    """
    path = lab.state.folder / f"backfill.{connector}.lock"
    with path.open("a+", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            raise LabError(
                f"Connector {connector} is reading {handle.read().strip() or 'a table'} again "
                "for another command",
                hint="one table at a time for a connector: wait for that command, or stop it with "
                "Ctrl+C",
                exit_code=ExitCode.BUSY,
            ) from None
        handle.truncate(0)
        handle.write(f"{table} (process {os.getpid()})")
        handle.flush()
        yield
        handle.truncate(0)


def _check_recorded(source: Source, ref: TableRef, file: ConnectorFile, table: str) -> None:
    """Raise LabError (NOT_READY) for a table whose changes do not all reach the connector.

    Debezium reads the columns that it captures. If the table now has different ones, Debezium reads
    nothing and reports this only in its log.
    """
    unrecorded = ENGINES[source.engine].unrecorded(source, [ref], file)
    if ref in unrecorded:
        raise LabError(
            f"{table} cannot be loaded again: changes of {ref} are not recorded",
            details=(unrecorded[ref],),
            hint=f"once that is done, labctl connectors backfill {table}",
            exit_code=ExitCode.NOT_READY,
        )


def _check_readable(source: Source, ref: TableRef, file: ConnectorFile, table: str) -> None:
    """Raise ReloadRefusedError for a table that Debezium would not read as it is."""
    if reason := ENGINES[source.engine].reload_refused(source, ref, file.config):
        raise ReloadRefusedError(
            f"{table} cannot be loaded again while its changes go on: {reason}",
            hint=f"labctl connectors snapshot {file.name} loads every table of the connector again",
            exit_code=ExitCode.USAGE,
        )


def _check_file(client: ConnectClient, file: ConnectorFile) -> None:
    """Raise LabError if the connector could not take a signal, or would not answer.

    USAGE: its file lacks the keys for it. NOT_READY: it does not run as its file defines it.
    """
    if missing := missing_signals(file.config):
        raise LabError(
            f"{file.path.name} has no keys by which its connector can be asked to load rows again",
            details=tuple(f'"{key}": "{value}"' for key, value in missing.items()),
            hint="write them into the file, then labctl connectors apply",
            exit_code=ExitCode.USAGE,
        )
    if client.config(file.name) is None or runs_otherwise(client, file):
        raise LabError(
            f"Connector {file.name} does not run as its file says",
            hint=f"labctl connectors apply {file.name}",
            exit_code=ExitCode.NOT_READY,
        )


def _identifier(lab: Lab, table: LabTable, ref: TableRef) -> str:
    """Return the table's name as Debezium has it."""
    settings = lab.config.sources[table.source]
    own = str(ref)
    return f"{settings.database}.{own}" if ENGINES[settings.engine].database_in_topic else own


def asked_rows(identifier: str, condition: str | None) -> dict[str, Any]:
    """Return the data of a signal: an expression for the table, and the condition for its rows."""
    pattern = re.escape(identifier)
    asked: dict[str, Any] = {"type": "incremental", "data-collections": [pattern]}
    if condition is not None:
        asked["additional-conditions"] = [{"data-collection": pattern, "filter": condition}]
    if (length := len(json.dumps(asked))) > _LONGEST:
        raise LabError(
            f"The condition is too long for a signal: {length:,} characters",
            hint=f"a signal has {_LONGEST:,}; load the table in several parts",
            exit_code=ExitCode.USAGE,
        )
    return asked


def rows_condition(
    source: Source, ref: TableRef, where: str | None, columns: Sequence[str]
) -> str | None:
    """Return the SQL condition of the rows to read; None for all. Raises LabError (USAGE)."""
    described = source.describe(ref)
    if not described.keys:
        raise LabError(
            f"{ref} has no primary key, by which Debezium could read it part by part",
            hint="add one, or load all tables of its connector: labctl connectors snapshot NAME",
            exit_code=ExitCode.USAGE,
        )
    known = [column.name for column in described.columns]
    if unknown := [name for name in columns if name not in known]:
        raise LabError(
            f"{ref} has no column {', '.join(unknown)}",
            hint=f"columns: {', '.join(known)}",
            exit_code=ExitCode.USAGE,
        )
    filled = " OR ".join(f"{source.quote(name)} IS NOT NULL" for name in columns)
    return " AND ".join(f"({part})" for part in (where, filled) if part) or None


def _count(source: Source, ref: TableRef, condition: str | None) -> int:
    """Return the number of rows to read. Raises LabError (USAGE) if the condition is no SQL."""
    if condition is None:
        return source.count(ref)
    try:
        ((rows,),) = source.execute(
            f"SELECT count(*) FROM {source.qualified(ref)} WHERE {condition}"  # noqa: S608
        )
    except LabError as error:
        raise LabError(
            f"{ref} has no rows with {condition}: {error.what}",
            hint="--where is a condition in the source's own SQL",
            exit_code=ExitCode.USAGE,
        ) from error
    return int(rows)


@dataclass
class _Run:
    """An incremental snapshot of one table."""

    lab: Lab
    client: ConnectClient
    file: ConnectorFile
    table: LabTable
    source: Source
    ref: TableRef
    identifier: str

    def __post_init__(self) -> None:
        self.identity = str(uuid.uuid4())
        self.columns = self.source.describe(self.ref).columns
        schema, name = self.file.config[SIGNALS].rsplit(".", 2)[-2:]
        self.signals = TableRef(schema, name)

    def request(self, condition: str | None) -> None:
        """Ask the connector to begin."""
        data = json.dumps(asked_rows(self.identifier, condition))
        send_signal(self.source, self.signals, self.identity, "execute-snapshot", data)

    def wait(self, on_read: Callable[[int], None], starts: Offsets) -> None:
        """Wait until the connector has written all rows. Raises LabError where it could not."""
        last, moved = -1, time.monotonic()
        while True:
            self._check_running()
            said = self._said()
            status = next((one["status"] for one in said if one.get("status")), None)
            if status is not None and status not in _READ:
                self._check_columns()
                raise self._failed(status)
            if any(one["type"] in ("COMPLETED", "ABORTED") for one in said):
                # A stopped run is reported as complete too, but without a status of its table.
                if status is None:
                    raise self._failed("it was stopped")
                return
            read = _between(starts, _ends(self.lab, self.table)) + len(said)
            if read != last:
                last, moved = read, time.monotonic()
                on_read(read - len(said))
            still = time.monotonic() - moved
            # Not every connector reads on then, and it reports this only in its log.
            if still > _STILL_SECONDS:
                self._check_columns()
            if still > _QUIET_SECONDS:
                self.stop()
                raise self._failed(f"it wrote nothing for {_QUIET_SECONDS:.0f} s")
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """Have the connector stop reading. The records that it has written stay."""
        data = json.dumps(asked_rows(self.identifier, None))
        send_signal(self.source, self.signals, str(uuid.uuid4()), "stop-snapshot", data)
        deadline = time.monotonic() + _STOP_SECONDS
        while time.monotonic() < deadline:
            if any(one["type"] in ("ABORTED", "COMPLETED") for one in self._said()):
                return
            time.sleep(_POLL_SECONDS)

    def _check_running(self) -> None:
        status = self.client.status(self.file.name)
        if is_running(status):
            return
        self._check_columns()
        traces = [task["trace"] for task in status["tasks"] if "trace" in task]
        raise LabError(
            f"Connector {self.file.name} stopped while it was reading {self.table.name} again",
            details=tuple(cause(trace, self.file.name) for trace in traces),
            hint=f"labctl connectors restart {self.file.name}: it continues where it was; then "
            f"labctl verify {self.table.name}",
            exit_code=ExitCode.NOT_READY,
        )

    def _said(self) -> list[dict[str, str]]:
        """Return the connector's notifications of this run, oldest first."""
        topics = Topics(self.lab.endpoints.kafka, self.lab.endpoints.registry)
        try:
            records = topics.tail(self.file.config[NOTIFICATIONS], _NEWEST)
        except LabError as error:
            if error.exit_code is ExitCode.USAGE:
                return []  # The topic does not exist before its first notification.
            raise
        values = [one.value for one in records if isinstance(one.value, dict)]
        return [
            {"type": one["type"], **(one.get("additional_data") or {})}
            for one in values
            if one.get("id") == self.identity
        ]

    def _check_columns(self) -> None:
        if self.source.describe(self.ref).columns == self.columns:
            return
        raise ColumnsChangedError(
            f"{self.table.name} was not loaded again to its end: its columns changed while it was "
            "read",
            hint="Rows that were read are in silver, the others are as before. "
            f"labctl connectors backfill {self.table.name} reads them all again",
        )

    def _failed(self, why: str) -> LabError:
        return LabError(
            f"{self.table.name} was not loaded again to its end: {_WHY.get(why, why)}",
            hint="Rows that were read are in silver, the others are as before. "
            f"labctl logs connect; labctl connectors restart {self.file.name}, for a connector "
            "that failed to begin one begins no other; then ask again",
        )


def _between(starts: Offsets, ends: Offsets) -> int:
    return sum(ends.values()) - sum(starts.values())


def _ends(lab: Lab, table: LabTable) -> Offsets:
    return end_offsets(lab.endpoints.kafka, [table.topic])[table.topic]


def _wait_for_silver(lab: Lab, table: LabTable, ends: Offsets) -> None:
    """Wait until the table has all records before `ends`. Raises LabError if it has stopped."""
    taken, moved = -1, time.monotonic()
    while True:
        try:
            state = silver_status(lab)["tables"][table.name]
        except (requests.RequestException, KeyError):
            state = {"offsets": {}, "error": None}
        if not records_left(ends, state["offsets"], state.get("begins", {})):
            return
        if state["error"] or time.monotonic() - moved > _QUIET_SECONDS:
            raise LabError(
                f"Silver does not take {table.name} in: {state['error'] or 'it does not move'}",
                hint="The topic has all rows, for when silver continues: labctl status",
                exit_code=ExitCode.NOT_READY,
            )
        if (now := sum(state["offsets"].values())) != taken:
            taken, moved = now, time.monotonic()
        time.sleep(_POLL_SECONDS)
