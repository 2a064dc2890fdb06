"""How many change records of a table are in its topic but not yet in silver."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import requests

from labctl.errors import LabError
from labctl.kafka.offsets import EndOffsets, TopicEnds
from labctl.kafkaconnect.client import RebalanceError
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors import is_running
from labctl.lab.lab import Lab
from labctl.lab.pipeline import silver_status
from labctl.tables import LabTable
from labctl.verify import NotAnsweringError

__all__ = ["StoppedTables", "in_flight_records", "records_behind", "tables_behind"]

_FAILURES = 3
"""After so many failures with the same error, at the same place, a table is not waited for."""


def in_flight_records(lab: Lab, table: LabTable) -> int | None:
    """Records of the topic that silver has not committed; None when that cannot be told.

    At least one while the first load has not reached the topic, or a source connector does not
    run: what the source holds then is still to come.
    """
    try:
        with TopicEnds(lab.endpoints.kafka) as asked:
            ends = _ends(asked, [table])[table.topic]
        if not ends or not _captured(lab, table.source):
            return 1
        return _behind(ends, _status(lab, table)["offsets"])
    except LabError:
        return None


def records_behind(lab: Lab, table: LabTable) -> int:
    """Records of the topic that silver has not committed. Raises NotAnsweringError."""
    with TopicEnds(lab.endpoints.kafka) as ends:
        return tables_behind(lab, ends, [table])[table.name]


def tables_behind(lab: Lab, ends: TopicEnds, tables: Collection[LabTable]) -> dict[str, int]:
    """The same of several tables by name. Kafka and the application are asked once for all."""
    # The topics first: silver may take in more meanwhile, never less.
    reached = _ends(ends, tables)
    statuses = _statuses(lab)
    return {
        table.name: _behind(reached[table.topic], _status_of(statuses, table)["offsets"])
        for table in tables
    }


class StoppedTables:
    """Tables that take in nothing more until somebody does something.

    The application tries a table again for ever when it takes the error for a passing one.
    """

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._first: dict[str, tuple[object, int]] = {}
        """By table, where it failed first, and how often it had failed by then."""

    def why(self, table: LabTable) -> str | None:
        """Why a table takes in nothing more; None while it may. Raises NotAnsweringError."""
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
    """The offset after each topic's last record, by partition; none while there is no topic."""
    try:
        return ends.of({table.topic for table in tables})
    except LabError as error:
        raise NotAnsweringError("kafka", error.what) from None


def _behind(ends: dict[int, int], committed: dict[str, int]) -> int:
    return sum(max(0, end - committed.get(str(p), 0)) for p, end in ends.items())


def _status(lab: Lab, table: LabTable) -> dict[str, Any]:
    """What the Spark application says of a table. Raises NotAnsweringError, or LabError."""
    return _status_of(_statuses(lab), table)


def _statuses(lab: Lab) -> dict[str, dict[str, Any]]:
    try:
        tables: dict[str, dict[str, Any]] = silver_status(lab)["tables"]
    except requests.RequestException as error:
        raise NotAnsweringError(
            "silver", f"the Spark application does not answer: {type(error).__name__}"
        ) from None
    return tables


def _status_of(tables: dict[str, dict[str, Any]], table: LabTable) -> dict[str, Any]:
    if table.name not in tables:
        raise LabError(f"the Spark application has no table {table.name}: was it restarted?")
    return tables[table.name]


def _captured(lab: Lab, source: str) -> bool:
    """Whether the source's connector runs; true for one that was never applied."""
    connector = lab.config.sources[source].connector
    client = connect_client(lab.endpoints.connect)
    try:
        return connector not in client.names() or is_running(client.status(connector))
    except (LabError, RebalanceError):
        return False
