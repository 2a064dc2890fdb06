"""A run's report: what stands in its JSON. The keys are stable; docs/latency.md explains them.

`python -m labctl.latency.report` prints the JSON schema, which is docs/latency.schema.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from labctl.errors import ExitCode, LabError
from labctl.latency.environment import Environment
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
    """Of a number of durations. Seconds."""

    count: int
    minimum: float
    p50: float
    p90: float
    p95: float
    p99: float
    maximum: float


class Hop(_Part):
    """One part of the way."""

    name: HopName
    begins: str
    """The moment it is counted from: `committed`, `captured`, `appended`, `bronze`, `hudi`."""
    ends: str
    on_the_way: bool
    """Whether the change has to pass here to be queried: with source `kafka`, bronze is beside."""
    percentiles: Percentiles | None
    """None when no change has both times."""
    distribution: list[float]
    """101 values: the 0th to the 100th percentile, in seconds; empty without any."""


class Counts(_Part):
    """Changes, warm-up included."""

    written: int
    in_kafka: int
    in_bronze: int
    queryable: int
    lost: int
    """Committed at the source, and missing in Kafka, in bronze or in silver when the run ended."""
    lost_in: dict[Literal["kafka", "bronze", "silver"], int]
    duplicates: int
    """Records that are in a topic again, and rows of silver with a key that another has too."""
    duplicates_in: dict[Literal["kafka", "silver"], int]
    wrong: int
    """Rows of silver that do not hold their last change's number."""


class TableRun(_Part):
    """A table of the run."""

    table: str
    """In silver."""
    engine: str
    """Of its source."""
    source_table: str
    topic: str
    table_type: Literal["cow", "mor"]
    number_column: str


class ServiceUsage(_Part):
    """A service's process tree during the run."""

    service: str
    cpu_seconds: float
    peak_memory_bytes: int
    """Proportional set size, looked at every two seconds."""


class RequestFigures(_Part):
    """Requests to the object store."""

    requests: int
    by_kind: dict[str, int]
    """`GetObject`, `PutObject`, `ListObjectsV2`, …"""
    bytes_received: int
    """By the store."""
    bytes_sent: int


class StoreUsage(_Part):
    """The object store during the run."""

    pipeline: RequestFigures
    """What Spark and Kafka Connect asked for."""
    measuring: RequestFigures
    """What this program asked for, to see when a change can be queried."""
    gaps: int
    """Times the store could not be watched for a moment: then the figures are too low."""


class Fault(_Part):
    """An outage that the scenario made. Seconds since the first change."""

    service: str
    begin: float
    end: float
    """When the service was usable again."""


class Second(_Part):
    """One second of the run. Latencies are those of changes committed in it."""

    second: int
    """Since the first change."""
    committed: int
    queryable: int
    lag: int
    """Changes committed and not queryable yet, at the second's end."""
    p50: float | None
    p99: float | None


class Sample(_Part):
    """One change's way, for charts. Seconds; None: not known."""

    at: float
    """Commit, since the first change."""
    table: str
    event: float | None
    kafka: float | None
    bronze: float | None
    hudi: float | None
    query: float | None
    end_to_end: float | None


class RunReport(_Part):
    """One run of a scenario."""

    version: Literal[1] = 1
    name: str
    scenario: Scenario
    """As it was run, with the options of the command line."""
    lab: str
    profile: str
    environment: Environment
    seed: int
    source: Literal["kafka", "bronze"]
    tables: list[TableRun]
    clocks: dict[str, str]
    """By moment, whose clock it is from and how exact."""
    one_clock: bool
    """Whether all of them are this machine's clock."""
    started_at: str
    """Of the first change; ISO 8601, UTC."""
    seconds: float
    """From the first change until the last was queryable (or given up)."""
    warm_up: int
    """Changes of each table that are left out of hops, seconds and samples."""
    counts: Counts
    committed_per_second: float | None
    """From the first commit to the last; None where all are committed at once, as in a snapshot."""
    queryable_per_second: float | None
    """From the first commit until the last change was queryable."""
    hops: list[Hop]
    services: list[ServiceUsage] | None
    """None where the services are not on this machine."""
    measuring_cpu_seconds: float | None
    object_store: StoreUsage | None
    """None where the store does not tell."""
    requests_per_change: float | None
    bytes_per_change: float | None
    """Received and sent, of the pipeline's requests."""
    faults: list[Fault]
    timeline: list[Second]
    samples: list[Sample] = Field(max_length=2_000)

    @property
    def sound(self) -> bool:
        """Whether nothing was lost, nothing is there twice, and every row is right."""
        return not (self.counts.lost or self.counts.duplicates or self.counts.wrong)

    def hop(self, name: HopName) -> Hop:
        return next(hop for hop in self.hops if hop.name == name)

    def to_json(self) -> str:
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def load(cls, path: Path) -> RunReport:
        """Read a report. Raises LabError (USAGE) for a file that is none."""
        try:
            return cls.model_validate_json(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise LabError(
                f"{path} cannot be read: {error.strerror}", exit_code=ExitCode.USAGE
            ) from None
        except ValidationError as error:
            issue = error.errors()[0]
            key = ".".join(str(part) for part in issue["loc"])
            raise LabError(
                f"{path} is no report of a run: {key + ': ' if key else ''}{issue['msg']}",
                hint="labctl latency run NAME --write FILE makes one",
                exit_code=ExitCode.USAGE,
            ) from None


def schema_text() -> str:
    """The JSON schema of a report."""
    return json.dumps(RunReport.model_json_schema(), indent=2) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
