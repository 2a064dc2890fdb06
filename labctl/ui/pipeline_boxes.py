"""The pipeline as columns of boxes, from the sources to those who read the lake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from labctl.counted import counted
from labctl.lab.observe.pipeline_state import BronzeStatus, ConnectorStatus, SilverTableStatus
from labctl.lab.observe.service_status import ServiceStatus
from labctl.overview import Tone, tone_of
from labctl.sources import ENGINES
from labctl.tables import LabTable
from labctl.ui.pipeline_view import PipelineView

__all__ = ["Box", "Column", "TableRow", "columns_of", "table_rows"]


@dataclass(frozen=True)
class Box:
    """A part of the pipeline."""

    name: str
    title: str
    state: str
    tone: Tone
    facts: tuple[str, ...] = ()
    error: str | None = None
    link: str | None = None
    """Page with its details."""


@dataclass(frozen=True)
class Column:
    """Parts of one kind."""

    title: str
    boxes: tuple[Box, ...]


@dataclass(frozen=True)
class TableRow:
    """A table's way: source, topic, silver."""

    name: str
    source: str
    topic: str
    state: str
    tone: Tone
    records: int | None
    """Records in its topic so far."""
    topic_rate: float
    behind: int | None = None
    table_rate: float = 0.0
    committed_at: float | None = None
    """Time of its last commit, in seconds since the epoch."""
    dead_letters: int | None = None
    problem: str | None = None


def columns_of(view: PipelineView) -> list[Column]:
    """Return the columns in the order in which a change passes them."""
    services = {service.name: service for service in view.data.get("services", ())}
    sources = [name for name in services if name in ENGINES]
    middle = {"Connectors": ("connect", "registry"), "Topics": ("kafka",)}
    lake = ("silver", "objectstore")
    placed = {*sources, *lake, *(name for names in middle.values() for name in names)}
    connectors = [_connector(one) for one in view.data.get("connectors", ())]
    columns = [
        Column("Sources", _of(services, sources)),
        Column("Connectors", (*_of(services, middle["Connectors"]), *connectors)),
        Column("Topics", (*_of(services, middle["Topics"]), *_topics(view))),
        Column("Lake", (*_of(services, lake), *_bronze(view.data.get("bronze")), *_silver(view))),
        Column("Readers", _of(services, (name for name in services if name not in placed))),
    ]
    return [column for column in columns if column.boxes]


def table_rows(view: PipelineView) -> list[TableRow]:
    """Return the captured tables, those with a problem first."""
    known = {table.name: table for table in view.data.get("tables", ())}
    rows = [_row(view, table, known.get(table.name)) for table in view.tables]
    return sorted(rows, key=lambda row: (row.tone is not Tone.BAD, row.name))


def _row(view: PipelineView, table: LabTable, status: SilverTableStatus | None) -> TableRow:
    """Return a table's line; without a status, the Spark application does not answer."""
    name, topic = table.name, table.topic
    records, rate = view.topic_records.get(topic), view.topic_rates.get(topic, 0.0)
    if status is None:
        return TableRow(name, table.source, topic, "not known", Tone.OFF, records, rate)
    at = status.last_commit_at
    return TableRow(
        name,
        table.source,
        topic,
        status.state,
        Tone.BAD if status.source_problem else tone_of(status.state) or Tone.BUSY,
        records,
        rate,
        status.records_behind,
        view.table_rates.get(name, 0.0),
        datetime.fromisoformat(at).timestamp() if at else None,
        status.dead_letters,
        status.error or status.source_problem or status.maintenance_error or status.catalog_error,
    )


def _of(services: Mapping[str, ServiceStatus], names: Iterable[str]) -> tuple[Box, ...]:
    return tuple(_service(services[name]) for name in names if name in services)


def _service(service: ServiceStatus) -> Box:
    is_ready = service.state == "ready"
    facts = [service.detail] if is_ready and service.detail else []
    if service.memory_bytes:
        facts.append(f"{service.memory_bytes / 1024**2:,.0f} MiB")
    if service.restarts:
        facts.append(counted(service.restarts, "restart"))
    return Box(
        service.name,
        service.title,
        service.state,
        tone_of(service.state) or Tone.BUSY,
        tuple(facts),
        None if is_ready else service.detail or None,
        f"/services/{service.name}",
    )


def _connector(connector: ConnectorStatus) -> Box:
    states = [connector.state, *connector.tasks]
    odd = next((state for state in states if state != "RUNNING"), "RUNNING")
    is_idle = odd == "RUNNING" and not connector.tasks
    tone = Tone.BAD if connector.error or is_idle else tone_of(odd) or Tone.BUSY
    facts = [counted(len(connector.tasks), "task")]
    if connector.retained_bytes is not None:
        facts.append(f"{connector.retained_bytes / 1024**2:,.1f} MiB of log kept")
    return Box(connector.name, "connector", odd.lower(), tone, tuple(facts), connector.error)


def _topics(view: PipelineView) -> Sequence[Box]:
    if not view.topic_records:
        return ()
    lost = view.data.get("lost_topics", [])
    rate = sum(view.topic_rates.values())
    facts = (f"{sum(view.topic_records.values()):,} records", f"{rate:,.1f}/s")
    state, tone = ("lost", Tone.BAD) if lost else ("there", Tone.GOOD)
    title = counted(len(view.topic_records), "topic")
    error = f"Kafka has lost {', '.join(lost)}" if lost else None
    return (Box("topics", title, state, tone, facts, error),)


def _bronze(bronze: BronzeStatus | None) -> Sequence[Box]:
    if bronze is None:
        return ()
    state = bronze.state or "running"
    facts = [f"written by {bronze.writer}"]
    if bronze.records_behind is not None:
        facts.append(f"{bronze.records_behind:,} behind")
    stopped = "; ".join(f"{topic}: {why}" for topic, why in bronze.stopped_topics.items())
    error = bronze.error or stopped or None
    tone = Tone.BAD if error else tone_of(state) or Tone.BUSY
    return (Box("bronze", "change events in files", state, tone, tuple(facts), error),)


def _silver(view: PipelineView) -> Sequence[Box]:
    rows = table_rows(view)
    if not rows:
        return ()
    bad = [row for row in rows if row.tone is Tone.BAD]
    known = [row.behind for row in rows if row.behind is not None]
    facts = [f"{sum(known):,} behind"] if known else []
    facts.append(f"{sum(row.table_rate for row in rows):,.1f}/s")
    return (
        Box(
            "tables",
            counted(len(rows), "silver table"),
            f"{len(bad)} stopped" if bad else "running",
            Tone.BAD if bad else Tone.GOOD,
            tuple(facts),
            None,
            "/tables",
        ),
    )
