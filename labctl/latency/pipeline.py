"""The lab's own figures: coming up, the snapshot, one changed row, what it takes at rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from labctl.errors import LabError
from labctl.lab.connectors import apply_and_wait
from labctl.lab.down import destroy, down
from labctl.lab.lab import Lab
from labctl.lab.pipeline import silver_status
from labctl.lab.seeding import seed_lab
from labctl.lab.status import read_status
from labctl.lab.up import up
from labctl.lab.verification import verify_lab
from labctl.lake import Lake
from labctl.latency.choosing import silver_rows
from labctl.latency.environment import Environment, describe
from labctl.latency.report import Percentiles
from labctl.latency.run import Observer, run_scenario
from labctl.latency.scenario import find_scenario
from labctl.latency.usage import ServiceSampler

__all__ = ["Loaded", "PipelineFigures", "load_rows", "measure_pipeline", "require_new"]

SNAPSHOT_SECONDS = 600.0
STATUS_SECONDS = 0.2
SCENARIO = "idle"
SEED = 1
"""The same rows are changed in every run."""
REST_SECONDS = 60.0


@dataclass(frozen=True)
class PipelineFigures:
    """All in seconds unless the name says otherwise."""

    environment: Environment
    first_up: float
    """With every part cached, on an empty state folder."""
    up_again: list[float]
    seed: float | None
    """None for a lab without a data set: its rows are its own."""
    snapshot_rows: int
    """Of silver: a source's rows once for each table that takes them in."""
    snapshot: float
    """From applying the connectors until queries over silver counted every row."""
    compared: float
    """The same, until every row was compared with its source's, too."""
    one_row: Percentiles
    """Of scenario `idle`, end to end: commit until a query over silver returned the change."""
    memory_gib: float
    """Proportional set size of all services after all that."""
    idle_cores: float
    """Processor time of all services by the second, over a minute without a change."""


def measure_pipeline(
    lab: Lab, observer: Observer, say: Callable[[str], None], *, ups: int, changes: int | None
) -> PipelineFigures:
    """Measure on a lab made for this and removed afterwards. Raises LabError if it exists."""
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
    """Raise LabError where a lab of that name exists."""
    if lab.state.exists:
        raise LabError(
            f"Lab {lab.name!r} exists; a benchmark starts from nothing",
            hint=f"labctl destroy --lab {lab.name}, or name another with --lab",
        )


@dataclass(frozen=True)
class Loaded:
    """A new lab's first rows. Seconds."""

    seed: float | None
    """Until the databases had them; None for a lab without a data set."""
    rows: int
    queried: float
    """From applying the connectors until queries over silver counted every row."""
    compared: float
    """The same, until every row was compared with its source's, too."""


def load_rows(lab: Lab, say: Callable[[str], None]) -> Loaded:
    """Seed a lab that is up, and wait until silver has every row."""
    seed = None
    if lab.config.data_sets:
        seed = round(seed_lab(lab, connect=False).seconds, 1)
        say(f"seed {seed} s")
    rows = sum(silver_rows(lab).values())
    queried, compared = _snapshot(lab, rows)
    say(f"snapshot {queried:.1f} s, compared {compared:.1f} s")
    return Loaded(seed, rows, queried, compared)


def _snapshot(lab: Lab, rows: int) -> tuple[float, float]:
    """Seconds until all `rows` were to be queried, and until they were compared."""
    begun = time.monotonic()
    apply_and_wait(lab)
    # The application is asked how far it is: queries would take the processor from it.
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
    """Rows that the Spark application has brought into silver since it was started."""
    return sum(int(table["rows_total"]) for table in silver_status(lab)["tables"].values())


def _counted(lab: Lab) -> int:
    """Rows in silver, by a query of each table."""
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
            hint=f"labctl latency run {name} shows which",
        )
    return percentiles


def _cores_at_rest(lab: Lab) -> float:
    sampler = ServiceSampler(lab)
    sampler.start()
    time.sleep(REST_SECONDS)
    sampler.stop()
    services, _ = sampler.usage()
    return sum(service.cpu_seconds for service in services) / REST_SECONDS
