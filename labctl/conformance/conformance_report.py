"""The report of a run, as printed and kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from labctl.conformance.case_sql import Script
from labctl.conformance.judging import End, Phase, Result
from labctl.conformance.matrix import MatrixCell
from labctl.conformance.stage import Stage
from labctl.engine_names import EngineName
from labctl.latency.environment import Environment

__all__ = ["ConformanceReport", "Counts", "Failure", "Named", "counts_of", "failure_of", "named_of"]

_LONGEST = 2000


class Counts(BaseModel):
    """The number of tables of one engine, by end."""

    model_config = ConfigDict(frozen=True)

    equal: int = 0
    uncompared: int = 0
    """Equal, but for columns that `labctl verify` cannot compare, or that it alone compares."""
    refused: int = 0
    put_aside: int = 0
    failed: int = 0
    invalid: int = 0
    """Tables that the database itself refused, which is a defect of the generator."""


class Named(BaseModel):
    """A table that was refused or that has rows put aside, with the message."""

    model_config = ConfigDict(frozen=True)

    engine: EngineName
    seed: int
    end: End
    reason: str


class Failure(BaseModel):
    """A failed table, shrunk to the smallest form that still fails."""

    model_config = ConfigDict(frozen=True)

    engine: EngineName
    seed: int
    phase: Phase | None
    reason: str
    kept: str
    """Parts of the seed's table that shrinking kept."""
    statements: tuple[str, ...]
    """SQL of the table, its rows and its history."""
    reproduce: str


class ConformanceReport(BaseModel):
    """The findings of a run."""

    model_config = ConfigDict(frozen=True)

    environment: Environment
    runs: int = 1
    """Number of successive runs in the report (`--append`)."""
    first_seed: int
    tables: int
    faults: bool
    seconds: float
    """Duration of the run, including shrinking."""
    tables_per_minute: float
    """Tables per minute, without the time for shrinking."""
    engines: dict[EngineName, Counts]
    missing_types: dict[EngineName, list[str]]
    """Types that the generator knows but the server lacks, by engine."""
    failures: tuple[Failure, ...]
    named: tuple[Named, ...]
    matrix: tuple[MatrixCell, ...]
    blames_values: bool = False
    """True if the matrix blames the values that silver cannot hold, and no others beside them."""

    @property
    def next_seed(self) -> int:
        """The first seed that no engine has run."""
        return self.first_seed + -(-self.tables // len(self.missing_types))

    @property
    def sound(self) -> bool:
        """True if no table failed or was invalid."""
        return not any(counts.failed or counts.invalid for counts in self.engines.values())

    @classmethod
    def load(cls, path: Path) -> ConformanceReport:
        """Read a kept report."""
        return cls.model_validate_json(path.read_text(encoding="utf-8"))

    def to_json(self) -> str:
        """Return the JSON text that is kept."""
        return self.model_dump_json(indent=2) + "\n"


def counts_of(results: Iterable[Result]) -> dict[EngineName, Counts]:
    """Count the ends by engine."""
    ends: dict[EngineName, dict[str, int]] = {}
    for result in results:
        of_engine = ends.setdefault(result.case.engine, {})
        name = result.end.replace(" ", "_")
        of_engine[name] = of_engine.get(name, 0) + 1
    return {engine: Counts(**found) for engine, found in ends.items()}


def failure_of(result: Result) -> Failure:
    """Return the report's entry for a failed case."""
    case = result.case
    script = Script(case, Stage.ref(case.engine, case.name.replace("{0}", "t")))
    lines = [*script.creates(), *script.load()]
    for change in case.history:
        lines += script.statements(change)
    return Failure(
        engine=case.engine,
        seed=case.seed,
        phase=result.phase,
        reason=result.reason[:_LONGEST],
        kept=case.of,
        statements=tuple(line[:_LONGEST] for line in lines),
        reproduce=f"labctl test conformance --engine {case.engine} --seed {case.seed}",
    )


def named_of(results: Sequence[Result]) -> tuple[Named, ...]:
    """Return the tables that were refused, put aside or invalid."""
    return tuple(
        Named(
            engine=result.case.engine,
            seed=result.case.seed,
            end=result.end,
            reason=result.reason[:_LONGEST],
        )
        for result in results
        if result.end in (End.REFUSED, End.PUT_ASIDE, End.INVALID)
    )
