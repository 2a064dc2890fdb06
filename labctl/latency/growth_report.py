"""What a growth measurement reports: one step each time the lab was made larger."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from labctl.latency.environment import Environment
from labctl.latency.report import Percentiles
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
    """From the Hudi commit to the first query that shows it."""
    queryable_per_second: float | None
    silver_memory_bytes: int | None
    """Peak of the Spark application; None where it is not on this machine."""
    lab_memory_bytes: int | None
    """Sum of all services' peaks."""
    silver_cpu_seconds_per_change: float | None
    requests_per_change: float | None
    """To the object store, by the pipeline."""
    data_files: int
    """Base and log files of the table."""
    data_bytes: int
    timeline_files: int
    """Below `.hoodie`."""
    sound: bool
    """Whether nothing was lost, there twice or wrong."""


class GrowthReport(BaseModel):
    """All steps, in the order they were measured in."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    growth: GrowthName
    name: str
    """Of the scenario."""
    scenario: Scenario
    environment: Environment
    seed: int
    table: str
    """The silver table that was measured."""
    steps: list[Step]

    @property
    def sound(self) -> bool:
        """Whether every step was."""
        return all(step.sound for step in self.steps)

    def to_json(self) -> str:
        """As it is written to a file."""
        return self.model_dump_json(indent=2) + "\n"
