"""A soak run's report, page and history: what was found is in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labctl.errors import ExitCode, LabError
from labctl.soak.faulting import FaultKind
from labctl.soak.history import History
from labctl.soak.resources import Growth
from labctl.soak.soak_page import COLOURS, render_soak
from labctl.soak.soak_report import SoakReport

REPORTS = sorted((Path(__file__).parents[3] / "docs" / "benchmarks" / "soak").glob("*.json"))


def test_the_page_names_every_fault_of_a_report() -> None:
    # One is enough to draw, of the most kinds: each page has 5 MB of script in it.
    report = max(map(SoakReport.load, REPORTS), key=lambda report: len(report.recovery))
    assert len({fault.kind for fault in report.faults}) > 4
    page = render_soak(report)
    for fault in report.faults:
        assert f'"text":"{fault.kind} {fault.service}"' in page
    for kind in report.recovery:
        assert f"<td>{kind}</td>" in page
    assert f"missing {report.missing}, twice {report.twice}, stale {report.stale}" in page


def test_each_kind_of_fault_has_a_colour_of_its_own() -> None:
    assert set(COLOURS) == set(FaultKind)
    assert len(set(COLOURS.values())) == len(COLOURS)


@pytest.mark.parametrize(("end", "within"), [(120.0, True), (120.1, False)])
def test_a_run_that_outgrew_a_bound_is_not_sound(end: float, within: bool) -> None:
    report = SoakReport.load(REPORTS[0])
    assert report.sound
    growth = Growth(what="files", of="kafka", begin=80.0, end=end, bound=120.0)
    grown = report.model_copy(update={"growth": [*report.growth, growth]})
    assert growth.within is within
    assert grown.outgrown == ([] if within else [growth])
    assert grown.sound is within


def test_a_file_that_is_no_report_is_named(tmp_path: Path) -> None:
    path = tmp_path / "soak.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(LabError, match="is no report of `labctl test soak run`") as raised:
        SoakReport.load(path)
    assert str(path) in str(raised.value)
    assert raised.value.exit_code is ExitCode.USAGE


def test_a_history_has_a_line_for_each_step_in_order(tmp_path: Path) -> None:
    path = tmp_path / "made" / "history.jsonl"
    with History(path) as history:
        history.transaction("invoked", engine="mysql", first=1, last=3)
        history.event("fault", fault="kill", service="kafka")
        history.transaction("unknown", engine="mysql", first=1, last=3)
        history.transaction("invoked", engine="mysql", first=1, last=3)
        history.transaction("ok", engine="mysql", first=1, last=3)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["what"] for line in lines] == ["invoked", "fault", "unknown", "invoked", "ok"]
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)
    assert lines[0].items() >= {"engine": "mysql", "first": 1, "last": 3}.items()
    assert history.counts == {"invoked": 2, "ok": 1, "failed": 0, "unknown": 1}


def test_without_a_file_a_history_only_counts() -> None:
    with History(None) as history:
        history.transaction("failed")
    assert history.counts["failed"] == 1
