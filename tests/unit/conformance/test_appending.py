"""Adding a run to a report: only of the same code and machine, and only the seeds that follow."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from labctl.conformance.appending import continued, joined
from labctl.conformance.conformance_report import ConformanceReport, counts_of, failure_of, named_of
from labctl.conformance.conformance_run import Plan
from labctl.conformance.document import render
from labctl.conformance.generation import generate
from labctl.conformance.judging import End, Phase, Result
from labctl.conformance.matrix import matrix_of
from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.latency.environment import Environment

ENGINES: tuple[EngineName, ...] = ("postgres", "mysql")
HERE = Environment("2026-01-01", "abc", 2, 23.5, (1, 1, 1), "Linux", "3.11", {"kafka": "4.1"})


def report(
    first: int, seeds: int, end: End = End.EQUAL, where: Environment = HERE
) -> ConformanceReport:
    results = [
        Result(generate(engine, seed), end, Phase.STREAM, "c0 is wrong")
        for seed in range(first, first + seeds)
        for engine in ENGINES
    ]
    failures = [result for result in results if result.end is End.FAILED]
    return ConformanceReport(
        environment=where,
        first_seed=first,
        tables=len(results),
        faults=False,
        seconds=60.0,
        tables_per_minute=float(len(results)),
        engines=counts_of(results),
        missing_types={engine: [] for engine in ENGINES},
        failures=tuple(map(failure_of, failures)),
        named=named_of(results),
        matrix=tuple(matrix_of(results, failures)),
    )


def test_a_run_goes_on_behind_the_seeds_of_the_report() -> None:
    plan = continued(Plan(tables=4), report(3, 2))
    assert (plan.first_seed, plan.engines, plan.tables) == (5, ENGINES, 4)


def test_both_are_counted_and_the_worse_end_of_a_type_stays() -> None:
    first, second = report(0, 40), report(40, 20, End.PUT_ASIDE)
    both = joined(first, second)
    assert (both.runs, both.tables, both.first_seed, both.next_seed) == (2, 120, 0, 60)
    assert (both.engines["mysql"].equal, both.engines["mysql"].put_aside) == (40, 20)
    assert (both.tables_per_minute, both.seconds) == (60.0, 120.0)
    assert len(both.named) == 40
    cells = {(c.engine, c.type, c.values, c.phase): c for c in both.matrix}
    assert len(cells) == len(both.matrix)
    assert second.matrix
    for cell in second.matrix:
        place = (cell.engine, cell.type, cell.values, cell.phase)
        assert cells[place].end is End.PUT_ASIDE
    counted = [sum(cell.tables for cell in one.matrix) for one in (first, second, both)]
    assert counted[2] == counted[0] + counted[1]


def test_a_failure_of_any_run_stays_one() -> None:
    both = joined(report(0, 1, End.FAILED), report(1, 1))
    assert not both.sound
    assert [failure.seed for failure in both.failures] == [0, 0]


@pytest.mark.parametrize(
    "where",
    [
        replace(HERE, commit="abd"),
        replace(HERE, cores=4),
        replace(HERE, services={"kafka": "4.2"}),
    ],
)
def test_other_code_or_another_machine_is_refused(where: Environment) -> None:
    with pytest.raises(LabError, match="cannot be added") as refused:
        joined(report(0, 1), report(1, 1, where=where))
    assert refused.value.exit_code is ExitCode.USAGE


@pytest.mark.parametrize("commit", ["abc+", "unknown"])
def test_a_commit_that_does_not_say_what_ran_is_refused(commit: str) -> None:
    where = replace(HERE, commit=commit)
    with pytest.raises(LabError, match="does not say what ran"):
        joined(report(0, 1, where=where), report(1, 1, where=where))


def test_other_seeds_engines_or_faults_are_refused() -> None:
    with pytest.raises(LabError, match="ends before seed 1, not 2"):
        joined(report(0, 1), report(2, 1))
    for plan in (Plan(engines=("mysql",)), Plan(faults=True)):
        with pytest.raises(LabError, match="cannot be added"):
            continued(plan, report(0, 1))
    uneven = report(0, 1).model_copy(update={"tables": 1})
    with pytest.raises(LabError, match="the same seeds of each engine"):
        continued(Plan(), uneven)


def test_the_page_shows_all_reports_and_their_sum() -> None:
    later = report(2, 1, End.PUT_ASIDE, replace(HERE, commit="def"))
    page = render({"conformance.json": report(0, 2), "conformance-2.json": later})
    assert "6 tables" in page
    assert re.search(r"conformance\.json\).*: 4 tables from seed 0 on.* commit abc", page)
    assert re.search(r"conformance-2\.json\).*: 2 tables from seed 2 on.* commit def", page)
    assert "| MySQL | 2 | 0 | 0 | 1 | 0 |" in page
