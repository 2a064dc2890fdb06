"""Running a scenario on a lab: prepare, change rows, follow the changes, check, report."""

from __future__ import annotations

import queue
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol

import psutil
import pyarrow.compute as pc

from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.starting import UpReporter
from labctl.lab.tables.bronze_folders import lab_bronze
from labctl.lake import Lake, View
from labctl.latency.bronze_objects import BronzeObjects
from labctl.latency.following import SilverFollower, TopicFollower
from labctl.latency.latency_report import RunReport, ServiceUsage
from labctl.latency.ledger import Ledger, Message, Version
from labctl.latency.load import ChangeLoad, Load, SnapshotLoad
from labctl.latency.outage import OutageMaker
from labctl.latency.preparing import PreparedLab, prepared
from labctl.latency.reporting import Finding, Taken, compose
from labctl.latency.requests import RequestTrace
from labctl.latency.scenario import Scenario
from labctl.latency.target_selection import on_tables
from labctl.latency.targets import Target
from labctl.latency.usage import ServiceSampler

__all__ = ["Observer", "run_scenario"]

_ROUND_SECONDS = 0.05
"""Seconds between two rounds of collecting the threads' results."""
_PREPARE_SECONDS = 300.0
_BRONZE_LOOK_SECONDS = 1.0


class Observer(UpReporter, Protocol):
    """Callbacks for a run's progress, from the thread that called `run_scenario`."""

    def phase(self, words: str) -> None:
        """Report the step that begins now."""

    def progress(self, ledger: Ledger, planned: int, away: str | None) -> None:
        """Report how far the changes are; `away` is the service that is stopped, if any."""


