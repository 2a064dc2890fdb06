"""A run's report, as written to JSON. The keys are stable; docs/latency.md explains them.

`python -m labctl.latency.latency_report` prints the JSON schema, which is docs/latency.schema.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from labctl.latency.environment import Environment
from labctl.latency.report_files import read_report
from labctl.latency.scenario import Scenario

__all__ = [
    "Counts",
    "Fault",
    "Hop",
    "Percentiles",
    "RequestFigures",
    "RunReport",
    "Sample",
    "Second",
    "ServiceUsage",
    "StoreUsage",
    "TableRun",
    "schema_text",
]

HopName = Literal["event", "kafka", "bronze", "hudi", "query", "end_to_end"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Percentiles(_Part):
    """Percentiles of a number of durations, in seconds."""

    count: int
    minimum: float
    p50: float
    p90: float
    p95: float
    p99: float
    maximum: float


class Hop(_Part):
    """A part of the way."""

    name: HopName
    begins: str
    """Moment at which the hop begins: `committed`, `captured`, `appended`, `bronze`, `hudi`."""
    ends: str
    on_the_way: bool
    """True if a change must pass this hop to be queried; bronze is not one with source `kafka`."""
    percentiles: Percentiles | None
    """None when no change has both times."""
    distribution: list[float]
    """The 0th to the 100th percentile in seconds, 101 values; empty without any durations."""


class Counts(_Part):
    """Changes, warm-up included."""

    written: int
    in_kafka: int
    in_bronze: int
    queryable: int
    lost: int
    """Changes committed at the source but missing in Kafka, bronze or silver at the run's end."""
    lost_in: dict[Literal["kafka", "bronze", "silver"], int]
    duplicates: int
    """Repeated records in topics, and rows of silver whose key another row has too."""
    duplicates_in: dict[Literal["kafka", "silver"], int]
    wrong: int
    """Rows of silver that do not hold the number of their last change."""


class TableRun(_Part):
    """A table of the run."""

    table: str
    """Name of the silver table."""
    engine: str
    """Engine of the table's source."""
    source_table: str
    topic: str
    table_type: Literal["cow", "mor"]
    number_column: str


class ServiceUsage(_Part):
    """A service's process tree during the run."""

    service: str
    cpu_seconds: float
    peak_memory_bytes: int
    """Peak of the proportional set size, sampled every two seconds."""


class RequestFigures(_Part):
    """Requests to the object store."""

    requests: int
    by_kind: dict[str, int]
    """`GetObject`, `PutObject`, `ListObjectsV2`, …"""
    bytes_received: int
    """Bytes that the store received."""
    bytes_sent: int


class StoreUsage(_Part):
    """The object store during the run."""

    pipeline: RequestFigures
    """Requests from Spark and Kafka Connect."""
    measuring: RequestFigures
    """Requests from this program, made to see when a change can be queried."""
    gaps: int
    """Number of interruptions in the store's trace; after any, the figures are too low."""


class Fault(_Part):
    """An outage that the scenario made. Seconds since the first change."""

    service: str
    begin: float
    end: float
    """Time when the service was usable again."""


class Second(_Part):
    """A second of the run. Latencies are those of changes committed in it."""

    second: int
    """Whole seconds since the first change."""
    committed: int
    queryable: int
    lag: int
    """Changes committed but not yet queryable at the second's end."""
    p50: float | None
    p99: float | None


class Sample(_Part):
    """A change's way, for charts. Seconds; None: not known."""

    at: float
    """Time of the commit since the first change."""
    table: str
    event: float | None
    kafka: float | None
    bronze: float | None
    hudi: float | None
    query: float | None
    end_to_end: float | None


class RunReport(_Part):
    """A run of a scenario."""

    version: Literal[1] = 1
    name: str
    scenario: Scenario
    """The scenario as it was run, including command-line options."""
    lab: str
    profile: str
    environment: Environment
    seed: int
    source: Literal["kafka", "bronze"]
    tables: list[TableRun]
    clocks: dict[str, str]
    """Clock of each moment, and its resolution."""
    one_clock: bool
    """True if all of them are this machine's clock."""
    started_at: str
    """Time of the first change; ISO 8601, UTC."""
    seconds: float
    """Time from the first change until the last one was queryable (or given up)."""
    warm_up: int
    """Changes of each table that are excluded from hops, seconds and samples."""
    counts: Counts
    committed_per_second: float | None
    """Rate from the first commit to the last; None if all are committed at once (a snapshot)."""
    queryable_per_second: float | None
    """Rate from the first commit until the last change was queryable."""
    hops: list[Hop]
    services: list[ServiceUsage] | None
    """Use of resources by service; None if the services are not on this machine."""
    measuring_cpu_seconds: float | None
    object_store: StoreUsage | None
    """Requests to the object store; None if the store does not report them."""
    requests_per_change: float | None
    bytes_per_change: float | None
    """Bytes received and sent by the pipeline's requests, per change."""
    faults: list[Fault]
    timeline: list[Second]
    samples: list[Sample] = Field(max_length=2_000)

    @property
    def sound(self) -> bool:
        """True if nothing was lost, nothing is duplicated, and every row is right."""
        return not (self.counts.lost or self.counts.duplicates or self.counts.wrong)

    def hop(self, name: HopName) -> Hop:
        return next(hop for hop in self.hops if hop.name == name)

    def to_json(self) -> str:
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def load(cls, path: Path) -> RunReport:
        """Read a report. Raises LabError (USAGE) if the file is not a report."""
        return read_report(path, cls, "labctl test latency run")


def schema_text() -> str:
    """Return the JSON schema of a report."""
    return json.dumps(RunReport.model_json_schema(), indent=2) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
