"""The pipeline at one moment: the last whole look, with what has changed since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from labctl.lab.observe.pipeline_state import SilverTableStatus
from labctl.lab.observe.service_status import ServiceStatus
from labctl.overview import DOWN
from labctl.runtimes.runtime_protocols import ProcessState
from labctl.tables import LabTable

__all__ = ["PipelineView", "QuickLook", "as_now", "ingested_by", "rates"]


@dataclass(frozen=True)
class QuickLook:
    """The part of the state that changes from moment to moment."""

    at: float
    """Seconds since the epoch."""
    states: Mapping[str, ProcessState]
    silver: Mapping[str, Any]
    """Status of the Spark application; empty if it does not answer."""
    ends: Mapping[str, int]
    """Records in each topic so far; empty if Kafka does not answer."""

    def ingested(self, table: str) -> int | None:
        """Return up to which record of its topic, of all partitions, a table has ingested it."""
        status = self.silver.get("tables", {}).get(table)
        if status is None:
            return None
        taken: Mapping[str, int] = {**status.get("begins", {}), **status["offsets"]}
        return sum(taken.values())


@dataclass(frozen=True)
class PipelineView:
    """The pipeline at one moment, as a page shows it."""

    tables: tuple[LabTable, ...]
    """The tables that the project captures; none while its files cannot be read."""
    data: Mapping[str, Any]
    """Data of `labctl status`, brought up to date by the last quick look; empty before the first
    whole look."""
    topic_rates: Mapping[str, float] = field(default_factory=dict)
    """Records per second that arrive in a topic."""
    table_rates: Mapping[str, float] = field(default_factory=dict)
    """Records per second that a table ingests."""
    topic_records: Mapping[str, int] = field(default_factory=dict)
    error: str | None = None
    """Reason why the last look failed; the rest is what was known before."""


def as_now(
    data: Mapping[str, Any], look: QuickLook, topics: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the data of `labctl status` with what a later quick look says of it.

    `topics` has the topic of each table.
    """
    services = [_service(service, look.states.get(service.name)) for service in data["services"]]
    tables = [_table(table, look, (topics or {}).get(table.name)) for table in data["tables"]]
    ended = [
        f"service {new.name} is {new.state}"
        for old, new in zip(data["services"], services, strict=True)
        if new.state == DOWN and old.state != DOWN and data["running"]
    ]
    problems = [*ended, *data["problems"]]
    return {
        **data,
        "services": services,
        "tables": tables,
        "problems": problems,
        "ready": not problems,
    }


def _service(service: ServiceStatus, now: ProcessState | None) -> ServiceStatus:
    """Return a service as it is now: another process than the one that answered is no answer.

    One that had no process then, and has none now, keeps its state and the reason for it.
    """
    is_running = now is not None and now.running
    if service.pid is None and not is_running:
        return service
    if now is None or not is_running or (service.pid is not None and now.pid != service.pid):
        return replace(service, state=DOWN, detail="", pid=now.pid if now else None)
    return service


def _table(table: SilverTableStatus, look: QuickLook, topic: str | None) -> SilverTableStatus:
    now = look.silver.get("tables", {}).get(table.name)
    if now is None:
        return table
    end, ingested = look.ends.get(topic or ""), look.ingested(table.name)
    behind = table.records_behind
    if end is not None and ingested is not None:
        behind = max(0, end - ingested)
    return replace(
        table,
        state=now["state"],
        error=now["error"],
        last_commit_at=now["last_commit_at"],
        records_behind=behind,
    )


def ingested_by(look: QuickLook, tables: Iterable[str]) -> dict[str, int]:
    """Return the records that each table has ingested so far, where that is known."""
    found = {name: look.ingested(name) for name in tables}
    return {name: count for name, count in found.items() if count is not None}


def rates(before: Mapping[str, int], now: Mapping[str, int], seconds: float) -> dict[str, float]:
    """Return what was added per second, by name; nothing before two looks are apart."""
    if seconds <= 0:
        return {}
    return {
        name: round(max(0, count - before[name]) / seconds, 1)
        for name, count in now.items()
        if name in before
    }
