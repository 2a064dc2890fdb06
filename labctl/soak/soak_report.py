"""A soak run's report, as written to JSON."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from labctl.latency.environment import Environment
from labctl.latency.latency_report import Percentiles
from labctl.latency.report_files import read_report
from labctl.soak.checking import Finding
from labctl.soak.resources import Growth

__all__ = ["FaultRun", "SoakReport", "SoakSecond", "TableSoak"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FaultRun(_Part):
    """A fault that happened. Seconds since the run began."""

    kind: str
    service: str
    begin: float
    end: float
    """Time when the fault was over and the recovery began."""
    recovery_seconds: float | None
    """Time from the fault's end until each table showed a change committed after it, and all
    services were usable; None: not in time."""


class TableSoak(_Part):
    """A table of the run."""

    table: str
    """Name of the silver table."""
    source_table: str
    engine: str
    acknowledged: int
    """Number of changes whose commit the source acknowledged."""
    stale: int
    """Number of times a row returned to an older version, or reappeared after its delete."""
    stepped_back: int = 0
    """The same count between a fault and the first change after it, when changes are resent."""
    finding: Finding


class SoakSecond(_Part):
    """The figures of one second. Latencies are those of changes committed in it."""

    second: int
    committed: int
    p50: float | None
    maximum: float | None


class SoakReport(_Part):
    """The report of a run."""

    version: int = 1
    lab: str
    profile: str
    environment: Environment
    seed: int
    minutes: float
    """Requested duration; the last recovery and the checks take additional time."""
    rate: float
    """Requested changes per second, all sources together."""
    kinds: list[str]
    started_at: str
    """ISO 8601, UTC."""
    transactions: dict[str, int]
    """Transactions by outcome: invoked, ok, failed (refused), unknown (connection lost, then
    repeated)."""
    tables: list[TableSoak]
    verified: bool
    """True if `labctl verify` found every table of the run equal to its source."""
    end_to_end: Percentiles | None
    """Seconds from a change's acknowledgement until a query returned it, including faults."""
    faults: list[FaultRun]
    recovery: dict[str, Percentiles]
    """Recovery time in seconds by kind of fault, and for `all`."""
    growth: list[Growth]
    timeline: list[SoakSecond]

    @property
    def missing(self) -> int:
        """Acknowledged changes that are missing in silver or bronze."""
        found = [table.finding for table in self.tables]
        return sum(f.missing_in_silver + f.missing_in_bronze + f.gaps_in_bronze for f in found)

    @property
    def twice(self) -> int:
        return sum(t.finding.twice_in_silver + t.finding.twice_in_bronze for t in self.tables)

    @property
    def stale(self) -> int:
        """Rows that returned to an older version outside a recovery, or are wrong at the end."""
        return sum(table.stale + table.finding.wrong_in_silver for table in self.tables)

    @property
    def stepped_back(self) -> int:
        """Number of times a query returned an older version of a row while its table caught up."""
        return sum(table.stepped_back for table in self.tables)

    @property
    def unrecovered(self) -> list[FaultRun]:
        return [fault for fault in self.faults if fault.recovery_seconds is None]

    @property
    def outgrown(self) -> list[Growth]:
        """Figures that grew beyond their bounds."""
        return [growth for growth in self.growth if not growth.within]

    @property
    def sound(self) -> bool:
        """True if nothing was lost, duplicated or stale, nothing outgrew its bound, and the lab
        recovered from every fault."""
        return self.verified and not (
            self.missing or self.twice or self.stale or self.unrecovered or self.outgrown
        )

    def to_json(self) -> str:
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def load(cls, path: Path) -> SoakReport:
        """Read a report. Raises LabError (USAGE) if the file is not a report."""
        return read_report(path, cls, "labctl test soak run")
