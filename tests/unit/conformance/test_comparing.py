"""Comparing a batch, though one table of it crashes the comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from labctl.config.lab_config import find_project
from labctl.conformance import comparing
from labctl.conformance.comparing import settled, verified
from labctl.lab.lab import Lab
from labctl.verify import State, TableVerdict, VerifyReport


def test_a_table_that_crashes_verify_does_not_hide_how_the_others_are(
    state_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def verify_lab(_lab: Lab, names: Sequence[str], **_: Any) -> VerifyReport:
        if "s.broken" in names:
            raise OverflowError("Python int too large to convert to C long")
        verdicts = (TableVerdict("x", n, State.EQUAL, None, None, 0, 1, 0.1) for n in names)
        return VerifyReport(tuple(verdicts), 0.1)

    monkeypatch.setattr(comparing, "verify_lab", verify_lab)
    lab = Lab.find(project=find_project(Path(__file__)))
    assert verified(lab, []) == ({}, {})
    verdicts, crashed = verified(lab, ["s.one", "s.broken", "s.two"])
    assert sorted(verdicts) == ["s.one", "s.two"]
    assert list(crashed) == ["s.broken"]
    assert "OverflowError" in crashed["s.broken"]


class Progress:
    """Tables of a lab, by the records that each still has to take in at each look."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **behind: Sequence[int]) -> None:
        self._behind = behind
        self.looks = 0
        self.held: set[str] = set()
        monkeypatch.setattr(comparing, "tables_behind", lambda *_: self._look())
        monkeypatch.setattr(comparing, "silver_states", lambda _: self._states())
        monkeypatch.setattr(comparing, "_POLL_SECONDS", 0.01)
        monkeypatch.setattr(comparing, "_HELD_SECONDS", 0.05)

    def _look(self) -> dict[str, int]:
        self.looks += 1
        place = self.looks - 1
        return {name: steps[min(place, len(steps) - 1)] for name, steps in self._behind.items()}

    def _states(self) -> dict[str, dict[str, str]]:
        return {name: {"error": "no"} if name in self.held else {} for name in self._behind}

    def settled(self) -> set[str]:
        tables = [SimpleNamespace(name=name) for name in self._behind]
        endpoints = SimpleNamespace(kafka=None)
        lab = SimpleNamespace(endpoints=endpoints)
        stage: Any = SimpleNamespace(own_tables=lambda: tables, lab=lab)
        return settled(stage, [*self._behind])


def test_all_tables_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Progress(monkeypatch, one=[3, 0], two=[5, 5, 4, 0])
    assert progress.settled() == set()
    assert progress.looks == 4


def test_a_table_that_stays_held_up_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Progress(monkeypatch, one=[3, 0], stuck=[2])
    progress.held = {"stuck", "one"}
    assert progress.settled() == {"stuck"}


def test_waiting_ends_when_nothing_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "when_busy", lambda _: 0.05)
    progress = Progress(monkeypatch, one=[3, 2, 2])
    assert progress.settled() == set()
    assert progress.looks > 3
