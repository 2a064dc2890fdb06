"""Verification of all tables, which tells rows that differ from rows that are still in flight.

Change data capture is asynchronous: right after a commit silver lags behind, and that is no
difference. So a table that is not equal is read again until it is equal, until it is proven that
silver has had every change and the same rows still differ, or until the time is up. Changes that
may be on their way are checked only when something differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

import pyarrow as pa

from labctl.errors import ExitCode, LabError
from labctl.verify.compare import verify_table
from labctl.verify.diff import TableDiff
from labctl.verify.patience import SYSTEM_CLOCK, Clock

__all__ = [
    "CaptureState",
    "Pair",
    "Rows",
    "State",
    "TableCapture",
    "TableVerdict",
    "UnavailableError",
    "VerifyReport",
    "verify",
]

_POLL_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 2.0
"""Longest pause between two reads of a table that does not change."""


class State(StrEnum):
    """Result of the verification of a table."""

    EQUAL = "equal"
    DIFFERENT = "different"
    """Not equal, and no change is on its way any more, or none of them arrives."""
    IN_FLIGHT = "in-flight"
    """Not equal, but changes were still on their way."""
    CANNOT_TELL = "cannot-tell"
    """A part that changes go through did not answer, or refused to tell how far they are."""
    CANNOT_COMPARE = "cannot-compare"
    """The table, or a column of it, has no form in which both sides could be compared."""


class UnavailableError(LabError):
    """Error for a service on a table's path that does not answer now but may answer later."""

    def __init__(self, part: str, what: str) -> None:
        """Create the error for the service `part`; it is empty when there is no use in retrying."""
        super().__init__(what, exit_code=ExitCode.NOT_READY)
        self.part = part


@dataclass(frozen=True)
class CaptureState:
    """Progress of a source's changes on their way into its topics."""

    waiting_for: str | None = None
    """Reason why changes may not be in a topic yet; None when the connector has received all."""
    stuck: bool = False
    """True if that stays so until somebody intervenes."""
    failed: bool = False
    """True if the reason is a failed connector: the changes it lacks are not on their way."""
    moving: object = None
    """A value that changes as long as the connector may still write received changes to a topic."""


class TableCapture(Protocol):
    """Capture as one table sees it. Both methods raise UnavailableError."""

    def end(self) -> Any:
        """Return the position in the source's log after all changes that the table holds now."""

    def state(self, end: Any) -> CaptureState:
        """Return how far capture has come, as seen from such a position."""


@dataclass(frozen=True)
class Rows:
    """The rows that were read from a source table."""

    table: pa.Table
    keys: tuple[str, ...]
    unread: tuple[str, ...] = ()
    """Columns without a known exact form, as `name: type`."""
    lost: tuple[str, ...] = ()
    """Columns with values that silver has no form for, as `name: how many and why`."""
    uncaptured: tuple[str, ...] = ()
    """Columns that the connector leaves out."""


@dataclass(frozen=True)
class Pair:
    """A source table and its silver table, as two ways to read them now.

    Each function raises UnavailableError when it may work later, and LabError when the table
    cannot be compared.
    """

    source_name: str
    """Name in messages: `mysql ecomm.sale`."""
    silver_name: str
    read_source: Callable[[], Rows]
    read_silver: Callable[[], pa.Table | None]
    """Reader of silver. It returns None while there is no silver table: then all rows of the source
    are missing."""
    in_flight: Callable[[], int | None] = lambda: None
    """Number of change records that silver has not committed yet; None when that is never known."""
    stopped: Callable[[], str | None] = lambda: None
    """Reason why silver takes in no more of those records; None while it may."""
    capture: TableCapture | None = None
    """Progress of capture; None when it is never known."""


@dataclass(frozen=True)
class TableVerdict:
    """The result for one table."""

    source: str
    silver: str
    state: State
    diff: TableDiff | None
    """Differences at the last read; None when the table was never read."""
    reason: str | None
    """The thing that is waited for, does not answer, or cannot be compared."""
    in_flight: int | None
    """Number of change records not yet in silver at the last look; None when that is not known."""
    reads: int
    """Number of times that both sides were read."""
    seconds: float
    """Duration, waiting included."""


