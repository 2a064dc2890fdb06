"""`labctl test bench`."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from labctl.cli.app import Invocation, command, group
from labctl.cli.latency_live import LiveView
from labctl.cli.output import print_result, stderr, to_json
from labctl.cli.reports import write_file
from labctl.errors import ExitCode
from labctl.floor.floor_report import FloorReport, worse_than
from labctl.latency.lab_figures import PipelineFigures, measure_pipeline
from labctl.latency.report_files import read_report

__all__ = ["bench_command"]

BENCH_LAB = "bench"


class What(StrEnum):
    """The subjects that `labctl test bench` measures."""

    LAB = "lab"
    FLOOR = "floor"


@command(group("test"), "bench", example="labctl test bench floor --write floor.json")
def bench_command(
    invocation: Invocation,
    what: Annotated[
        What,
        typer.Argument(help="The lab; or the floor: its parts alone, and how far it is from them."),
    ] = What.LAB,
    write: Annotated[Path | None, typer.Option(help="Write the figures to this file too.")] = None,
    ups: Annotated[int, typer.Option(min=1, help="How often to stop and start the lab (lab).")] = 3,
    rounds: Annotated[
        int, typer.Option(min=1, help="How often each part is measured, in turn (floor).")
    ] = 40,
    compare: Annotated[
        Path | None,
        typer.Option(help="Exit with 4 if a ratio is worse than in this earlier report (floor)."),
    ] = None,
    changes: Annotated[
        int | None, typer.Option(min=1, help="One-row changes [default: scenario idle's].")
    ] = None,
) -> None:
    """Measure the lab on this machine: start, snapshot, one changed row, what it takes at rest.

    Makes a lab of its own (named bench unless --lab says otherwise) and removes it afterwards. It
    is seeded with the lab's data sets, and rows of their table for scenario idle are changed.

    `bench floor` sets its parts beside it, all in one run: a request to the object store, a
    message to Kafka, a commit by Hudi's writer alone, by the application and by Spark's writer. It
    takes a lab that runs, if --lab names one.
    """
    # It loads Spark.
    from labctl.floor.floor_run import measure_floor, measure_floor_on_new_lab

    before = (
        read_report(compare, FloorReport, "labctl test bench floor")
        if compare is not None
        else None
    )
    lab = replace(invocation, name=invocation.name or BENCH_LAB).lab()
    figures: PipelineFigures | FloorReport
    with LiveView() as view:
        if what is What.LAB:
            figures = measure_pipeline(lab, view, stderr.print, ups=ups, changes=changes)
        elif invocation.name and lab.state.exists:
            figures = measure_floor(lab, view, rounds=rounds, changes=changes)
        else:
            figures = measure_floor_on_new_lab(
                lab, view, stderr.print, rounds=rounds, changes=changes
            )
    if write is not None:
        write_file(write, to_json(figures) + "\n")
    print_result(invocation.format, figures, lambda: _render(figures))
    if before is not None and isinstance(figures, FloorReport):
        if found := worse_than(before, figures):
            for sentence in found:
                stderr.print(sentence)
            raise typer.Exit(int(ExitCode.DIFFERENT))
        stderr.print(f"No ratio is worse than in {compare}")


def _render(figures: PipelineFigures | FloorReport) -> RenderableType:
    if isinstance(figures, FloorReport):
        return _floor(figures)
    return _pipeline(figures)


def _floor(report: FloorReport) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    for title in ("", "p50", "p90", "p95", "ratio", "to", "what it is"):
        table.add_column(title)
    for figure in report.figures:
        taken = figure.percentiles
        table.add_row(
            figure.name,
            *(f"{seconds * 1000:.1f} ms" for seconds in (taken.p50, taken.p90, taken.p95)),
            "" if figure.ratio is None else f"{figure.ratio:.2f}",
            figure.to or "",
            figure.what,
        )
    return table


def _pipeline(figures: PipelineFigures) -> RenderableType:
    row, load = figures.one_row, figures.environment.load_1_5_15
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in (
        ("up, empty state", f"{figures.first_up} s"),
        ("up again", ", ".join(f"{seconds} s" for seconds in figures.up_again)),
        ("seed", "-" if figures.seed is None else f"{figures.seed} s"),
        (f"snapshot, {figures.snapshot_rows:,} rows", f"{figures.snapshot} s"),
        ("the same, compared with the sources", f"{figures.compared} s"),
        (
            f"one row, {row.count} changes",
            f"p50 {row.p50} s, p95 {row.p95} s, p99 {row.p99} s, max {row.maximum} s",
        ),
        ("memory", f"{figures.memory_gib} GiB"),
        ("idle", f"{figures.idle_cores:.0%} of a core"),
        ("machine", f"{figures.environment.cores} cores, load before {load[0]:.1f}"),
    ):
        table.add_row(name, value)
    return table
