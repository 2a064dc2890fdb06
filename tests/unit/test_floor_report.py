"""The figures of `labctl test bench floor`: each beside the floor that it stands on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from labctl.errors import ExitCode, LabError
from labctl.floor.floor_report import FloorReport, figures_of, worse_than
from labctl.json_text import to_json
from labctl.latency.environment import Environment
from labctl.latency.report_files import read_report

ENVIRONMENT = Environment("", "", 2, 8.0, (0.0, 0.0, 0.0), "", "", {})


def report(seed: int, factor: float) -> FloorReport:
    """A run in which the application's commit takes `factor` times Hudi's writer alone."""
    draw = Random(seed)  # noqa: S311 - chance here is no secret
    writer = [0.1 * draw.uniform(0.8, 1.4) for _ in range(40)]
    direct = [0.1 * factor * draw.uniform(0.8, 1.4) for _ in range(40)]
    figures = figures_of({"writer": writer, "direct": direct})
    return FloorReport(ENVIRONMENT, "tickit.sale", 10, 40, figures)


def test_only_what_chance_does_not_do_is_worse() -> None:
    first = report(0, 2.0)
    assert [worse_than(first, report(seed, 2.0)) for seed in range(1, 30)] == [[]] * 29
    assert worse_than(first, report(1, 1.0)) == []
    (found,) = worse_than(first, report(1, 4.0))
    assert "direct" in found
    assert worse_than(replace(first, figures=[]), report(1, 4.0)) == []


def test_a_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "floor.json"
    path.write_text(to_json(report(0, 2.0)))
    assert read_report(path, FloorReport, "labctl x") == report(0, 2.0)
    path.write_text("{}")
    with pytest.raises(LabError, match=r"floor.json is no report") as refused:
        read_report(path, FloorReport, "labctl x")
    assert refused.value.exit_code is ExitCode.USAGE


def test_a_figure_says_how_far_it_is_from_its_floor() -> None:
    taken = {
        "message": [0.01, 0.02, 0.03],
        "writer": [0.1, 0.1, 0.1],
        "direct": [0.2, 0.1, 0.3],
        "debezium": [0.05],
        "end_to_end": [0.3, 0.3],
    }
    found = {figure.name: figure for figure in figures_of(taken)}
    assert [*found] == [*taken]
    assert found["writer"].ratio is None
    assert (found["direct"].to, found["direct"].ratio) == ("writer", 2.0)
    assert found["debezium"].ratio == 2.5
    assert found["end_to_end"].ratio == 2.0
    assert found["direct"].percentiles.maximum == 0.3


def test_what_was_not_measured_has_no_figure() -> None:
    assert figures_of({"put": []}) == []