@dataclass(frozen=True)
class VerifyReport:
    """The results for all tables, in the order they were given."""

    tables: tuple[TableVerdict, ...]
    seconds: float

    @property
    def equal(self) -> bool:
        """True if every silver table has exactly the rows of its source."""
        return all(verdict.state is State.EQUAL for verdict in self.tables)

    @property
    def different(self) -> bool:
        """True if a table is proven to differ."""
        return any(verdict.state is State.DIFFERENT for verdict in self.tables)

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        tables = [{**asdict(v), "diff": v.diff and v.diff.to_dict()} for v in self.tables]
        return {"equal": self.equal, "seconds": self.seconds, "tables": tables}


@dataclass(frozen=True)
class _Seen:
    """The result of one look. While it changes, something moves."""

    diff: TableDiff | None = None
    records: int | None = None
    stopped: str | None = None
    """Reason why the records stay where they are."""
    capture: CaptureState = CaptureState()
    silent: UnavailableError | None = None
    """Error of the part that did not answer; a look counts it as the same while its message is."""

    @property
    def waiting_for(self) -> str | None:
        """Reason why the table may differ only for now."""
        if self.silent is not None:
            return self.silent.what
        if self.records:
            count = f"{self.records:,} records of its topic are not in silver"
            return f"{self.stopped}; {count}" if self.stopped else f"{count} yet"
        return self.capture.waiting_for

    @property
    def moving(self) -> tuple[object, ...]:
        return (self.diff, self.records, self.capture, self.waiting_for)

    @property
    def on_its_way(self) -> bool:
        """True if changes are known to be on their way, so that no read is needed to wait for
        them."""
        return bool(self.records and not self.stopped) or self.capture.waiting_for is not None


class _Watched:
    """Repeated reads of one pair, with the time when something last moved."""

    def __init__(self, pair: Pair, patience: float, clock: Clock) -> None:
        self.pair = pair
        self._patience = patience
        self._clock = clock
        self._longest_pause = min(_LONGEST_PAUSE_SECONDS, patience)
        self.started = self.moved = clock.now()
        self.reads = 0
        self.seen = _Seen()
        self.incomparable: str | None = None
        self._marked = False
        self._end: Any = None
        self._next_read = 0.0
        self._pause = _POLL_SECONDS

    def look(self, deadline: float) -> None:
        """Check what is on its way, and read both sides if nothing is known to be.

        Capture is checked before the topic, and the topic before silver: a change that has passed
        one place is seen at the next.
        """
        before = self.seen
        self.seen = replace(before, records=None, stopped=None, capture=CaptureState(), silent=None)
        if self._marked:
            self._ask(self._ask_capture)
        self._ask(self._ask_topic)
        now = self._clock.now()
        if now >= deadline or not (self.seen.on_its_way or now < self._next_read):
            self._read()
        if self._is_to_mark:
            self._ask(self._mark)
        if self.seen.moving != before.moving:
            self.moved = self._clock.now()
            self._pause = _POLL_SECONDS

    def _ask(self, question: Callable[[], None]) -> None:
        """Ask what is on its way, and note the error of a part that does not answer or refuses."""
        try:
            question()
        except UnavailableError as error:
            self.seen = replace(self.seen, silent=error)
        except LabError as error:
            self.seen = replace(self.seen, silent=UnavailableError("", error.what))

    def _ask_capture(self) -> None:
        assert self.pair.capture is not None  # noqa: S101 - only marked where there is one
        self.seen = replace(self.seen, capture=self.pair.capture.state(self._end))

    def _ask_topic(self) -> None:
        self.seen = replace(self.seen, records=self.pair.in_flight())
        if self.seen.records:
            self.seen = replace(self.seen, stopped=self.pair.stopped())

    def _read(self) -> None:
        """Read the source before silver, so that silver has had longer to catch up."""
        self._next_read = self._clock.now() + self._pause
        self._pause = min(2 * self._pause, self._longest_pause)
        try:
            source = self.pair.read_source()
            silver = self.pair.read_silver()
            self.reads += 1
            if silver is None:
                silver = source.table.schema.empty_table()
            diff = verify_table(
                source.table, silver, source.keys, unread=source.unread, lost=source.lost
            )
            diff = replace(diff, columns_uncaptured=source.uncaptured)
        except UnavailableError as error:
            self.seen = replace(self.seen, silent=error)
        except LabError as error:
            self.incomparable = str(error)
        except Exception as error:
            # One table's values must not prevent the verdicts of the others.
            self.incomparable = f"labctl cannot compare it: {type(error).__name__}: {error}"
        else:
            self._marked = self._marked and diff == self.seen.diff
            self.seen = replace(self.seen, diff=diff)

    @property
    def _is_to_mark(self) -> bool:
        """True if the position that capture has to reach is needed and not known yet."""
        diff = self.seen.diff
        differs = diff is not None and not diff.rows_equal
        return differs and not self._marked and self.pair.capture is not None

    def _mark(self) -> None:
        """Note where the source's log ends: all rows read so far lie before that position."""
        assert self.pair.capture is not None  # noqa: S101 - see above
        self._end, self._marked = self.pair.capture.end(), True
        self._ask_capture()

    def verdict(self, deadline: float) -> TableVerdict | None:
        """Return the result, or None while another look may change it."""
        state = self._state(deadline)
        return None if state is None else self.so_far(state)

    def _state(self, deadline: float) -> State | None:
        silent, diff = self.seen.silent, self.seen.diff
        if self.incomparable is not None:
            return State.CANNOT_COMPARE
        if diff is not None and diff.rows_equal:
            return State.EQUAL if diff.equal else State.CANNOT_COMPARE
        if diff is not None and silent is None and (decided := self._decided()):
            return decided
        if self._clock.now() < deadline:
            return None
        return State.CANNOT_TELL if silent is not None else State.IN_FLIGHT

    def _decided(self) -> State | None:
        """Return the final state of a table that differs and whose parts all answer, or None."""
        seen = self.seen
        if seen.stopped:
            return State.DIFFERENT
        if self._clock.now() - self.moved < self._patience:
            return None
        if seen.waiting_for is None or seen.capture.failed:
            return State.DIFFERENT
        return State.IN_FLIGHT if seen.capture.stuck and not seen.records else None

    def so_far(self, state: State = State.IN_FLIGHT) -> TableVerdict:
        """Return the result as far as it is known now."""
        return TableVerdict(
            source=self.pair.source_name,
            silver=self.pair.silver_name,
            state=state,
            diff=self.seen.diff,
            reason=self._reason(state),
            in_flight=self.seen.records,
            reads=self.reads,
            seconds=self._clock.now() - self.started,
        )

    def _reason(self, state: State) -> str | None:
        return None if state is State.EQUAL else self.incomparable or self.seen.waiting_for


