"""State of the pipeline: connectors, bronze and silver tables, and what keeps changes from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeVar

import requests

from labctl.errors import LabError
from labctl.kafka.offsets import EndOffsets, end_offsets, records_left
from labctl.kafkaconnect.connect_client import RebalanceError
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.connector_slots import read_slots
from labctl.lab.connectors.failed_capture import why_failed
from labctl.lab.connectors.restored_sources import restored_sources
from labctl.lab.connectors.silent_connectors import silent_connectors
from labctl.lab.connectors.source_problems import source_problems
from labctl.lab.lab import Lab
from labctl.lab.observe.bronze_retention import BronzeRetention
from labctl.sources.log_slots import Slot

__all__ = [
    "HELD_UP",
    "NOT_APPLIED",
    "BronzeStatus",
    "ConnectorStatus",
    "PipelineStatus",
    "SilverTableStatus",
    "WrittenBy",
    "bronze_writer",
    "read_pipeline",
    "silver_status",
]

WrittenBy = Literal["spark", "connect"]
"""Writer of bronze: the Spark application or the S3 sink connector, never both."""

NOT_APPLIED = "not applied"
"""State of a connector that the lab should run but that Kafka Connect does not have."""

_SECONDS = 5.0
_RUNNING = "RUNNING"
HELD_UP = ("retrying", "failed")
"""States in which a table, or bronze, ingests nothing."""
_T = TypeVar("_T")


@dataclass(frozen=True)
class ConnectorStatus:
    name: str
    state: str
    tasks: list[str]
    """The tasks' states, as Kafka Connect names them."""
    error: str | None = None
    """Reason why it or one of its tasks failed, or what it does not do although it runs."""
    retained_bytes: int | None = None
    """Bytes of PostgreSQL's log, kept until the connector reads it; None for other engines."""


@dataclass(frozen=True)
class SilverTableStatus:
    name: str
    state: str
    table_type: str
    last_commit_at: str | None
    """Time of the last commit, ISO 8601 in UTC; None if nothing was written yet."""
    records_behind: int | None
    """Records of its topic that it has not ingested; None if Kafka does not answer."""
    dead_letters: int | None
    """Number of its dead letters; None if the application does not count them."""
    error: str | None
    rebuild_refused: str | None = None
    """Reason why its last rebuild request was dropped; the table itself continues."""
    maintenance_error: str | None = None
    """Reason why it is not compacted, cleaned or archived; its rows are right, but it grows."""
    catalog_error: str | None = None
    """Reason why Hive's metastore lacks its last change; its rows are right."""
    source_problem: str | None = None
    """Reason why its source can no longer be captured correctly."""


@dataclass(frozen=True)
class BronzeStatus:
    writer: WrittenBy
    state: str | None
    """State as a table has it; None if the sink connector writes, which has its own state."""
    records_behind: int | None = None
    """Records of the lab's topics that are in no file; None if that is unknown."""
    dead_letters: int | None = None
    stopped_topics: dict[str, str] = field(default_factory=dict)
    """Reasons why a topic is no longer written, by topic."""
    error: str | None = None
    retention: BronzeRetention | None = None
    """Removal of old files; None if nothing is removed."""


@dataclass(frozen=True)
class GoldStatus:
    """A view that the Spark application keeps as a table."""

    name: str
    state: str
    last_commit_at: str | None
    error: str | None


@dataclass(frozen=True)
class PipelineStatus:
    connectors: list[ConnectorStatus]
    tables: list[SilverTableStatus]
    bronze: BronzeStatus | None
    """Status of bronze; None if the application does not report it."""
    lost_topics: list[str] = field(default_factory=list)
    """Topics that tables were written from and that Kafka no longer has."""
    gold: list[GoldStatus] = field(default_factory=list)

    def halts(
        self, tables: Collection[str] | None = None, connectors: Collection[str] | None = None
    ) -> list[str]:
        """Return what keeps changes from silver or bronze, and why.

        Of `tables` and `connectors` alone, unless they are None.
        """
        own = [t for t in self.tables if tables is None or t.name in tables]
        asked = [c for c in self.connectors if connectors is None or c.name in connectors]
        return [
            *_lost_problems(self.lost_topics),
            *(_connector_problem(c) for c in asked if not _is_sound(c)),
            *(
                f"table {t.name} is {t.state}: {t.error or 'it does not say why'}"
                for t in own
                if t.state in HELD_UP
            ),
            *(f"table {t.name}: {t.source_problem}" for t in own if t.source_problem),
            *_bronze_problems(self.bronze),
        ]

    def problems(self) -> list[str]:
        """Return what keeps changes from silver or bronze, or a table from maintenance, and why."""
        return [
            *self.halts(),
            *(
                f"table {t.name} is not compacted, and grows: {t.maintenance_error}; it is tried "
                "again until it succeeds (labctl logs silver)"
                for t in self.tables
                if t.maintenance_error
            ),
            *(
                f"table {t.name} is out of date in Hive's metastore: {t.catalog_error}; it is "
                "tried again until it succeeds (labctl logs metastore)"
                for t in self.tables
                if t.catalog_error
            ),
            *(
                f"{g.name}, a view kept as a table, is {g.state}: {g.error}"
                for g in self.gold
                if g.state in HELD_UP
            ),
            *_retention_problems(self.bronze),
        ]


