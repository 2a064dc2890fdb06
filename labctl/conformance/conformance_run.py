"""A whole run: batches of generated tables, shrinking of failures, and the report."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from types import FrameType

import psutil

from labctl.conformance.batch import Batches
from labctl.conformance.cases import Case
from labctl.conformance.conformance_report import ConformanceReport, counts_of, failure_of, named_of
from labctl.conformance.generation import generate
from labctl.conformance.judging import End, Result
from labctl.conformance.matrix import matrix_of
from labctl.conformance.shrink import shrink
from labctl.conformance.stage import staged
from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.observe.service_status import service_versions
from labctl.latency.environment import Environment, describe

__all__ = [
    "Plan",
    "environment",
    "interruptible",
    "planned_batches",
    "planned_cases",
    "run_conformance",
]

Say = Callable[[str], None]
_SAID = 300
"""Longest reason in a progress message, in characters; the report has longer ones."""


@dataclass(frozen=True)
class Plan:
    """The settings of a run."""

    engines: tuple[EngineName, ...] = ()
    """Engines to test; empty: all engines of the lab's sources."""
    first_seed: int = 0
    tables: int = 60
    minutes: float | None = None
    """Minutes to run tables for, instead of `tables`; None: run `tables` tables."""
    batch: int = 60
    """Number of tables in the lab at a time."""
    faults: bool = False
    shrink: int = 10
    """Highest number of failures that are shrunk."""


def planned_cases(plan: Plan, engines: Sequence[EngineName]) -> Iterator[Case]:
    """Yield the tables of a run, the engines in turn, each with seeds from the first one on.

    With `minutes`, yield tables without end.
    """
    for number in count() if plan.minutes else range(plan.tables):
        seed = plan.first_seed + number // len(engines)
        yield generate(engines[number % len(engines)], seed, faults=plan.faults)


def planned_batches(
    plan: Plan,
    engines: Sequence[EngineName],
    *,
    now: Callable[[], float] = time.monotonic,
) -> Iterator[list[Case]]:
    """Yield the tables of a run in batches.

    With `minutes`, each batch has all engines of each seed, and a batch starts only if the longest
    batch so far would fit into the remaining time. The first batch always starts.
    """
    cases = planned_cases(plan, engines)
    size = plan.batch
    if plan.minutes:
        size = -(-size // len(engines)) * len(engines)
    begun = now()
    longest = 0.0
    while batch := list(islice(cases, size)):
        started = now()
        if plan.minutes and longest and started + longest > begun + 60 * plan.minutes:
            return
        yield batch
        longest = max(longest, now() - started)


def run_conformance(lab: Lab, plan: Plan, say: Say = lambda _: None) -> ConformanceReport:
    """Run generated tables on a running lab, and remove everything that was created for them.

    Raises LabError (USAGE) for an engine that the lab has no source of.
    """
    load = psutil.getloadavg()
    engines = _engines(lab, plan)
    begun = time.monotonic()
    with interruptible(), staged(lab, engines) as stage, Batches(stage, say) as batches:
        results: list[Result] = []
        for batch in planned_batches(plan, engines):
            found = batches.run(batch)
            for one in found:
                if one.end in (End.FAILED, End.INVALID):
                    say(f"{one.case.label} {one.end}: {' '.join(one.reason.split())[:_SAID]}")
            results += found
            say(f"{len(results)} tables{_left(plan, begun)}: {_counted(results)}")
        ran = time.monotonic() - begun
        failures = [result for result in results if result.end is End.FAILED]
        if failures and plan.shrink:
            say(f"making {min(len(failures), plan.shrink)} failing tables smaller")
        shrunk = _shrunk(failures, plan.shrink, batches, plan.batch)
        missing = batches.missing_kinds
    return ConformanceReport(
        environment=environment(lab, load),
        first_seed=plan.first_seed,
        tables=len(results),
        faults=plan.faults,
        seconds=round(time.monotonic() - begun, 1),
        tables_per_minute=round(len(results) * 60 / ran, 1),
        engines=counts_of(results),
        missing_types=missing,
        failures=tuple(map(failure_of, shrunk)),
        named=named_of(results),
        matrix=tuple(matrix_of(results, shrunk, missing)),
        blames_values=True,
    )


def environment(lab: Lab, load: tuple[float, float, float] | None = None) -> Environment:
    """Return the environment of a run; `load` is the load before it, by default the current one."""
    return describe(lab.project, service_versions(lab), load or psutil.getloadavg())


def _shrunk(failures: Sequence[Result], count: int, batches: Batches, batch: int) -> list[Result]:
    """Return the failures, with the first `count` of them shrunk."""

    def run(cases: Sequence[Case]) -> list[Result]:
        found: list[Result] = []
        for start in range(0, len(cases), batch):
            found += batches.run(cases[start : start + batch])
        return found

    first = _of_each_sort(failures)[:count]
    rest = [failure for failure in failures if not any(failure is one for one in first)]
    return [*(shrink(first, run) if first else []), *rest]


def _of_each_sort(failures: Sequence[Result]) -> list[Result]:
    """Return the failures, with one for each kind of reason first."""
    seen: dict[tuple[str, str], int] = {}
    rank = []
    for failure in failures:
        sort = (failure.case.engine, re.sub(r"\W*\d[\w.]*|'[^']*'", "", failure.reason)[:60])
        rank.append(seen.get(sort, 0))
        seen[sort] = seen.get(sort, 0) + 1
    return [failures[place] for place in sorted(range(len(failures)), key=rank.__getitem__)]


def _engines(lab: Lab, plan: Plan) -> list[EngineName]:
    there = list(dict.fromkeys(source.engine for source in lab.config.sources.values()))
    for engine in plan.engines:
        if engine not in there:
            raise LabError(
                f"Lab {lab.name!r} has no source with the engine {engine!r}",
                hint=f"its engines: {', '.join(there)}",
                exit_code=ExitCode.USAGE,
            )
    return list(plan.engines) or there


def _left(plan: Plan, begun: float) -> str:
    if plan.minutes:
        return f" in {(time.monotonic() - begun) / 60:.0f} of {plan.minutes:g} minutes"
    return f" of {plan.tables}"


def _counted(results: Sequence[Result]) -> str:
    counts = {end: sum(result.end is end for result in results) for end in End}
    return ", ".join(f"{count} {end}" for end, count in counts.items() if count)


@contextmanager
def interruptible() -> Iterator[None]:
    """Make SIGTERM clean up as Ctrl-C does, and ignore further signals during the cleanup."""
    numbers = (signal.SIGINT, signal.SIGTERM)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        for number in numbers:
            signal.signal(number, _wait)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait(_number: int, _frame: FrameType | None) -> None:
    """Ignore a signal. Unlike SIG_IGN, a new process does not inherit this handler."""
