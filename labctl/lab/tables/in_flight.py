"""Number of a table's change records that are in its topic but not yet in silver."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import requests

from labctl.errors import LabError
from labctl.kafka.offsets import EndOffsets, TopicEnds, records_left
from labctl.kafkaconnect.connect_client import RebalanceError
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.connector_states import is_running
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import silver_status
from labctl.tables import LabTable
from labctl.verify import UnavailableError

__all__ = ["StoppedTables", "in_flight_records", "records_behind", "tables_behind"]

_FAILURES = 3
"""Number of failures with the same error, at the same offsets, that end the wait for a table."""


def in_flight_records(lab: Lab, table: LabTable) -> int | None:
    """Return how many of the topic's records silver has not committed; None if that is unknown.

    Returns 1 while the topic does not exist or the source connector does not run: the source's rows
    are still to come.
    """
    try:
        with TopicEnds(lab.endpoints.kafka) as asked:
            ends = _ends(asked, [table])[table.topic]
        if not ends or not _captured(lab, table.source):
            return 1
        return _behind(ends, _status(lab, table))
    except LabError:
        return None


def records_behind(lab: Lab, table: LabTable) -> int:
    """Return how many of the topic's records silver has not committed. Raises UnavailableError."""
    with TopicEnds(lab.endpoints.kafka) as ends:
        return tables_behind(lab, ends, [table])[table.name]


def tables_behind(lab: Lab, ends: TopicEnds, tables: Collection[LabTable]) -> dict[str, int]:
    """Return `records_behind` for several tables, by name. Kafka and silver are each asked once."""
    # Ask for the topics first: silver may ingest more in the meantime, never less.
    reached = _ends(ends, tables)
    statuses = _statuses(lab)
    return {
        table.name: _behind(reached[table.topic], _status_of(statuses, table)) for table in tables
    }


class StoppedTables:
    """Tables that ingest nothing more until somebody acts.

    The application retries a table without end if it takes the error for a temporary one.
    """

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._first: dict[str, tuple[object, int]] = {}
        """Error and offsets of the first failure, and the number of failures by then, by table."""

    def why(self, table: LabTable) -> str | None:
        """Return why a table ingests nothing more; None while it may. Raises UnavailableError."""
        status = _status(self._lab, table)
        error, failures = status["error"], status["restarts"]
        if status["state"] == "failed":
            return f"table {table.name} is failed: {error or 'it does not say why'}"
        if error is None:
            return None
        place = error, str(status["offsets"])
        before, count = self._first.get(table.name, (None, 0))
        if before != place:
            self._first[table.name] = place, failures
            return None
        is_stuck = failures - count >= _FAILURES
        return f"table {table.name} is tried again without success: {error}" if is_stuck else None


def _ends(ends: TopicEnds, tables: Collection[LabTable]) -> EndOffsets:
    """Return the end offsets of each topic by partition; none for a topic that does not exist."""
    try:
        return ends.of({table.topic for table in tables})
    except LabError as error:
        raise UnavailableError("kafka", error.what) from None


def _behind(ends: dict[int, int], status: dict[str, Any]) -> int:
    return records_left(ends, status["offsets"], status.get("begins", {}))


def _status(lab: Lab, table: LabTable) -> dict[str, Any]:
    """Return the Spark application's status of a table. Raises UnavailableError, or LabError."""
    return _status_of(_statuses(lab), table)


def _statuses(lab: Lab) -> dict[str, dict[str, Any]]:
    try:
        tables: dict[str, dict[str, Any]] = silver_status(lab)["tables"]
    except requests.RequestException as error:
        raise UnavailableError(
            "silver", f"the Spark application does not answer: {type(error).__name__}"
        ) from None
    return tables


def _status_of(tables: dict[str, dict[str, Any]], table: LabTable) -> dict[str, Any]:
    if table.name not in tables:
        raise LabError(f"the Spark application has no table {table.name}: was it restarted?")
    return tables[table.name]


def _captured(lab: Lab, source: str) -> bool:
    """Return whether the source's connector runs; True for one that was never applied."""
    connector = lab.config.sources[source].connector
    client = connect_client(lab.endpoints.connect)
    try:
        return connector not in client.names() or is_running(client.status(connector))
    except (LabError, RebalanceError):
        return False