def read_pipeline(lab: Lab) -> PipelineStatus:
    """Ask Connect, Kafka and the Spark application, all at once.

    The result leaves out what does not answer.
    """
    topics = sorted({table.topic for table in lab.tables})
    with ThreadPoolExecutor(max_workers=4) as pool:
        slots = pool.submit(_or_none, lambda: read_slots(lab))
        connectors = pool.submit(_or_none, lambda: _connector_statuses(lab))
        status = pool.submit(_silver_status, lab)
        ends = pool.submit(_or_none, lambda: end_offsets(lab.endpoints.kafka, topics))
    tables = _tables(lab, status.result(), ends.result())
    bronze = _bronze(status.result(), ends.result())
    in_use = bool(lab.state.load().get("seeded") or connectors.result()) or any(
        table.last_commit_at for table in tables
    )
    wanted = _wanted(lab, bronze) if in_use else []
    found = _connectors(connectors.result(), wanted, partial(why_failed, lab))
    running = [c.name for c in found if _is_sound(c)]
    idle = {**silent_connectors(lab, running, ends.result()), **restored_sources(lab, running)}
    wrong = source_problems(lab, running, ends.result())
    tables = [replace(table, source_problem=wrong.get(table.name)) for table in tables]
    of = {slot.connector: slot for slot in slots.result() or ()}
    found = [_with_slot(replace(c, error=idle.get(c.name, c.error)), of.get(c.name)) for c in found]
    lost = _lost_topics(lab, ends.result())
    return PipelineStatus(found, tables, bronze, lost, _gold(status.result()))


def bronze_writer(lab: Lab) -> WrittenBy | None:
    """Return the writer of bronze, which the application chooses at its start; None if unknown."""
    return _bronze_writer(_silver_status(lab))


def silver_status(lab: Lab) -> dict[str, Any]:
    """Return the Spark application's status. Raises requests' errors if it does not answer."""
    if lab.endpoints.silver.status_url is None:
        raise requests.ConnectionError("this lab's Spark application is not reachable from here")
    response = requests.get(f"{lab.endpoints.silver.status_url}/status", timeout=_SECONDS)
    response.raise_for_status()
    status: dict[str, Any] = response.json()
    return status


def _silver_status(lab: Lab) -> dict[str, Any]:
    """Return `silver_status`, or an empty dict if the application does not answer."""
    try:
        return silver_status(lab)
    except requests.RequestException:
        return {}


def _or_none(ask: Callable[[], _T]) -> _T | None:
    try:
        return ask()
    except (LabError, RebalanceError):
        return None


def _bronze_writer(status: Mapping[str, Any]) -> WrittenBy | None:
    if "bronze" not in status:
        return None
    return "connect" if status["bronze"] is None else "spark"


def _bronze(status: Mapping[str, Any], ends: EndOffsets | None) -> BronzeStatus | None:
    writer = _bronze_writer(status)
    if writer is None or writer == "connect":
        return writer and BronzeStatus(writer, None, retention=BronzeRetention.of(status))
    said = status["bronze"]
    return BronzeStatus(
        writer,
        said["state"],
        None
        if ends is None
        else sum(
            records_left(end, said["offsets"].get(topic, {}), said.get("begins", {}).get(topic, {}))
            for topic, end in ends.items()
        ),
        said.get("dead_letters"),
        said["stopped_topics"],
        said["error"],
        BronzeRetention.of(status),
    )


def _gold(status: Mapping[str, Any]) -> list[GoldStatus]:
    return [
        GoldStatus(name, said["state"], said["last_commit_at"], said["error"])
        for name, said in status.get("gold", {}).items()
    ]


def _lost_topics(lab: Lab, ends: EndOffsets | None) -> list[str]:
    """Return the topics of committed tables that Kafka lacks; none if Kafka does not answer."""
    without = [] if ends is None else [t for t in lab.tables if not ends.get(t.topic)]
    if not without:
        return []
    # The application opens no table before its topic exists: only the lake knows.
    commits = _commits(lab, [table.name for table in without])
    return sorted({table.topic for table in without if commits.get(table.name)})


