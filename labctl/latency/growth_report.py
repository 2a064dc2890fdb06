"""The report of a growth measurement, with one step for each size."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from labctl.latency.environment import Environment
from labctl.latency.latency_report import Percentiles
from labctl.latency.scenario import Scenario

__all__ = ["GrowthName", "GrowthReport", "Step"]

GrowthName = Literal["rows", "tables", "rate", "age"]


class Step(BaseModel):
    """The scenario's figures at one size. Seconds and bytes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: int
    """Rows in the table, tables in the application, changes per second, or changes made so far."""
    end_to_end: Percentiles | None
    hudi: Percentiles | None
    """The hop that ends with the Hudi commit."""
    query: Percentiles | None
    """The hop from the Hudi commit to the first query that returns the change."""
    queryable_per_second: float | None
    silver_memory_bytes: int | None
    """Peak memory of the Spark application; None if it is not on this machine."""
    lab_memory_bytes: int | None
    """Sum of all services' peak memory; None if they are not on this machine."""
    silver_cpu_seconds_per_change: float | None
    requests_per_change: float | None
    """Requests per change from the pipeline to the object store."""
    data_files: int
    """Number of the table's base and log files."""
    data_bytes: int
    timeline_files: int
    """Number of files below `.hoodie`."""
    sound: bool
    """True if nothing was lost, duplicated or wrong."""


class GrowthReport(BaseModel):
    """All steps, in the order of their measurement."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    growth: GrowthName
    name: str
    """Name of the scenario."""
    scenario: Scenario
    environment: Environment
    seed: int
    table: str
    """The silver table that was measured."""
    steps: list[Step]

    @property
    def sound(self) -> bool:
        """True if every step was sound."""
        return all(step.sound for step in self.steps)

    def to_json(self) -> str:
        """Return the report as the JSON text that is written to a file."""
        return self.model_dump_json(indent=2) + "\n"
