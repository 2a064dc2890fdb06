"""Measuring how cost grows: run the same scenario repeatedly, and enlarge one dimension each time.

The dimensions are table size (rows), number of tables, rate of changes, and age (changes made to
one table so far).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass

import psutil
from pyarrow import fs

from labctl.counted import counted
from labctl.errors import ExitCode, LabError
from labctl.kafka.topic_records import Topics
from labctl.lab.lab import Lab
from labctl.lab.observe.service_status import service_versions
from labctl.lake import Lake
from labctl.lake.objectstore import LakeStorage
from labctl.latency.environment import describe
from labctl.latency.growth_report import GrowthName, GrowthReport, Step
from labctl.latency.latency_report import RunReport
from labctl.latency.latency_run import Observer, run_scenario
from labctl.latency.scenario import Scenario
from labctl.latency.shadow_tables import Twin, changed, type_of, wait_until_caught_up
from labctl.latency.target_selection import on_tables, silver_rows, smallest_table
from labctl.latency.targets import describe_target
from labctl.latency.writing import prepare_rows, remove_rows
from labctl.sources import connect
from sqlapi.hudi.names import OWN_FOLDER

__all__ = ["measure_growth"]

_FILL_FROM = 500_000_000
"""First key of the rows that make a table large; below the keys of runs."""
_FILL_SECONDS = 3_600.0
_POLL_SECONDS = 0.5

Steps = Generator["_Grown", None, None]


@dataclass(frozen=True)
class _Grown:
    """The lab and the scenario that a step is measured with."""

    lab: Lab
    scenario: Scenario


def measure_growth(
    lab: Lab,
    growth: GrowthName,
    steps: Sequence[int],
    name: str,
    scenario: Scenario,
    *,
    seed: int,
    observer: Observer,
    note: Callable[[GrowthReport], None] = lambda _report: None,
) -> GrowthReport:
    """Run `scenario` (on its first table) at each of `steps`, which must rise.

    `note` gets the report so far after each step, because a step can take hours. Everything added
    is removed at the end, except rows that silver keeps as deleted. Raises LabError (USAGE) for
    steps that cannot be made.
    """
    lab.require_running().require_here()
    _check(growth, steps, scenario)
    scenario = on_tables(lab, scenario)
    scenario = scenario.model_copy(update={"tables": scenario.tables[:1]})
    report = GrowthReport(
        growth=growth,
        name=name,
        scenario=scenario,
        environment=describe(lab.project, service_versions(lab), psutil.getloadavg()),
        seed=seed,
        table=scenario.tables[0],
        steps=[],
    )
    with closing(_GROWTHS[growth](lab, steps, scenario, observer)) as all_grown:
        for at, grown in zip(steps, all_grown, strict=True):
            run = run_scenario(grown.lab, name, grown.scenario, seed=seed, observer=observer)
            report = report.model_copy(update={"steps": [*report.steps, _step(at, run, lab)]})
            note(report)
    return report


def _check(growth: GrowthName, steps: Sequence[int], scenario: Scenario) -> None:
    if list(steps) != sorted({*steps}) or not steps or steps[0] < 1:
        raise LabError(
            f"Steps must be numbers from 1 on that rise, found {', '.join(map(str, steps))}",
            hint="--steps 10000,100000,1000000",
            exit_code=ExitCode.USAGE,
        )
    if scenario.changes is None or (scenario.table_type and growth != "rate"):
        raise LabError(
            f"Growth by {growth} needs a scenario with changes, to a table as it is",
            hint="--scenario idle, without a table type",
            exit_code=ExitCode.USAGE,
        )


def _rows(lab: Lab, steps: Sequence[int], scenario: Scenario, observer: Observer) -> Steps:
    """Add rows to the table at the source, and wait until silver has them, for each step."""
    table = lab.table(scenario.tables[0])
    topics = Topics(lab.endpoints.kafka, lab.endpoints.registry)
    with connect(lab.endpoints, table.source) as source:
        target = describe_target(table, source)
        try:
            for step in steps:
                have = source.count(target.ref)
                if have > step:
                    raise LabError(
                        f"{target.ref} has {have:,} rows already, more than {step:,}",
                        hint="begin --steps above that",
                        exit_code=ExitCode.USAGE,
                    )
                observer.phase(f"making {step - have:,} rows more in {target.ref}")
                before = _records(topics, table.topic)
                first = max(_FILL_FROM, target.highest_key(source) + 1)
                prepare_rows(source, target, first, step - have)
                _wait_for_records(topics, table.topic, before + step - have)
                wait_until_caught_up(lab, [table], seconds=_FILL_SECONDS)
                yield _Grown(lab, scenario)
        finally:
            observer.phase(f"removing the rows from {target.ref} again")
            remove_rows(source, target, _FILL_FROM)


def _records(topics: Topics, topic: str) -> int:
    return next((found.records for found in topics.topics() if found.name == topic), 0)


def _wait_for_records(topics: Topics, topic: str, count: int) -> None:
    deadline = time.monotonic() + _FILL_SECONDS
    while (records := _records(topics, topic)) < count:
        if time.monotonic() > deadline:
            raise LabError(
                f"{topic} has {records:,} of {count:,} records after {_FILL_SECONDS:.0f} s",
                hint="labctl connectors status, labctl logs connect",
            )
        time.sleep(_POLL_SECONDS)


def _tables(lab: Lab, steps: Sequence[int], scenario: Scenario, observer: Observer) -> Steps:
    """Add tables to the same application, as twins of the smallest table, for each step."""
    small, have = lab.table(smallest_table(silver_rows(lab))), len(lab.tables)
    for step in steps:
        if step < have:
            raise LabError(
                f"This lab has {have} tables already, more than {step}",
                hint=f"begin --steps with {have}",
                exit_code=ExitCode.USAGE,
            )
        twins = [
            Twin(small, f"{small.properties.table}_{number}", type_of(small), in_its_place=False)
            for number in range(1, step - have + 1)
        ]
        observer.phase(f"bringing the application up with {counted(step, 'table')}")
        with changed(lab, observer, twins=twins) as other:
            yield _Grown(other, scenario)


def _rate(lab: Lab, steps: Sequence[int], scenario: Scenario, _observer: Observer) -> Steps:
    """Raise the number of changes per second for each step."""
    for step in steps:
        yield _Grown(lab, scenario.with_options(rate=float(step)))


def _age(lab: Lab, steps: Sequence[int], scenario: Scenario, _observer: Observer) -> Steps:
    """Raise the number of changes made so far. Each step makes only the changes still missing."""
    made = 0
    for step in steps:
        yield _Grown(lab, scenario.with_options(count=step - made))
        made = step


_GROWTHS: dict[GrowthName, Callable[[Lab, Sequence[int], Scenario, Observer], Steps]] = {
    "rows": _rows,
    "tables": _tables,
    "rate": _rate,
    "age": _age,
}


def _step(at: int, report: RunReport, lab: Lab) -> Step:
    services = report.services or []
    silver = next((one for one in services if one.service == "silver"), None)
    storage = LakeStorage.of(lab.endpoints.objectstore)
    entries = storage.list(Lake(storage).table(report.tables[0].table).path, recursive=True)
    files = [entry for entry in entries if entry.type == fs.FileType.File]
    data = [entry for entry in files if f"/{OWN_FOLDER}/" not in entry.path]
    return Step(
        at=at,
        end_to_end=report.hop("end_to_end").percentiles,
        hudi=report.hop("hudi").percentiles,
        query=report.hop("query").percentiles,
        queryable_per_second=report.queryable_per_second,
        silver_memory_bytes=silver.peak_memory_bytes if silver else None,
        lab_memory_bytes=sum(one.peak_memory_bytes for one in services) if services else None,
        silver_cpu_seconds_per_change=(
            round(silver.cpu_seconds / report.counts.written, 4) if silver else None
        ),
        requests_per_change=report.requests_per_change,
        data_files=len(data),
        data_bytes=sum(entry.size or 0 for entry in data),
        timeline_files=len(files) - len(data),
        sound=report.sound,
    )
