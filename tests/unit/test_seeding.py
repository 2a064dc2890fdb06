"""A lab is seeded again with what it was seeded with, unless something else is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from labctl.config.lab_config import LabConfig
from labctl.datasets import Action, SeededTable, SeedResult, seed
from labctl.datasets.loading import chosen_tables
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle import seeding
from labctl.lab.lifecycle.seeding import seed_lab
from labctl.services.local_endpoints import loopback_endpoints
from seeds.tickit import DATA_SET
from tests.unit.service_context import PORTS, PROJECT, SECRET


class Databases:
    """Stands for `seed`: what it was asked for, and what it says that it did."""

    def __init__(self) -> None:
        self.asked: list[tuple[float, Path | None, bool]] = []
        self.action = Action.LOADED

    def __call__(
        self,
        _endpoints: object,
        _data_set: object,
        *,
        scale: float,
        from_path: Path | None,
        reset: bool,
        **_: Any,
    ) -> SeedResult:
        self.asked.append((scale, from_path, reset))
        table = SeededTable("ems.event", "postgres", 1, self.action, 0.0)
        return SeedResult("tickit", (table,), (), "", 0.0)


@pytest.fixture
def databases(monkeypatch: pytest.MonkeyPatch) -> Databases:
    databases = Databases()
    monkeypatch.setattr(seeding, "seed", databases)
    return databases


@pytest.fixture
def lab(state_home: Path) -> Lab:
    lab = Lab.find(name="one", profile="native", project=PROJECT)
    vars(lab)["endpoints"] = None
    lab.state.create()
    lab.state.save(name="one")
    return lab


def test_a_reset_brings_back_what_was_seeded(lab: Lab, databases: Databases) -> None:
    seed_lab(lab, connect=False)
    seed_lab(lab, scale=0.1, connect=False, reset=True)
    seed_lab(lab, reset=True, connect=False)
    assert databases.asked == [(1.0, None, False), (0.1, None, True), (0.1, None, True)]


def test_the_original_files_are_remembered_wherever_the_command_is_run(
    lab: Lab, databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    seed_lab(lab, from_path=Path("tickit.zip"), connect=False)
    seed_lab(lab, reset=True, connect=False)
    seed_lab(lab, scale=0.5, reset=True, connect=False)
    seed_lab(lab, reset=True, connect=False)
    assert [(scale, path) for scale, path, _ in databases.asked[1:]] == [
        (1.0, tmp_path / "tickit.zip"),
        (0.5, None),
        (0.5, None),
    ]


def test_what_was_left_alone_is_not_what_was_seeded(lab: Lab, databases: Databases) -> None:
    seed_lab(lab, scale=0.1, connect=False)
    databases.action = Action.KEPT
    seed_lab(lab, scale=0.5, connect=False)
    seed_lab(lab, reset=True, connect=False)
    assert databases.asked[-1] == (0.1, None, True)


def test_a_scale_and_files_exclude_each_other(lab: Lab, databases: Databases) -> None:
    with pytest.raises(LabError, match="--scale cannot be combined with --from") as raised:
        seed_lab(lab, scale=1.0, from_path=Path("tickit.zip"), connect=False)
    assert raised.value.exit_code is ExitCode.USAGE
    assert databases.asked == []


def test_a_data_set_of_an_engine_that_the_lab_has_not_is_refused_before_rows_are_made() -> None:
    def never(_scale: float) -> Mapping[str, pa.Table]:
        raise AssertionError("rows were generated")

    moma = LabConfig.load(PROJECT / "labs" / "moma.toml")
    endpoints = loopback_endpoints(moma, PORTS, SECRET)
    with pytest.raises(LabError, match="tickit belongs to a source of this lab") as raised:
        seed(endpoints, replace(DATA_SET, generate=never))
    assert raised.value.exit_code is ExitCode.USAGE
    assert "mysql ecomm" in (raised.value.hint or "")
    assert "the lab has postgres public" in (raised.value.hint or "")


def test_only_some_tables() -> None:
    tables = list(DATA_SET.tables)
    assert [t.label for t in chosen_tables(DATA_SET, tables, ["venue", "ecomm.sale"])] == [
        "ems.venue",
        "ecomm.sale",
    ]
    assert chosen_tables(DATA_SET, tables, []) == tables
    with pytest.raises(LabError) as raised:
        chosen_tables(DATA_SET, tables, ["venues"])
    assert "ems.venue" in (raised.value.hint or "")