def _lost_problems(topics: Sequence[str]) -> Iterable[str]:
    if topics:
        yield (
            f"Kafka has lost {', '.join(topics)}, and nothing more comes from there. Sources, "
            "tables and bronze are as they were: labctl connectors apply --start-over loads every "
            "table again and writes silver and bronze from that"
        )


def _bronze_problems(bronze: BronzeStatus | None) -> Iterable[str]:
    if bronze is None:
        return
    if bronze.state in HELD_UP:
        yield f"bronze is {bronze.state}: {bronze.error or 'it does not say why'}"
    for topic, reason in bronze.stopped_topics.items():
        yield f"bronze has stopped for {topic}: {reason}"


def _retention_problems(bronze: BronzeStatus | None) -> Iterable[str]:
    if bronze and bronze.retention and bronze.retention.error:
        yield f"old bronze files stay until the next try: {bronze.retention.error}"


def _connector_statuses(lab: Lab) -> dict[str, dict[str, Any]]:
    return connect_client(lab.endpoints.connect, seconds=_SECONDS).statuses()


def _wanted(lab: Lab, bronze: BronzeStatus | None) -> list[str]:
    """Return the connectors that a lab runs once it has been seeded."""
    names = [source.connector for source in lab.config.sources.values()]
    if bronze is not None and bronze.writer == "connect":
        names += [sink.file.name for sink in lab.sinks]
    return names


def _connectors(
    statuses: Mapping[str, Mapping[str, Any]] | None,
    wanted: Iterable[str],
    explain: Callable[[str, str], str],
) -> list[ConnectorStatus]:
    """Return the connectors that Connect runs or should run; none if it does not answer."""
    if statuses is None:
        return []
    found = [_connector(name, status, explain) for name, status in statuses.items()]
    missing = [ConnectorStatus(name, NOT_APPLIED, []) for name in wanted if name not in statuses]
    return sorted([*found, *missing], key=lambda connector: connector.name)


def _connector(
    name: str, status: Mapping[str, Any], explain: Callable[[str, str], str]
) -> ConnectorStatus:
    parts = [status["connector"], *status["tasks"]]
    trace = next((part["trace"] for part in parts if part.get("trace")), None)
    return ConnectorStatus(
        name,
        status["connector"]["state"],
        [task["state"] for task in status["tasks"]],
        None if trace is None else explain(trace, name),
    )


def _is_sound(connector: ConnectorStatus) -> bool:
    states = [connector.state, *connector.tasks]
    return (
        connector.error is None and len(states) > 1 and all(state == _RUNNING for state in states)
    )


def _with_slot(connector: ConnectorStatus, slot: Slot | None) -> ConnectorStatus:
    """Return the connector with its slot's log size, and with an error if the slot was given up.

    Debezium's own check of its position overlooks a slot that was given up.
    """
    if slot is None:
        return connector
    danger = slot.danger() if slot.lost else None
    error = connector.error if danger is None else "; ".join(danger)
    return replace(connector, error=error, retained_bytes=slot.retained_bytes)


def _connector_problem(connector: ConnectorStatus) -> str:
    states = [connector.state, *connector.tasks]
    lazy = "running" if len(states) > 1 else "running without a task"
    odd = next((state for state in states if state != _RUNNING), lazy)
    why = f": {connector.error}" if connector.error else ""
    if odd == "FAILED" and "labctl" not in why:
        why += f"; labctl connectors restart {connector.name}"
    return f"connector {connector.name} is {odd}{why}"


def _tables(
    lab: Lab,
    status: Mapping[str, Any],
    ends: EndOffsets | None,
) -> list[SilverTableStatus]:
    topics = {table.name: table.topic for table in lab.tables}
    return [
        SilverTableStatus(
            name,
            table["state"],
            table["table_type"],
            table["last_commit_at"],
            None
            if ends is None or name not in topics
            else records_left(ends[topics[name]], table["offsets"], table.get("begins", {})),
            table.get("dead_letters"),
            table["error"],
            table.get("rebuild_refused"),
            table.get("maintenance_error"),
            (table.get("catalog") or {}).get("error"),
        )
        for name, table in sorted(status.get("tables", {}).items())
    ]


def _commits(lab: Lab, names: Sequence[str]) -> dict[str, str | None]:
    """Return the instant of each table's last commit, from its timeline."""
    from labctl.lake import Lake

    try:
        return Lake(lab.endpoints.objectstore).latest(names)
    except LabError:
        return {}
