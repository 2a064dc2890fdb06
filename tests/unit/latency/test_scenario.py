"""Scenario files, and what is said of a bad one."""

from __future__ import annotations

from pathlib import Path

import pytest

from labctl.errors import ExitCode, LabError
from labctl.latency.scenario import Scenario, find_scenario, scenario_files

PROJECT = Path(__file__).parents[3]
GOOD = """
title = "Made up"
tables = ["sale"]
[changes]
count = 10
"""


def find(tmp_path: Path, text: str) -> Scenario:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return find_scenario(tmp_path, str(path))[1]


@pytest.mark.parametrize("name", scenario_files(PROJECT))
def test_the_projects_own_scenarios_are_valid(name: str) -> None:
    assert find_scenario(PROJECT, name)[0] == name


def test_the_issues_scenarios_are_there() -> None:
    assert set(scenario_files(PROJECT)) >= {
        "idle",
        "steady",
        "burst",
        "wide-transaction",
        "mixed",
        "snapshot",
        "catch-up",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD + "ratte = 3\n", "changes.ratte: unknown key; did you mean 'rate'?"),
        (GOOD + "rate = 0\n", "changes.rate"),
        ("sourse = 'kafka'\n" + GOOD, "sourse: unknown key; did you mean 'source'?"),
        ("source = 'files'\n" + GOOD, "source: "),
        (GOOD + "rows_per_transaction = 101\n", "rows must be at least rows_per_transaction"),
        (GOOD + "updates = 0\n", "one of inserts, updates and deletes"),
        (GOOD + "warm_up = 10\n", "warm_up leaves nothing of count"),
        ("snapshot = true\n" + GOOD, "either a section [changes] or snapshot = true"),
        (GOOD + "[outage]\nservice = 'mysql'\nafter = 1\nseconds = 1\n", "outage.service"),
    ],
)
def test_a_bad_value_is_named_with_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(LabError) as raised:
        find(tmp_path, text)
    assert said in raised.value.what
    assert str(tmp_path / "mine.toml") in raised.value.what
    assert raised.value.exit_code is ExitCode.USAGE


def test_an_unknown_name_is_told_what_there_is() -> None:
    with pytest.raises(LabError) as raised:
        find_scenario(PROJECT, "idel")
    assert "idle" in (raised.value.hint or "")


def test_options_win_over_the_file_and_are_checked_with_it(tmp_path: Path) -> None:
    scenario = find(tmp_path, GOOD)
    changed = scenario.with_options(tables=("event",), count=5, rate=None, source="bronze")
    assert changed.tables == ("event",)
    assert changed.source == "bronze"
    assert changed.changes is not None
    assert changed.changes.count == 5
    warm = scenario.model_copy(
        update={"changes": changed.changes.model_copy(update={"warm_up": 4})}
    )
    with pytest.raises(LabError, match="warm_up leaves nothing"):
        warm.with_options(count=4)


def test_a_snapshot_takes_no_rate() -> None:
    snapshot = find_scenario(PROJECT, "snapshot")[1]
    with pytest.raises(LabError, match="takes no rate"):
        snapshot.with_options(rate=5.0)