def verify(
    pairs: Sequence[Pair],
    *,
    timeout: float = 60.0,
    patience: float = 5.0,
    comes_back: Callable[[str], bool] = lambda _part: True,
    on_verdict: Callable[[TableVerdict], None] = lambda _: None,
    on_wait: Callable[[TableVerdict], None] = lambda _: None,
    clock: Clock = SYSTEM_CLOCK,
) -> VerifyReport:
    """Compare every pair, and read those that are not equal again for `timeout` seconds at most.

    A table is not read while changes are known to be on their way, unless the time is up. A table
    is different if no changes are known to be on their way and nothing has moved for `patience`
    seconds, if its connector has failed, or if silver takes in no more of its records. A part that
    does not answer is asked again, unless `comes_back` says that there is no use. With `timeout=0`
    every table is read once. `on_verdict` receives each result as soon as it is final, and
    `on_wait` what is known after each look at a table that has no result yet.
    """
    started = clock.now()
    deadline = started + timeout
    verdicts: dict[int, TableVerdict] = {}
    looked_at: dict[int, _Watched] = {}
    while len(verdicts) < len(pairs):
        if looked_at:
            clock.sleep(_POLL_SECONDS)
        for index, pair in enumerate(pairs):
            if index in verdicts:
                continue
            if index not in looked_at:
                looked_at[index] = _Watched(pair, min(patience, timeout), clock)
            progress = looked_at[index]
            progress.look(deadline)
            silent = progress.seen.silent
            gone = silent is not None and not comes_back(silent.part)
            verdict = progress.verdict(started if gone else deadline)
            if verdict is not None:
                verdicts[index] = verdict
                on_verdict(verdict)
            else:
                on_wait(progress.so_far())
    ordered = tuple(verdicts[index] for index in range(len(pairs)))
    return VerifyReport(ordered, clock.now() - started)
