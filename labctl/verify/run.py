"""Verifies all tables, telling rows that differ from rows that are still in flight.

Change data capture is asynchronous: right after a commit silver lags behind, and that is no
difference. So a table that is not equal is read again until it is, until nothing has moved for a
while (what differs then differs for good), or until the time is up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

import pyarrow as pa

from labctl.verify.compare import verify_table
from labctl.verify.diff import TableDiff

__all__ = ["Pair", "State", "TableVerdict", "VerifyReport", "verify"]

_POLL_SECONDS = 0.25


class State(StrEnum):
    """What verification found out about a table."""

    EQUAL = "equal"
    DIFFERENT = "different"
    """Not equal, and nothing moved any more."""
    IN_FLIGHT = "in-flight"
    """Not equal when the time was up, but changes were still arriving."""


@dataclass(frozen=True)
class Pair:
    """A source table and its silver table, as two ways to read them now."""

    source_name: str
    """As messages show it: `mysql ecomm.sale`."""
    silver_name: str
    keys: tuple[str, ...]
    read_source: Callable[[], pa.Table]
    read_silver: Callable[[], pa.Table | None]
    """None while there is no silver table yet: then all rows of the source are missing."""
    in_flight: Callable[[], int | None] = lambda: None
    """Change records that silver has not committed yet; None when that is not known."""


@dataclass(frozen=True)
class TableVerdict:
    """The result for one table."""

    source: str
    silver: str
    state: State
    diff: TableDiff
    in_flight: int | None
    """Change records not yet in silver at the last look; None when that is not known."""
    reads: int
    """How often both sides were read."""
    seconds: float
    """How long it took, waiting included."""


@dataclass(frozen=True)
class VerifyReport:
    """The results for all tables, in the order they were given."""

    tables: tuple[TableVerdict, ...]
    seconds: float

    @property
    def equal(self) -> bool:
        """Whether every silver table has exactly the rows of its source."""
        return all(verdict.state is State.EQUAL for verdict in self.tables)

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        tables = [{**asdict(v), "diff": v.diff.to_dict()} for v in self.tables]
        return {"equal": self.equal, "seconds": self.seconds, "tables": tables}


class _Progress:
    """Reads one pair as often as needed and remembers when something last moved."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.started = self.moved = time.monotonic()
        self.reads = 0
        self.diff: TableDiff | None = None
        """None before the first reading."""
        self.waiting: int | None = None

    def look(self, deadline: float) -> None:
        """Reads both sides, unless changes are known to be on their way: that costs nothing."""
        before = (self.diff, self.waiting)
        self.waiting = self.pair.in_flight()
        if not self.waiting or time.monotonic() >= deadline:
            self.diff = self._read()
        if (self.diff, self.waiting) != before:
            self.moved = time.monotonic()

    def _read(self) -> TableDiff:
        """The source comes before silver, so that silver has had longer to catch up."""
        self.reads += 1
        source = self.pair.read_source()
        silver = self.pair.read_silver()
        if silver is None:
            silver = source.schema.empty_table()
        return verify_table(source, silver, self.pair.keys)

    def verdict(self, patience: float, deadline: float) -> TableVerdict | None:
        """The result, or None while another look may change it."""
        if self.diff is None:
            return None
        now = time.monotonic()
        if self.diff.equal:
            state = State.EQUAL
        elif not self.waiting and now - self.moved >= patience:
            state = State.DIFFERENT
        elif now >= deadline:
            state = State.IN_FLIGHT
        else:
            return None
        return TableVerdict(
            source=self.pair.source_name,
            silver=self.pair.silver_name,
            state=state,
            diff=self.diff,
            in_flight=self.waiting,
            reads=self.reads,
            seconds=now - self.started,
        )


def verify(
    pairs: Sequence[Pair],
    *,
    timeout: float = 60.0,
    patience: float = 5.0,
    on_verdict: Callable[[TableVerdict], None] = lambda _: None,
    on_wait: Callable[[Pair, TableDiff], None] = lambda _pair, _diff: None,
) -> VerifyReport:
    """Compares every pair; reads those that are not equal again, for `timeout` seconds at most.

    A table is not read while records are known to be in flight, unless the time is up. One in
    which nothing has moved for `patience` seconds, and for which no such record is known, is
    different. With `timeout=0` every table is read once. `on_verdict` hears each result as soon as
    it is final, `on_wait` each reading after which a table is still not equal.
    """
    started = time.monotonic()
    deadline = started + timeout
    verdicts: dict[int, TableVerdict] = {}
    looked_at: dict[int, _Progress] = {}
    while len(verdicts) < len(pairs):
        if looked_at:
            time.sleep(_POLL_SECONDS)
        for index, pair in enumerate(pairs):
            if index in verdicts:
                continue
            if index not in looked_at:
                looked_at[index] = _Progress(pair)
            progress = looked_at[index]
            progress.look(deadline)
            verdict = progress.verdict(min(patience, timeout), deadline)
            if verdict is not None:
                verdicts[index] = verdict
                on_verdict(verdict)
            elif progress.diff is not None:
                on_wait(pair, progress.diff)
    ordered = tuple(verdicts[index] for index in range(len(pairs)))
    return VerifyReport(ordered, time.monotonic() - started)
