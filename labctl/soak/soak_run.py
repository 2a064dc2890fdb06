"""A soak run: write changes, cause faults, follow the changes, and count the missing ones."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime

import psutil

from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.observe.service_status import read_status, service_versions
from labctl.lab.tables.bronze_folders import lab_bronze
from labctl.lab.tables.verification import verify_lab
from labctl.lake import Lake
from labctl.latency.environment import describe
from labctl.latency.statistics import percentiles_of
from labctl.latency.target_selection import chosen_targets
from labctl.latency.targets import Target, describe_target
from labctl.latency.writing import remove_rows
from labctl.soak.checking import BronzeRecords, Finding, check_silver
from labctl.soak.faulting import FaultKind, PlannedFault, fitting_kinds, inject, plan_faults
from labctl.soak.following import TableFollower
from labctl.soak.history import History
from labctl.soak.resources import ResourceSampler
from labctl.soak.soak_plan import Operation, plan_transactions
from labctl.soak.soak_report import FaultRun, SoakReport, SoakSecond, TableSoak
from labctl.soak.tracking import Arrival, Expectation, Tracker
from labctl.soak.writing import Acknowledged, SoakWriter
from labctl.sources import connect
from labctl.testing.trace import trace_row

__all__ = ["SoakPlan", "require_kept", "run_soak", "soak_tables"]

_ROUND_SECONDS = 0.1
_RECOVERY_SECONDS = 300.0
"""Seconds after which the run counts a recovery as failed."""
_DRAIN_SECONDS = 300.0
"""Seconds that the last changes may take to reach silver and bronze."""
_LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class SoakPlan:
    """The settings of a run."""

    seed: int
    rate: float
    """Changes per second, all tables together."""
    kinds: Sequence[FaultKind]
    seconds: float | None = None
    """Seconds during which faults happen; None: until each has happened once."""
    healthy_seconds: float = 5.0
    """Seconds between a recovery and the next fault."""
    tables: Sequence[str] = ()
    """Silver tables; empty: one table of each source, see `soak_tables`."""


@dataclass
class _Table:
    """A table during the run."""

    target: Target
    first_key: int
    follower: TableFollower
    tracker: Tracker
    expected: Expectation = field(default_factory=Expectation)
    operations: list[Operation] = field(default_factory=list)


def soak_tables(lab: Lab, names: Sequence[str] = ()) -> list[Target]:
    """Return the tables called `names`, or else one table of each source; see `chosen_targets`.

    Raises LabError (USAGE) for a table that cannot carry numbers, or if there is no usable table.
    """
    if names:
        found = []
        for name in names:
            table = lab.table(name)
            with connect(lab.endpoints, table.source) as source:
                found.append(describe_target(table, source))
        return found
    return chosen_targets(lab, "each-source", deletes=True)


def require_kept(retention: int | None, plan: SoakPlan) -> None:
    """Raise LabError (USAGE) if bronze may lose the run's records before they are checked.

    `retention` is the time in seconds that bronze keeps files; None: no limit.
    """
    longest = plan.seconds
    if longest is None:
        longest = len(plan.kinds) * (_RECOVERY_SECONDS + plan.healthy_seconds)
    if retention is not None and longest + _DRAIN_SECONDS >= retention:
        raise LabError(
            f"lake.retention removes bronze files after {retention:,} s, so a run of this length "
            "could not tell what it lost",
            hint="give --minutes a smaller number, or set a longer lake.retention in lab.toml",
            exit_code=ExitCode.USAGE,
        )


def run_soak(
    lab: Lab, plan: SoakPlan, history: History, *, say: Callable[[str], None]
) -> SoakReport:
    """Run a soak on a running, seeded lab, and return the report. Its rows are removed at the end.

    It first waits for a first load in progress. Lost changes raise no error; the report counts
    them. Raises LabError if the lab cannot run it, or if a table differs from its source before
    the run.
    """
    lab.require_running().require_here()
    require_kept(lab.config.lake.retention_seconds, plan)
    say("comparing the tables with their sources")
    names = [target.silver for target in soak_tables(lab, plan.tables)]
    before = verify_lab(lab, names, timeout=_DRAIN_SECONDS)
    if not before.equal and not before.different:
        raise LabError(
            f"Changes were still on their way after {_DRAIN_SECONDS:.0f} s, so a run could not "
            "tell what it lost",
            hint="wait until `labctl verify` finds that all rows match, then start the run again",
            details=tuple(map(str, before.tables)),
            exit_code=ExitCode.UNDECIDED,
        )
    if before.different:
        raise LabError(
            "The tables differ from their sources, so a run could not tell what it lost",
            hint="`labctl verify` shows where; `labctl table rebuild TABLE` repairs",
            exit_code=ExitCode.DIFFERENT,
        )
    return _Run(lab, plan, history, say).report()


class _Run:
    def __init__(
        self, lab: Lab, plan: SoakPlan, history: History, say: Callable[[str], None]
    ) -> None:
        self._lab = lab
        self._plan = plan
        self._history = history
        self._say = say
        self._lake = Lake(lab.endpoints.objectstore)
        self._tables: dict[str, _Table] = {}
        for target in soak_tables(lab, plan.tables):
            with connect(lab.endpoints, target.source) as source:
                first_key = target.first_key(source)
            tracker = Tracker()
            follower = TableFollower(self._lake, target, first_key, tracker)
            self._tables[target.silver] = _Table(target, first_key, follower, tracker)
        self._done: queue.SimpleQueue[Acknowledged] = queue.SimpleQueue()
        self._writers = [
            SoakWriter(
                lab.endpoints,
                table.target,
                plan_transactions(table.first_key, f"{plan.seed} {name}"),
                rate=plan.rate / len(self._tables),
                history=history,
                done=self._done,
            )
            for name, table in self._tables.items()
        ]
        self._resources = ResourceSampler(lab, self._lake, list(self._tables))
        self._faults: list[FaultRun] = []
        self._begun = 0.0

    def report(self) -> SoakReport:
        load = psutil.getloadavg()
        versions = service_versions(self._lab)
        self._begun = time.time()
        self._begun_monotonic = time.monotonic()
        with ExitStack() as ended:
            for table in self._tables.values():
                ended.callback(self._remove_rows, table)
            for follower in [table.follower for table in self._tables.values()]:
                follower.start()
                ended.callback(follower.stop)
            self._resources.start()
            ended.callback(self._resources.stop)
            self._write_and_fault()
            self._say("waiting until every change can be queried")
            self._wait(self._all_queryable, _DRAIN_SECONDS)
            self._resources.stop()
            self._say("checking silver and bronze")
            findings = {name: self._check(table) for name, table in self._tables.items()}
            verified = verify_lab(self._lab, list(self._tables), timeout=_DRAIN_SECONDS).equal
        arrivals = [a for t in self._tables.values() for a in t.tracker.arrivals]
        waits = [a.queryable - a.committed for a in arrivals]
        recovered = {
            kind: [f.recovery_seconds for f in self._faults if kind in (f.kind, "all")]
            for kind in ("all", *dict.fromkeys(f.kind for f in self._faults))
        }
        return SoakReport(
            lab=self._lab.name,
            profile=self._lab.profile,
            environment=describe(self._lab.project, versions, load),
            seed=self._plan.seed,
            minutes=round((self._plan.seconds or 0) / 60, 2),
            rate=self._plan.rate,
            kinds=[str(kind) for kind in self._plan.kinds],
            started_at=datetime.fromtimestamp(self._begun, UTC).isoformat(timespec="seconds"),
            transactions={str(k): v for k, v in self._history.counts.items()},
            tables=[
                TableSoak(
                    table=name,
                    source_table=str(table.target.ref),
                    engine=table.target.engine,
                    acknowledged=table.expected.count,
                    stale=len(table.tracker.stale),
                    stepped_back=table.tracker.stepped_back,
                    finding=findings[name],
                )
                for name, table in self._tables.items()
            ],
            verified=verified,
            end_to_end=percentiles_of(waits),
            faults=self._faults,
            recovery={
                kind: found
                for kind, values in recovered.items()
                if (found := percentiles_of([v for v in values if v is not None]))
            },
            growth=self._resources.growth(),
            timeline=_seconds_of(arrivals, self._begun),
        )

    def _write_and_fault(self) -> None:
        kinds = fitting_kinds(self._lab, self._plan.kinds)
        services = [service.name for service in self._lab.services]
        faults = plan_faults(kinds, services, f"{self._plan.seed} faults")
        once = sum(len(services) if kind.of_one_service else 1 for kind in kinds)
        for writer in self._writers:
            writer.start()
        try:
            self._follow(self._plan.healthy_seconds)
            count = 0
            while kinds and self._goes_on(count, once):
                self._fault(next(faults))
                self._follow(self._plan.healthy_seconds)
                count += 1
            while self._goes_on(count, once):
                self._follow(self._plan.healthy_seconds)
        except BaseException:
            for writer in self._writers:
                writer.abandon()
            raise
        for writer in self._writers:
            writer.stop()
            writer.check()
        self._drain_queues()

    def _goes_on(self, count: int, once: int) -> bool:
        if self._plan.seconds is None:
            return count < once
        return time.monotonic() - self._begun_monotonic < self._plan.seconds

    def _fault(self, fault: PlannedFault) -> None:
        self._say(f"{time.time() - self._begun:6.0f} s  {fault}")
        self._history.event("fault", fault=str(fault))
        for table in self._tables.values():
            table.tracker.fault_begins()
        begin = time.time()
        inject(self._lab, fault)
        end = time.time()
        self._history.event("fault over", fault=str(fault))
        for table in self._tables.values():
            table.tracker.ask_for_change_after(end)
        recovered = self._await_recovery()
        took = None if recovered is None else round(recovered - end, 2)
        self._history.event("recovered", fault=str(fault), seconds=took)
        self._faults.append(
            FaultRun(
                kind=str(fault.kind),
                service=fault.service,
                begin=round(begin - self._begun, 2),
                end=round(end - self._begun, 2),
                recovery_seconds=took,
            )
        )
        self._say(
            f"{time.time() - self._begun:6.0f} s  "
            + (f"fresh again after {took:.1f} s" if took is not None else "NOT fresh again")
        )
        if took is None:
            self._explain()

    def _await_recovery(self) -> float | None:
        """Wait for the lab's recovery and return its time, or None if it takes too long.

        The lab has recovered once every table has shown a change committed after the fault, and all
        services are usable. A table can be fresh while a service that it does not need is still
        stopped.
        """
        fresh = self._wait(self._fresh_again, _RECOVERY_SECONDS)
        if fresh is None or self._usable():
            return fresh
        return self._wait(self._usable, _RECOVERY_SECONDS)

    def _fresh_again(self) -> float | None:
        found = [table.tracker.fresh_at for table in self._tables.values()]
        return None if None in found else max(f for f in found if f is not None)

    def _usable(self) -> float | None:
        asked = time.time()
        return asked if read_status(self._lab).ready else None

    def _all_queryable(self) -> float | None:
        under_way = sum(table.tracker.under_way for table in self._tables.values())
        return None if under_way else time.time()

    def _follow(self, seconds: float) -> None:
        self._wait(lambda: None, seconds)

    def _wait(self, condition: Callable[[], float | None], seconds: float) -> float | None:
        """Wait until `condition` returns a value, and return it; None after `seconds`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            time.sleep(_ROUND_SECONDS)
            self._drain_queues()
            for writer in self._writers:
                writer.check()
            if (found := condition()) is not None:
                return found
        return None

    def _drain_queues(self) -> None:
        while not self._done.empty():
            done = self._done.get()
            table = self._tables[done.table]
            table.expected.add(done.operations)
            table.operations.extend(done.operations)
            table.tracker.acknowledged(done.operations, done.begun, done.at)

    def _check(self, table: _Table) -> Finding:
        finding = Finding()
        check_silver(self._lake, table.target, table.first_key, table.expected, finding)
        bronze = BronzeRecords(lab_bronze(self._lab), table.target, table.first_key)
        deadline = time.monotonic() + _DRAIN_SECONDS
        while True:
            bronze.read(self._begun)
            latest = Finding()
            bronze.check(table.operations, latest)
            if not latest.missing_in_bronze or time.monotonic() > deadline:
                break
            time.sleep(_LOOK_SECONDS)
        finding.missing_in_bronze = latest.missing_in_bronze
        finding.twice_in_bronze = latest.twice_in_bronze
        finding.gaps_in_bronze = latest.gaps_in_bronze
        for words in (*latest.examples, *table.tracker.stale):
            finding.note(words)
        return finding

    def _explain(self) -> None:
        """Report where the oldest change that has not arrived is stuck."""
        for table in self._tables.values():
            key = table.tracker.stuck()
            if key is not None:
                row = (table.target.silver, {table.target.key: key})
                for line in trace_row(self._lab, row):
                    self._say(line)
                return

    def _remove_rows(self, table: _Table) -> None:
        target = table.target
        try:
            with connect(self._lab.endpoints, target.source) as source:
                remove_rows(source, target, table.first_key)
        except LabError as error:
            self._say(
                f"Rows of the run stay in {target.ref} ({target.key} >= {table.first_key}): "
                f"{error.what}"
            )


def _seconds_of(arrivals: Sequence[Arrival], begun: float) -> list[SoakSecond]:
    """Return the run's seconds in which something was committed."""
    by_second: dict[int, list[float]] = {}
    for arrival in arrivals:
        second = int(arrival.committed - begun)
        by_second.setdefault(second, []).append(arrival.queryable - arrival.committed)
    return [
        SoakSecond(
            second=second,
            committed=len(waits),
            p50=round(sorted(waits)[len(waits) // 2], 3),
            maximum=round(max(waits), 3),
        )
        for second, waits in sorted(by_second.items())
    ]
