"""Tracking every change: its times, and whether it is missing or duplicated."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from labctl.latency.latency_plan import Change, Kind

__all__ = ["Ledger", "Message", "Stored", "Trace", "Version"]


@dataclass(slots=True)
class Trace:
    """A change's path. Times are seconds since the epoch; None: not (yet) known."""

    table: str
    change: Change
    begun: float
    """Time just before the transaction was sent to the database."""
    committed: float
    """Time just after the database acknowledged the commit."""
    captured: float | None = None
    """Time when Debezium created the event."""
    appended: float | None = None
    """The Kafka record's timestamp."""
    partition: int = 0
    offset: int | None = None
    bronze: float | None = None
    """Time when the object with the record was written, according to the store."""
    hudi: float | None = None
    """Time when the Hudi commit with the change completed."""
    queryable: float | None = None
    """Time when the first query that returns the change had answered."""
    records: int = 0
    """Number of records of the change in its topic."""


@dataclass(frozen=True, slots=True)
class Message:
    """The relevant parts of one record of a topic."""

    table: str
    key: int
    number: int | None
    deleted: bool
    captured: float | None
    appended: float | None
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Version:
    """A row as a query over silver returned it."""

    key: int
    offset: int
    """Offset, in its topic, of the change that produced this version."""
    completed: float | None
    """Time when the Hudi commit with this version completed; None: not known."""
    seen: float
    """Time when the query had answered."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A bronze object: the records of a partition from `start` up to, not including, `end`."""

    partition: int
    start: int
    end: int
    modified: float
    """Time when the object was written, according to the store; seconds since the epoch."""


class Ledger:
    """All traces of a run. Not thread-safe."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []
        self._by_number: dict[tuple[str, int], Trace] = {}
        self._deletes: dict[tuple[str, int], Trace] = {}
        self._early: dict[tuple[str, int, bool], list[Message]] = defaultdict(list)
        self._waiting: dict[tuple[str, int], list[Trace]] = defaultdict(list)
        self._seen: dict[tuple[str, int], list[Version]] = defaultdict(list)
        self._ends: dict[tuple[str, int], int] = {}
        self.in_kafka = 0
        self.queryable = 0

    def written(
        self, table: str, changes: Iterable[Change], begun: float, committed: float
    ) -> None:
        """Record a committed transaction."""
        for change in changes:
            trace = Trace(table, change, begun, committed)
            self.traces.append(trace)
            is_delete = change.kind is Kind.DELETE
            number = change.key if is_delete else change.number
            (self._deletes if is_delete else self._by_number)[table, number] = trace
            # The record can arrive before the database's answer.
            for message in self._early.pop((table, number, is_delete), ()):
                self._append(trace, message)

    def received(self, message: Message) -> None:
        """Record a message about one of the run's rows, as read from its topic."""
        # A deleted row still has its old number, so its key identifies the change.
        number = message.key if message.deleted else message.number
        if number is None:
            return
        known = self._deletes if message.deleted else self._by_number
        trace = known.get((message.table, number))
        if trace is None:
            self._early[message.table, number, message.deleted].append(message)
        else:
            self._append(trace, message)

    def _append(self, trace: Trace, message: Message) -> None:
        trace.records += 1
        if trace.records > 1:
            return
        self.in_kafka += 1
        trace.captured, trace.appended = message.captured, message.appended
        trace.partition, trace.offset = message.partition, message.offset
        place = (trace.table, message.partition)
        self._ends[place] = max(self._ends.get(place, -1), message.offset)
        row = (trace.table, trace.change.key)
        self._waiting[row].append(trace)
        seen = self._seen.pop(row, [])
        for version in seen:
            self._show(row, version)
        # Records of a row come in order: versions not newer than this record are not needed.
        if later := [version for version in seen if version.offset > message.offset]:
            self._seen[row] = later

    def shown(self, table: str, versions: Iterable[Version]) -> None:
        """Record rows of the run that a query over silver returned."""
        for version in versions:
            row = (table, version.key)
            self._seen[row].append(version)
            self._show(row, version)

    def _show(self, row: tuple[str, int], version: Version) -> None:
        """Mark a row's waiting changes as queryable up to this version's offset."""
        still = []
        for trace in self._waiting.get(row, ()):
            if trace.offset is not None and trace.offset <= version.offset:
                trace.hudi, trace.queryable = version.completed, version.seen
                self.queryable += 1
            else:
                still.append(trace)
        self._waiting[row] = still

    def stored(self, table: str, objects: Iterable[Stored]) -> None:
        """Record the bronze objects of a table's topic; later calls may add more of them."""
        by_partition: dict[int, list[Stored]] = defaultdict(list)
        for one in sorted(objects, key=lambda one: one.start):
            by_partition[one.partition].append(one)
        starts = {p: [one.start for one in found] for p, found in by_partition.items()}
        for trace in self.traces:
            if trace.table != table or trace.offset is None or trace.partition not in starts:
                continue
            at = bisect_right(starts[trace.partition], trace.offset) - 1
            if at >= 0 and trace.offset < by_partition[trace.partition][at].end:
                trace.bronze = by_partition[trace.partition][at].modified

    @property
    def ends(self) -> Mapping[tuple[str, int], int]:
        """Offset of the run's last record, by table and partition."""
        return self._ends

    def not_in_kafka(self) -> list[Trace]:
        """Return the changes without a Kafka record."""
        return [t for t in self.traces if t.offset is None]

    def not_in_bronze(self) -> list[Trace]:
        """Return the changes without a bronze object."""
        return [t for t in self.traces if t.bronze is None]

    def last_of_rows(self) -> dict[tuple[str, int], Trace]:
        """Return the last change of each row, by table and key."""
        last: dict[tuple[str, int], Trace] = {}
        for trace in self.traces:
            last[trace.table, trace.change.key] = trace
        return last
