"""The lab's own figures: coming up, the snapshot, one changed row, what it takes at rest."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from labctl.bench.change import change_sale
from labctl.bench.environment import Environment, describe
from labctl.errors import LabError
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors import apply_and_wait, lab_files
from labctl.lab.down import destroy, down
from labctl.lab.lab import Lab
from labctl.lab.seeding import seed_lab
from labctl.lab.status import read_status
from labctl.lab.up import UpReporter, up
from labctl.lab.verification import verify_lab
from labctl.latency.usage import ServiceSampler

__all__ = ["Percentiles", "PipelineFigures", "measure_pipeline"]

SNAPSHOT_SECONDS = 600.0
SALE = 200
WARM_UP = 10
REST_SECONDS = 60.0


@dataclass(frozen=True)
class Percentiles:
    """Of a number of runs."""

    runs: int
    p50: float
    p90: float
    p99: float
    maximum: float

    @classmethod
    def of(cls, values: list[float]) -> Percentiles:
        """Percentiles by linear interpolation; `values` needs two or more."""
        cuts = statistics.quantiles(values, n=100, method="inclusive")
        p50, p90, p99 = (round(cuts[n - 1], 3) for n in (50, 90, 99))
        return cls(len(values), p50, p90, p99, maximum=round(max(values), 3))


@dataclass(frozen=True)
class PipelineFigures:
    """All in seconds unless the name says otherwise."""

    environment: Environment
    first_up: float
    """With every part cached, on an empty state folder."""
    up_again: list[float]
    seed: float
    snapshot_rows: int
    snapshot: float
    """From applying the connectors until every row was in silver, compared by content."""
    one_row: Percentiles
    """MySQL commit until a query over silver (merge-on-read, source Kafka) returned the change."""
    memory_gib: float
    """Proportional set size of all services after all that."""
    idle_cores: float
    """Processor time of all services by the second, over a minute without a change."""


def measure_pipeline(
    lab: Lab, reporter: UpReporter, say: Callable[[str], None], *, ups: int, changes: int
) -> PipelineFigures:
    """Measure on a lab made for this and removed afterwards. Raises LabError if it exists."""
    if lab.state.exists:
        raise LabError(
            f"Lab {lab.name!r} exists; a benchmark starts from nothing",
            hint=f"labctl destroy --lab {lab.name}, or name another with --lab",
        )
    load = psutil.getloadavg()
    first = up(lab, reporter)
    environment = describe(lab.project, first.versions, load)
    try:
        say(f"up {first.seconds:.1f} s")
        seeded, _ = seed_lab(lab, connect=False)
        say(f"seed {seeded.seconds:.1f} s")
        snapshot = _snapshot(lab)
        say(f"snapshot {snapshot:.1f} s")
        for _ in range(WARM_UP):
            change_sale(lab, SALE)
        seconds = [change_sale(lab, SALE).seconds for _ in range(changes)]
        one_row = Percentiles.of(seconds)
        say(f"one row p50 {one_row.p50:.2f} s")
        memory = sum(s.memory_bytes for s in read_status(lab).services) / 1024**3
        idle = _cores_at_rest(lab)
        say(f"idle {idle:.2f} cores")
        again = []
        for _ in range(ups):
            down(lab)
            again.append(round(up(lab, reporter).seconds, 1))
            say(f"up again {again[-1]:.1f} s")
    finally:
        destroy(lab)
    return PipelineFigures(
        environment=environment,
        first_up=round(first.seconds, 1),
        up_again=again,
        seed=round(seeded.seconds, 1),
        snapshot_rows=seeded.rows,
        snapshot=round(snapshot, 1),
        one_row=one_row,
        memory_gib=round(memory, 2),
        idle_cores=round(idle, 3),
    )


def _snapshot(lab: Lab) -> float:
    begun = time.monotonic()
    client = connect_client(lab.endpoints.connect)
    apply_and_wait(client, lab_files(lab))
    report = verify_lab(lab, timeout=SNAPSHOT_SECONDS, patience=SNAPSHOT_SECONDS)
    if not report.equal:
        raise LabError("Sources and silver differ after the snapshot", hint="labctl verify")
    return time.monotonic() - begun


def _cores_at_rest(lab: Lab) -> float:
    sampler = ServiceSampler(lab)
    sampler.start()
    time.sleep(REST_SECONDS)
    sampler.stop()
    services, _ = sampler.usage()
    return sum(service.cpu_seconds for service in services) / REST_SECONDS
