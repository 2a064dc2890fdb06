"""The state of every part of the application, as `GET /status` reports it."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

__all__ = ["State", "WorkerProgress", "moment", "now"]

State = Literal["starting", "running", "retrying", "rebuilding", "failed", "done"]


def now() -> str:
    """Return the current time in UTC, ISO 8601 with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def moment(instant: str) -> str:
    """Convert a Hudi instant in UTC, 14 to 17 digits, to the format of `now`."""
    found = datetime.strptime(instant[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    milliseconds = int(instant[14:].ljust(3, "0"))
    return found.replace(microsecond=1000 * milliseconds).isoformat(timespec="microseconds")


class WorkerProgress:
    """Figures of one table (or of the bronze writer), written by its worker, read by anyone."""

    def __init__(self, **facts: Any) -> None:
        """`facts` are the entry's own fixed or initial members."""
        self._lock = threading.Lock()
        self._facts: dict[str, Any] = {
            "state": "starting",
            "waiting_for": None,
            "error": None,
            "restarts": 0,
            "batches": 0,
            "rows_total": 0,
            **facts,
        }

    def set(self, **facts: Any) -> None:
        with self._lock:
            self._facts.update(facts)

    def committed(self, rows: int, **facts: Any) -> None:
        """Note that a batch of `rows` rows is durable."""
        with self._lock:
            self._facts["batches"] += 1
            self._facts["rows_total"] += rows
            self._facts.update(facts)

    def restarted(self, error: str) -> None:
        with self._lock:
            self._facts["restarts"] += 1
            self._facts.update(state="retrying", error=error)

    @property
    def batches(self) -> int:
        with self._lock:
            return int(self._facts["batches"])

    def mark(self) -> Hashable:
        """Return a value that changes with a commit, and with a restart or stop of the worker."""
        with self._lock:
            facts = self._facts
            return facts["batches"], facts["restarts"], facts["state"], str(facts.get("offsets"))

    def snapshot(self) -> Mapping[str, Any]:
        with self._lock:
            return dict(self._facts)
