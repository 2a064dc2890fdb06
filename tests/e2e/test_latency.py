"""A short latency run on the live lab: nothing is lost, and every hop is seen, in order."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import silver_status
from labctl.lake import Lake
from labctl.latency.latency_report import RunReport
from labctl.latency.latency_run import run_scenario
from labctl.latency.ledger import Ledger
from labctl.latency.scenario import Scenario, find_scenario
from labctl.sources import Source, TableRef
from labctl.testing.reporter import TerminalReporter

pytestmark = pytest.mark.long

Labctl = Callable[..., "subprocess.CompletedProcess[str]"]
Verify = Callable[..., None]
SEED = 1
CHANGES = 15
CUT_SECONDS = 0.0011
"""Kafka, bronze and Hudi tell whole milliseconds: a moment can seem that much too early."""


class Watcher(TerminalReporter):
    """Takes note of how the run goes on."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        self.ledger: Ledger | None = None

    def phase(self, words: str) -> None:
        pass

    def progress(self, ledger: Ledger, planned: int, away: str | None) -> None:
        self.ledger = ledger


def run(lab: Lab, name: str, watcher: Watcher, **options: object) -> RunReport:
    scenario: Scenario = find_scenario(lab.project, name)[1].with_options(**options)
    return run_scenario(lab, name, scenario, seed=SEED, observer=watcher)


def test_single_changes_are_seen_at_every_hop_in_order(
    lab: Lab, request: pytest.FixtureRequest, verify_equal: Verify
) -> None:
    watcher = Watcher(request.config)
    report = run(lab, "idle", watcher, count=CHANGES, rate=3.0)
    assert report.sound, report.counts
    assert report.counts.written == CHANGES
    assert all(hop.percentiles for hop in report.hops), report.hops
    assert watcher.ledger is not None
    for trace in watcher.ledger.traces:
        # The database's answer and Debezium race; the commit itself is after `begun`.
        moments = (trace.begun, trace.captured, trace.appended, trace.hudi, trace.queryable)
        known = [moment for moment in moments if moment is not None]
        assert len(known) == len(moments), trace
        assert all(b - a > -CUT_SECONDS for a, b in itertools.pairwise(known)), trace
        assert trace.bronze is not None
        assert trace.appended is not None
        assert trace.bronze - trace.appended > -CUT_SECONDS
    assert {one.service for one in report.services or ()} == {s.name for s in lab.services}
    assert report.object_store is not None
    assert report.object_store.pipeline.by_kind["PutObject"] > 0
    verify_equal("sale")


def test_inserts_updates_and_deletes_of_all_sources_arrive_once(
    lab: Lab, request: pytest.FixtureRequest, verify_equal: Verify
) -> None:
    report = run(lab, "mixed", Watcher(request.config), count=150, rate=50.0, rows=50)
    assert report.sound, report.counts
    assert report.counts.written == 450
    assert {table.engine for table in report.tables} == {"postgres", "mysql", "sqlserver"}
    verify_equal("event", "sale", "user")


def test_a_snapshot_is_followed_row_by_row(
    lab: Lab, request: pytest.FixtureRequest, source: Callable[[str], Source]
) -> None:
    # Not PostgreSQL's: its connector would read the extremes that other tests have streamed again,
    # and a first load cannot read all of those.
    rows = source("sqlserver").count(TableRef("crm", "user"))
    report = run(lab, "snapshot", Watcher(request.config), tables=("user",))
    assert report.sound, report.counts
    assert report.counts.written == rows


@pytest.mark.soak
def test_a_table_of_another_type_and_source_stands_in_and_goes_again(
    lab: Lab, lake: Lake, request: pytest.FixtureRequest, verify_equal: Verify
) -> None:
    watcher = Watcher(request.config)
    options = {"tables": ("event",), "table_type": "cow", "source": "bronze"}
    report = run(lab, "idle", watcher, count=CHANGES, rate=3.0, **options)
    assert report.sound, report.counts
    (table,) = report.tables
    assert (table.table, table.table_type, report.source) == ("tickit.event_cow", "cow", "bronze")
    assert "tickit.event_cow" not in lake.table_names()
    assert silver_status(lab)["source"] == "kafka"
    verify_equal("event")


def test_the_command_writes_what_it_prints(labctl: Labctl, lab: Lab, tmp_path: Path) -> None:
    written, page = tmp_path / "run.json", tmp_path / "run.html"
    done = labctl(
        *("test", "latency", "run", "idle", "--lab", lab.name, "--changes", "12", "--rate", "5"),
        *("--table", "event", "--seed", "7", "--write", str(written), "--html", str(page)),
        *("--output", "json"),
    )
    assert done.returncode == 0, done.stderr
    report = RunReport.load(written)
    assert json.loads(done.stdout) == report.model_dump(mode="json")
    assert report.seed == 7
    assert [table.source_table for table in report.tables] == ["ems.event"]
    assert page.stat().st_size > 1_000_000


def test_each_figure_has_its_floor_of_the_same_run(lab: Lab, labctl: Labctl) -> None:
    done = labctl(
        *("test", "bench", "floor", "--lab", lab.name, "--rounds", "2", "--changes", "15"),
        *("--output", "json"),
    )
    assert done.returncode == 0, done.stderr
    figures = {figure["name"]: figure for figure in json.loads(done.stdout)["figures"]}
    assert {"put", "message", "writer", "direct", "spark", "debezium", "end_to_end"} <= {*figures}
    assert all(figures[name]["ratio"] > 0 for name in ("direct", "spark", "end_to_end"))
    assert figures["end_to_end"]["percentiles"]["count"] == 5
    left = Lake(lab.endpoints.objectstore).storage.list("")
    assert [entry.base_name for entry in left if entry.base_name.startswith("floor-")] == []
