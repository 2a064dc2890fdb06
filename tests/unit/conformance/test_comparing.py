"""Comparing a batch, though one table of it crashes the comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from labctl.config.model import find_project
from labctl.conformance import batch
from labctl.conformance.batch import verified
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

    monkeypatch.setattr(batch, "verify_lab", verify_lab)
    lab = Lab.find(project=find_project(Path(__file__)))
    assert verified(lab, []) == ({}, {})
    verdicts, crashed = verified(lab, ["s.one", "s.broken", "s.two"])
    assert sorted(verdicts) == ["s.one", "s.two"]
    assert list(crashed) == ["s.broken"]
    assert "OverflowError" in crashed["s.broken"]