class _Part(Protocol):
    """A part that runs on its own thread during the run."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


@dataclass
class _Queues:
    received: queue.SimpleQueue[Message] = field(default_factory=queue.SimpleQueue)
    shown: queue.SimpleQueue[tuple[str, list[Version]]] = field(default_factory=queue.SimpleQueue)


def run_scenario(
    lab: Lab, name: str, scenario: Scenario, *, seed: int, observer: Observer
) -> RunReport:
    """Run `scenario` on the tables that `on_tables` chooses, and return the report.

    The rows it makes are removed from the sources at the end. Raises LabError if the lab cannot run
    the scenario, or if a part fails permanently. Lost changes raise no error; the report counts
    them.
    """
    scenario = on_tables(lab.require_running(), scenario)
    observer.phase("pointing the lab at the scenario")
    with prepared(lab, scenario, observer) as at:
        load: Load
        if scenario.changes is None:
            load = SnapshotLoad(at)
        else:
            load = ChangeLoad(at, scenario.changes, seed=seed)
        with load:
            return _Run(lab, at, name, scenario, load, seed, observer).report()


class _Run:
    """A run, from its preparation to its report."""

    def __init__(
        self,
        lab: Lab,
        at: PreparedLab,
        name: str,
        scenario: Scenario,
        load: Load,
        seed: int,
        observer: Observer,
    ) -> None:
        self._lab = lab
        self._at = at
        self._name = name
        self._scenario = scenario
        self._load = load
        self._seed = seed
        self._observer = observer
        self._ledger = Ledger()
        self._queues = _Queues()
        self._lake = Lake(at.lab.endpoints.objectstore)
        self._preparing = True
        self._topics = TopicFollower(
            at.lab.endpoints, load.targets, load.first_keys, self._queues.received
        )
        self._tables = [
            SilverFollower(
                self._lake,
                target,
                load.first_keys[target.silver],
                self._is_awaited,
                lambda: self._requests.is_live,
                self._queues.shown,
            )
            for target in load.targets
        ]
        self._requests = RequestTrace(at.lab.endpoints.objectstore, self._tell_of_write)
        self._outage = OutageMaker(at.lab, scenario.outage) if scenario.outage else None
        self._is_here = at.lab.config.profiles[at.lab.profile].runtime != "aws"

    def report(self) -> RunReport:
        with ExitStack() as ended:
            parts: list[_Part] = [self._requests, self._topics, *self._tables]
            for part in parts:
                part.start()
                ended.callback(part.stop)
            self._prepare()
            taken = self._measure(ended)
            self._observer.phase("waiting for bronze")
            self._await_bronze()
        self._observer.phase("checking silver")
        findings = [self._check(target) for target in self._load.targets]
        return compose(
            self._lab,
            self._at,
            self._name,
            self._scenario,
            self._load,
            self._seed,
            self._ledger,
            taken,
            findings,
            producer_time=self._topics.timestamp_type == 1,
        )

    def _tell_of_write(self, path: str) -> None:
        for table in self._tables:
            table.told(path)

    def _is_awaited(self) -> bool:
        return self._preparing or self._ledger.queryable < self._ledger.in_kafka

    def _prepare(self) -> None:
        """Create the rows that will be changed, and wait until silver has them."""
        wanted = self._load.prepared
        if wanted:
            self._observer.phase(f"making {wanted:,} rows to change")
            self._load.prepare()
        seen: set[tuple[str, int]] = set()
        deadline = time.monotonic() + _PREPARE_SECONDS
        while len(seen) < wanted:
            self._check_threads()
            if time.monotonic() > deadline:
                raise LabError(
                    f"Only {len(seen):,} of {wanted:,} rows made for the run are in silver after "
                    f"{_PREPARE_SECONDS:.0f} s",
                    hint="labctl status shows where they are stuck",
                    exit_code=ExitCode.NOT_READY,
                )
            try:
                table, versions = self._queues.shown.get(timeout=_ROUND_SECONDS)
            except queue.Empty:
                continue
            seen.update((table, version.key) for version in versions)
        self._preparing = False

    def _measure(self, ended: ExitStack) -> Taken:
        self._requests.begin()
        usage: ServiceSampler | None = None
        machine_load = psutil.getloadavg()
        if self._is_here:
            usage = ServiceSampler(self._at.lab)
            usage.start()
            ended.callback(usage.stop)
        self._observer.phase(self._scenario.title)
        self._load.start()
        ended.callback(self._load.stop)
        if self._outage is not None:
            self._outage.start()
            ended.callback(self._outage.cancel)
        self._follow()
        services: list[ServiceUsage] | None = None
        own: float | None = None
        if usage is not None:
            usage.stop()
            services, own = usage.usage()
        return Taken(
            services=services,
            measuring_cpu_seconds=own,
            object_store=self._requests.usage(),
            outage=self._outage,
            machine_load=machine_load,
        )

    def _follow(self) -> None:
        """Wait until every change is queryable, or nothing has moved for `drain` seconds."""
        moved, so_far = time.monotonic(), (0, 0, 0)
        while not self._has_all_arrived():
            time.sleep(_ROUND_SECONDS)
            self._check_threads()
            self._drain_queues()
            away = self._outage.current if self._outage else None
            self._observer.progress(self._ledger, self._load.planned, away)
            now = (len(self._ledger.traces), self._ledger.in_kafka, self._ledger.queryable)
            if now != so_far or away:
                moved, so_far = time.monotonic(), now
            elif time.monotonic() - moved > self._scenario.drain:
                return

    def _has_all_arrived(self) -> bool:
        if not self._load.is_done() or (self._outage and not self._outage.is_over()):
            return False
        # The writers' last commits may still be in the queue.
        self._drain_queues()
        return self._ledger.queryable == len(self._ledger.traces) == self._load.planned

    def _drain_queues(self) -> None:
        for done in self._load.committed():
            self._ledger.written(done.table, done.changes, done.begun, done.committed)
        while not self._queues.received.empty():
            self._ledger.received(self._queues.received.get())
        while not self._queues.shown.empty():
            self._ledger.shown(*self._queues.shown.get())

    def _check_threads(self) -> None:
        for follower in (self._topics, *self._tables):
            follower.check()

    def _await_bronze(self) -> None:
        objects = BronzeObjects(lab_bronze(self._at.lab))
        deadline = time.monotonic() + self._scenario.drain
        while True:
            for target in self._load.targets:
                objects.note(self._ledger, target)
            if not self._ledger.not_in_bronze() or time.monotonic() > deadline:
                return
            time.sleep(_BRONZE_LOOK_SECONDS)

    def _check(self, target: Target) -> Finding:
        """Compare the table now with the last change of every row, in one scan."""
        table = self._lake.table(target.silver)
        wanted = [target.key, target.number, "__kafka_offset"]
        rows = table.read(columns=list(dict.fromkeys(wanted)), view=View(deleted=True))
        rows = rows.filter(pc.field(target.key) >= self._load.first_keys[target.silver])
        return Finding.of(target, rows, self._ledger)
