"""The lab's own figures: start, snapshot, latency of one row, and resources at rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from labctl.errors import LabError
from labctl.lab.connectors.connector_states import apply_and_wait
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.down import destroy, down
from labctl.lab.lifecycle.seeding import seed_lab
from labctl.lab.lifecycle.up import up
from labctl.lab.observe.pipeline_state import silver_status
from labctl.lab.observe.service_status import read_status
from labctl.lab.tables.verification import verify_lab
from labctl.lake import Lake
from labctl.latency.environment import Environment, describe
from labctl.latency.latency_report import Percentiles
from labctl.latency.latency_run import Observer, run_scenario
from labctl.latency.scenario import find_scenario
from labctl.latency.target_selection import silver_rows
from labctl.latency.usage import ServiceSampler

__all__ = ["Loaded", "PipelineFigures", "load_rows", "measure_pipeline", "require_new"]

SNAPSHOT_SECONDS = 600.0
STATUS_SECONDS = 0.2
SCENARIO = "idle"
SEED = 1
"""Seed of the changes, so that every run changes the same rows."""
REST_SECONDS = 60.0


@dataclass(frozen=True)
class PipelineFigures:
    """The figures of one lab, in seconds unless the name says otherwise."""

    environment: Environment
    first_up: float
    """First start, with all downloads cached and an empty state folder."""
    up_again: list[float]
    seed: float | None
    """Time to seed the sources; None for a lab without a data set."""
    snapshot_rows: int
    """Number of rows in silver; a source's rows count once per table that reads them."""
    snapshot: float
    """Time from applying the connectors until queries over silver counted every row."""
    compared: float
    """The same, but until every row was also compared with its source."""
    one_row: Percentiles
    """Latency in the scenario `idle`, from the commit until a query over silver returned the
    change."""
    memory_gib: float
    """Proportional set size of all services after the scenario."""
    idle_cores: float
    """CPU seconds per second of all services, over a minute without a change."""


def measure_pipeline(
    lab: Lab, observer: Observer, say: Callable[[str], None], *, ups: int, changes: int | None
) -> PipelineFigures:
    """Create a lab, measure on it, and destroy it. Raises LabError if the lab exists."""
    require_new(lab)
    load = psutil.getloadavg()
    first = up(lab, observer)
    environment = describe(lab.project, first.versions, load)
    try:
        say(f"up {first.seconds:.1f} s")
        loaded = load_rows(lab, say)
        one_row = _one_row(lab, observer, changes)
        say(f"one row p50 {one_row.p50:.2f} s")
        memory = sum(s.memory_bytes for s in read_status(lab).services) / 1024**3
        idle = _cores_at_rest(lab)
        say(f"idle {idle:.2f} cores")
        again = []
        for _ in range(ups):
            down(lab)
            again.append(round(up(lab, observer).seconds, 1))
            say(f"up again {again[-1]:.1f} s")
    finally:
        destroy(lab)
    return PipelineFigures(
        environment=environment,
        first_up=round(first.seconds, 1),
        up_again=again,
        seed=loaded.seed,
        snapshot_rows=loaded.rows,
        snapshot=round(loaded.queried, 1),
        compared=round(loaded.compared, 1),
        one_row=one_row,
        memory_gib=round(memory, 2),
        idle_cores=round(idle, 3),
    )


def require_new(lab: Lab) -> None:
    """Raise LabError if a lab of that name exists."""
    if lab.state.exists:
        raise LabError(
            f"Lab {lab.name!r} exists; a benchmark starts from nothing",
            hint=f"labctl destroy --lab {lab.name}, or name another with --lab",
        )


@dataclass(frozen=True)
class Loaded:
    """The first load of a new lab. Times are in seconds."""

    seed: float | None
    """Time until the databases had the rows; None for a lab without a data set."""
    rows: int
    queried: float
    """Time from applying the connectors until queries over silver counted every row."""
    compared: float
    """The same, but until every row was also compared with its source."""


def load_rows(lab: Lab, say: Callable[[str], None]) -> Loaded:
    """Seed a running lab, and wait until silver has every row."""
    seed = None
    if lab.config.data_sets:
        seed = round(seed_lab(lab, connect=False).seconds, 1)
        say(f"seed {seed} s")
    rows = sum(silver_rows(lab).values())
    queried, compared = _snapshot(lab, rows)
    say(f"snapshot {queried:.1f} s, compared {compared:.1f} s")
    return Loaded(seed, rows, queried, compared)


def _snapshot(lab: Lab, rows: int) -> tuple[float, float]:
    """Return the seconds until all `rows` were queryable, and until they were compared.

    Raises LabError on a timeout, or if a table differs from its source.
    """
    begun = time.monotonic()
    apply_and_wait(lab)
    # Ask the application for its progress first: queries would take CPU from it.
    while _committed(lab) < rows or _counted(lab) < rows:
        if time.monotonic() - begun > SNAPSHOT_SECONDS:
            raise LabError("Silver has not taken in every row", hint="labctl status, labctl logs")
        time.sleep(STATUS_SECONDS)
    queried = time.monotonic() - begun
    report = verify_lab(lab, timeout=SNAPSHOT_SECONDS)
    if not report.equal:
        raise LabError("Sources and silver differ after the snapshot", hint="labctl verify")
    return queried, time.monotonic() - begun


def _committed(lab: Lab) -> int:
    """Return the rows that the Spark application has written to silver since it started."""
    return sum(int(table["rows_total"]) for table in silver_status(lab)["tables"].values())


def _counted(lab: Lab) -> int:
    """Return the number of rows in silver, with one query per table."""
    lake = Lake(lab.endpoints.objectstore)
    counts = [
        lake.query(f"SELECT count(*) FROM {name}")  # noqa: S608 - the lake's own names
        for name in lake.table_names()
    ]
    return sum(count[0][0].as_py() for count in counts)


def _one_row(lab: Lab, observer: Observer, changes: int | None) -> Percentiles:
    name, scenario = find_scenario(lab.project, SCENARIO)
    report = run_scenario(
        lab, name, scenario.with_options(count=changes), seed=SEED, observer=observer
    )
    percentiles = report.hop("end_to_end").percentiles
    if percentiles is None or not report.sound:
        raise LabError(
            "Changes were lost, are there twice, or are not as they were made",
            hint=f"labctl test latency run {name} shows which",
        )
    return percentiles


def _cores_at_rest(lab: Lab) -> float:
    sampler = ServiceSampler(lab)
    sampler.start()
    time.sleep(REST_SECONDS)
    sampler.stop()
    services, _ = sampler.usage()
    return sum(service.cpu_seconds for service in services) / REST_SECONDS
