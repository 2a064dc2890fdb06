"""Adding a run to a kept report, if both ran the same code on the same machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from labctl.conformance.conformance_report import ConformanceReport, Counts
from labctl.conformance.conformance_run import Plan
from labctl.conformance.judging import Phase
from labctl.conformance.matrix import WORST, MatrixCell
from labctl.errors import ExitCode, LabError
from labctl.latency.environment import Environment

__all__ = ["added", "continued", "joined", "require_same"]


def continued(plan: Plan, report: ConformanceReport) -> Plan:
    """Return the plan that continues where a report ends.

    Raises LabError (USAGE) if the plan and the report differ in engines or faults.
    """
    engines = tuple(report.missing_types)
    for what, wanted, kept in (
        ("engines", plan.engines or engines, engines),
        ("faults", plan.faults, report.faults),
    ):
        if wanted != kept:
            raise _refused(f"its {what} are {kept}, and this run's {wanted}")
    if report.tables % len(engines):
        raise _refused(f"its {report.tables} tables are not the same seeds of each engine")
    return replace(plan, engines=engines, first_seed=report.next_seed)


def require_same(kept: Environment, now: Environment) -> None:
    """Raise LabError (USAGE) if a run would have other code, services or another machine.

    Also raise it for a commit that files differ from, or that is unknown: it does not identify the
    code.
    """
    for name in ("commit", "cores", "memory_gib", "platform", "python", "services"):
        before, after = getattr(kept, name), getattr(now, name)
        if before != after:
            raise _refused(f"its {name} is {before}, and now {after}")
    if kept.commit.endswith("+") or kept.commit.startswith("unknown"):
        raise _refused(f"its commit is {kept.commit}, which does not say what ran")


def _refused(why: str) -> LabError:
    return LabError(
        f"The run cannot be added to the report: {why}",
        hint="write another report, without --append",
        exit_code=ExitCode.USAGE,
    )


def joined(kept: ConformanceReport, run: ConformanceReport) -> ConformanceReport:
    """Return the report of both. Raises LabError (USAGE) if they do not belong together."""
    require_same(kept.environment, run.environment)
    if run.first_seed != kept.next_seed:
        raise _refused(f"it ends before seed {kept.next_seed}, not {run.first_seed}")
    return added(kept, run)


def added(kept: ConformanceReport, run: ConformanceReport) -> ConformanceReport:
    """Return the findings of both, with the environment of the first."""
    tables = kept.tables + run.tables
    minutes = kept.tables / kept.tables_per_minute + run.tables / run.tables_per_minute
    return kept.model_copy(
        update={
            "runs": kept.runs + run.runs,
            "tables": tables,
            "seconds": round(kept.seconds + run.seconds, 1),
            "tables_per_minute": round(tables / minutes, 1),
            "engines": {
                engine: _added_counts(kept.engines.get(engine), run.engines.get(engine))
                for engine in {**kept.engines, **run.engines}
            },
            "failures": (*kept.failures, *run.failures),
            "named": (*kept.named, *run.named),
            "blames_values": kept.blames_values and run.blames_values,
            "matrix": tuple(_merged(chain(kept.matrix, run.matrix))),
        }
    )


def _added_counts(first: Counts | None, second: Counts | None) -> Counts:
    numbers = [(one or Counts()).model_dump() for one in (first, second)]
    return Counts(**{name: sum(one[name] for one in numbers) for name in numbers[0]})


def _merged(cells: Iterable[MatrixCell]) -> list[MatrixCell]:
    found: dict[tuple[str, str, str, Phase], MatrixCell] = {}
    for cell in cells:
        place = (cell.engine, cell.type, cell.values, cell.phase)
        before = found.get(place)
        found[place] = cell if before is None else _worse(before, cell)
    return [found[place] for place in sorted(found)]


def _worse(first: MatrixCell, second: MatrixCell) -> MatrixCell:
    end = min(first.end, second.end, key=WORST.index)
    return first.model_copy(update={"end": end, "tables": first.tables + second.tables})
