"""Progress of the source connectors in the databases' change logs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connect_client import ConnectClient, RebalanceError
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.kafkaconnect.traces import cause
from labctl.lab.connectors.connector_states import is_running
from labctl.lab.observe.pipeline_state import NOT_APPLIED
from labctl.sources import ENGINES, Source, TableRef
from labctl.sources.change_log import ChangeLog, Position
from labctl.verify import CaptureState, UnavailableError

__all__ = ["Capture"]

_FRESH_SECONDS = 0.5
"""Seconds for which an answer is reused: the tables of one source ask for the same."""
_FAILED = "FAILED"
_STUCK = (NOT_APPLIED, "PAUSED", "STOPPED", _FAILED)
"""States that a connector does not leave by itself."""


class Capture:
    """The connector of one source, and its progress in the source's log."""

    def __init__(
        self, client: ConnectClient, connector: ConnectorFile, source: Callable[[], Source]
    ) -> None:
        """Create a capture; `source` returns an open connection to the source's server."""
        self._client = client
        self._connector = connector
        self._source = source
        self._asked = 0.0
        self._answer: tuple[str | None, Mapping[str, Any] | None] = (None, None)

    def end(self, ref: TableRef) -> Position | None:
        """Return the log's current end: whatever the table holds now was written before it."""
        return self._log().end(ref)

    def state(self, end: Position | None) -> CaptureState:
        """Return the connector's progress relative to `end`. Raises UnavailableError."""
        name = self._connector.name
        fault, offset = self._connector_state()
        if fault is not None:
            state = fault.partition(":")[0]
            return CaptureState(
                waiting_for=f"connector {name} is {fault}",
                stuck=state in _STUCK,
                failed=state == _FAILED,
            )
        log = self._log()
        stored = None if offset is None else log.stored(offset)
        if end is None or (stored is not None and stored >= end):
            return CaptureState()
        handed_over = log.handed_over(end, self._readers())
        if handed_over or (handed_over is None and not self._client.tells_offsets):
            # While the connector writes these changes to topics, its stored position moves.
            return CaptureState(moving=stored)
        return CaptureState(
            waiting_for=f"connector {name} has not read the source's log to its end"
        )

    def _log(self) -> ChangeLog:
        source = self._source()
        return ENGINES[source.engine].change_log(source, self._connector.config)

    def _readers(self) -> int:
        """Return the number of running connectors of the same class."""
        own = self._connector.config.get("connector.class")
        running = [n for n, status in self._client.statuses().items() if is_running(status)]
        configs = self._client.configs()
        return sum(configs.get(name, {}).get("connector.class") == own for name in running)

    def _connector_state(self) -> tuple[str | None, Mapping[str, Any] | None]:
        """Return the connector's state and why, or None if it runs; and its stored offset."""
        if time.monotonic() - self._asked > _FRESH_SECONDS:
            try:
                self._answer = self._ask()
            except RebalanceError:
                self._answer = ("given to a worker", None)
            except LabError as error:
                if error.exit_code is not ExitCode.NOT_READY:
                    raise
                raise UnavailableError("connect", error.what) from None
            self._asked = time.monotonic()
        return self._answer

    def _ask(self) -> tuple[str | None, Mapping[str, Any] | None]:
        name = self._connector.name
        status = self._client.statuses().get(name)
        if status is None:
            return NOT_APPLIED, None
        if not is_running(status):
            parts = [status["connector"], *status["tasks"]]
            odd = next((part for part in parts if part["state"] != "RUNNING"), None)
            if odd is None:
                return "without a task", None
            why = f": {cause(odd['trace'], name)}" if odd.get("trace") else ""
            return f"{odd['state']}{why}", None
        offsets = self._client.offsets(name) if self._client.tells_offsets else []
        return None, offsets[0]["offset"] if offsets else None
