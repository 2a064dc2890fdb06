"""How many change records of a table are in its topic but not yet in silver."""

from __future__ import annotations

import requests

from labctl.errors import LabError
from labctl.kafka.offsets import end_offsets
from labctl.kafkaconnect.client import RebalanceError
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors import is_running
from labctl.lab.lab import Lab
from labctl.lab.pipeline import silver_status
from labctl.tables import LabTable
from labctl.verify import NotAnsweringError

__all__ = ["in_flight_records", "records_behind"]


def in_flight_records(lab: Lab, table: LabTable) -> int | None:
    """Records of the topic that silver has not committed; None when that cannot be told.

    At least one while the first load has not reached the topic, or a source connector does not
    run: what the source holds then is still to come.
    """
    try:
        ends = _ends(lab, table)
        if not ends or not _captured(lab, table.source):
            return 1
        return _behind(ends, _committed(lab, table))
    except LabError:
        return None


def records_behind(lab: Lab, table: LabTable) -> int:
    """Records of the topic that silver has not committed. Raises NotAnsweringError."""
    # The topic first: silver may take in more meanwhile, never less.
    ends = _ends(lab, table)
    return _behind(ends, _committed(lab, table))


def _ends(lab: Lab, table: LabTable) -> dict[int, int]:
    """The offset after the topic's last record, by partition; none while there is no topic."""
    try:
        return end_offsets(lab.endpoints.kafka, [table.topic])[table.topic]
    except LabError as error:
        raise NotAnsweringError("kafka", error.what) from None


def _behind(ends: dict[int, int], committed: dict[str, int]) -> int:
    return sum(max(0, end - committed.get(str(p), 0)) for p, end in ends.items())


def _committed(lab: Lab, table: LabTable) -> dict[str, int]:
    """The offset after the last record that is in silver, by partition."""
    try:
        tables = silver_status(lab)["tables"]
    except requests.RequestException as error:
        raise NotAnsweringError(
            "silver", f"the Spark application does not answer: {type(error).__name__}"
        ) from None
    if table.name not in tables:
        raise LabError(f"the Spark application has no table {table.name}: was it restarted?")
    offsets: dict[str, int] = tables[table.name]["offsets"]
    return offsets


def _captured(lab: Lab, source: str) -> bool:
    """Whether the source's connector runs; true for one that was never applied."""
    connector = lab.config.sources[source].connector
    client = connect_client(lab.endpoints.connect)
    try:
        return connector not in client.names() or is_running(client.status(connector))
    except (LabError, RebalanceError):
        return False
