"""What the terminal shows of a run, during it and after."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from labctl.cli.latency_live import LiveView
from labctl.cli.latency_text import comparison_table, run_summary
from labctl.latency.compare import compare
from labctl.latency.latency_plan import Change, Kind
from labctl.latency.ledger import Ledger, Message, Version
from tests.unit.latency.traces import report, trace

TRACES = [trace(n, at=n / 10, took=0.5) for n in range(20)]


def shown(what: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(what)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


def test_a_run_is_summed_up_by_hop_and_by_what_arrived() -> None:
    text = shown(run_summary(report(TRACES)))
    assert "end to end" in text
    assert "0.500" in text
    assert "lost 0, there twice 0, wrong 0" in text
    assert "silver was away from second 1.0 to 2.5" in text


def test_a_loss_says_where() -> None:
    text = shown(run_summary(report(TRACES, lost=3)))
    assert "lost 3" in text
    assert "lost in silver: 3" in text


@pytest.mark.parametrize(("source", "beside"), [("kafka", True), ("bronze", False)])
def test_bronze_is_beside_the_way_unless_silver_reads_it(source: str, beside: bool) -> None:
    text = shown(run_summary(report(TRACES, source=source)))  # type: ignore[arg-type]
    assert ("(Kafka → bronze object)" in text) is beside


def test_a_comparison_names_what_was_not_the_same() -> None:
    found = compare(report(TRACES), report(TRACES, source="bronze"))
    text = shown(comparison_table(found, "before", "after"))
    assert "before" in text
    assert "Not the same:" in text
    assert "source: kafka | bronze" in text


def test_progress_is_told_in_lines_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ledger = Ledger()
    changes = (Change(1, Kind.UPDATE, 7), Change(2, Kind.UPDATE, 8))
    ledger.written("sale", changes, 0.0, 1.0)
    ledger.received(Message("sale", 7, 1, False, None, 1.5, 0, 100))
    ledger.shown("sale", [Version(7, 100, 2.0, 3.0)])
    with LiveView() as view:
        view.phase("Made up")
        view.progress(ledger, 5, "silver")
    told = " ".join(capsys.readouterr().err.split())
    assert "Made up" in told
    assert "2 of 5 committed, 1 in Kafka, 1 queryable" in told
    assert "p50 of the last 1 2.00 s; silver is away" in told
