"""Measuring the floors and the lab itself in one run."""

from __future__ import annotations

import secrets
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from random import Random

import psutil

from labctl.errors import LabError
from labctl.floor.commit_floors import writers_of
from labctl.floor.floor_report import FloorReport, figures_of
from labctl.floor.request_floors import kafka_floor, store_floor
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.down import destroy
from labctl.lab.lifecycle.up import up
from labctl.lab.observe.service_status import service_versions
from labctl.lake import Lake
from labctl.latency.environment import describe
from labctl.latency.lab_figures import load_rows, require_new
from labctl.latency.latency_run import Observer, run_scenario
from labctl.latency.scenario import find_scenario
from labctl.latency.target_selection import on_tables

__all__ = ["measure_floor", "measure_floor_on_new_lab"]

SCENARIO = "idle"
_WARM_UP = 20
"""Most warm-up rounds, in which the JVM compiles its code; never more than the counted rounds."""


def measure_floor_on_new_lab(
    lab: Lab,
    observer: Observer,
    say: Callable[[str], None],
    *,
    rounds: int,
    changes: int | None = None,
) -> FloorReport:
    """Create a lab, load its data sets, measure on it, and destroy it.

    Raises LabError if the lab exists.
    """
    require_new(lab)
    up(lab, observer)
    try:
        load_rows(lab, say)
        return measure_floor(lab, observer, rounds=rounds, changes=changes)
    finally:
        destroy(lab)


def measure_floor(
    lab: Lab, observer: Observer, *, rounds: int, changes: int | None = None
) -> FloorReport:
    """Measure on a running, seeded lab, and remove everything that was created for it.

    Each round queries the store, sends a message and commits one row with each writer, in a random
    order. The scenario `idle` follows. Raises LabError if a change is lost, duplicated or wrong.
    """
    lab.require_running()
    load = psutil.getloadavg()
    versions = service_versions(lab)
    name, scenario = find_scenario(lab.project, SCENARIO)
    scenario = on_tables(lab, scenario.with_options(count=changes))
    table = lab.table(scenario.tables[0])
    token = f"floor-{secrets.token_hex(4)}"
    with ExitStack() as open_parts:
        observer.phase(f"copying {table.name} for each writer")
        lake = Lake(lab.endpoints.objectstore)
        writers = open_parts.enter_context(writers_of(lake, lab.artifacts, table, f"{token}/"))
        store = open_parts.enter_context(store_floor(lab.endpoints.objectstore, f"{token}-store/"))
        kafka = open_parts.enter_context(kafka_floor(lab.endpoints.kafka, token))
        parts: dict[str, Callable[[int], Callable[[], object]]] = {
            "put": partial(partial, store.put),
            "list": partial(partial, store.list),
            "head": partial(partial, store.head),
            "message": partial(partial, kafka.message),
            **{one: partial(writers.prepare, one) for one in writers.names},
        }
        taken = _in_turn(parts, rounds, observer)
        rows = writers.count
    report = run_scenario(lab, name, scenario, seed=1, observer=observer)
    if not report.sound:
        raise LabError(
            "Changes were lost, are there twice, or are not as they were made",
            hint=f"labctl test latency run {name} shows which",
        )
    for sample in report.samples:
        if sample.event is not None and sample.kafka is not None:
            taken["debezium"].append(sample.event + sample.kafka)
        if sample.end_to_end is not None:
            taken["end_to_end"].append(sample.end_to_end)
    return FloorReport(
        environment=describe(lab.project, versions, load),
        table=table.name,
        rows=rows,
        rounds=rounds,
        figures=figures_of(taken),
    )


def _in_turn(
    parts: dict[str, Callable[[int], Callable[[], object]]], rounds: int, observer: Observer
) -> dict[str, list[float]]:
    """Return the seconds of each part by round, without the warm-up rounds."""
    order = Random(1)  # noqa: S311 - the same in every run
    taken: dict[str, list[float]] = defaultdict(list)
    warm_up = min(_WARM_UP, rounds)
    for number in range(warm_up + rounds):
        observer.phase(f"round {number + 1} of {warm_up + rounds}")
        for name in order.sample([*parts], len(parts)):
            action = parts[name](number)
            begun = time.perf_counter()
            action()
            if number >= warm_up:
                taken[name].append(time.perf_counter() - begun)
    return taken
