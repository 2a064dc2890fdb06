"""`labctl test soak`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result, stderr
from labctl.cli.reports import chosen_seed, write_file, write_report
from labctl.counted import counted
from labctl.errors import ExitCode, LabError
from labctl.extras import require_extra
from labctl.soak.faulting import FaultKind
from labctl.soak.soak_report import SoakReport

__all__ = ["report_command", "run_command"]

soak = group("soak")


@command(
    soak, "run", example="labctl test soak run --minutes 30 --write soak.json --html soak.html"
)
def run_command(
    invocation: Invocation,
    minutes: Annotated[
        float | None,
        typer.Option(min=0.1, help="How long faults happen [default: until each happened once]."),
    ] = None,
    rate: Annotated[
        float, typer.Option(min=1, help="Changes per second, all sources together.")
    ] = 300.0,
    faults: Annotated[
        str, typer.Option(help=f"`all`, `none`, or some of {', '.join(FaultKind)}, with commas.")
    ] = "all",
    table: Annotated[
        list[str] | None, typer.Option(help="Silver table; repeatable [default: one per source].")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Repeats the changes and faults of an earlier run [random].")
    ] = None,
    write: Annotated[Path | None, typer.Option(help="Write the report (JSON) to it.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as a page, too.")] = None,
    history: Annotated[
        Path | None, typer.Option(help="Write every step of the run to it (JSON lines).")
    ] = None,
) -> None:
    """Run numbered changes and random faults on the running lab, and report what was lost.

    Makes rows of its own and removes them again. Exits 4 if a change is missing in silver or
    bronze, is there twice, went back to an older version, or if the lab did not recover.
    """
    from labctl.soak.history import History
    from labctl.soak.soak_run import SoakPlan, run_soak

    if html is not None:
        require_extra("reports")
    plan = SoakPlan(
        seed=chosen_seed(seed),
        rate=rate,
        kinds=_kinds(faults),
        seconds=None if minutes is None else minutes * 60,
        tables=tuple(table or ()),
    )
    with History(history) as steps:
        report = run_soak(
            invocation.lab(), plan, steps, say=lambda line: stderr.print(line, highlight=False)
        )

    def page() -> str:
        from labctl.soak.soak_page import render_soak

        return render_soak(report)

    write_report(report, page, write=write, html=html)
    print_result(invocation.format, report.model_dump(mode="json"), lambda: _summary(report))
    if not report.sound:
        raise typer.Exit(int(ExitCode.DIFFERENT))


@command(soak, "report", example="labctl test soak report soak.json --write soak.html")
def report_command(
    invocation: Invocation,
    run: Annotated[Path, typer.Argument(help="A run's report (JSON).")],
    write: Annotated[
        Path | None, typer.Option(help="The page [default: beside the report, as .html].")
    ] = None,
) -> None:
    """Make a page with charts of a run's report. The page needs no network."""
    require_extra("reports")
    from labctl.soak.soak_page import render_soak

    target = write or run.with_suffix(".html")
    write_file(target, render_soak(SoakReport.load(run)))
    print_result(invocation.format, {"page": target}, lambda: str(target))


def _kinds(text: str) -> list[FaultKind]:
    if text == "all":
        return list(FaultKind)
    if text == "none":
        return []
    try:
        return [FaultKind(word.strip()) for word in text.split(",")]
    except ValueError:
        raise LabError(
            f"{text!r} names no faults",
            hint=f"all, none, or some of {', '.join(FaultKind)}, with commas between",
            exit_code=ExitCode.USAGE,
        ) from None


def _summary(report: SoakReport) -> RenderableType:
    recovery = Table("fault", "count", "p50", "max", box=None, pad_edge=False)
    for kind, found in report.recovery.items():
        recovery.add_row(kind, str(found.count), f"{found.p50:.1f} s", f"{found.maximum:.1f} s")
    changes = sum(table.acknowledged for table in report.tables)
    lines: list[RenderableType] = [
        recovery,
        "",
        f"{counted(changes, 'change')}, {counted(len(report.faults), 'fault')}: "
        f"missing {report.missing}, twice {report.twice}, stale {report.stale}",
        "All tables equal their sources." if report.verified else "Tables differ: labctl verify",
    ]
    if report.stepped_back:
        lines.append(
            f"{report.stepped_back:,} times a row was shown older than before while its table "
            "caught up after a fault"
        )
    lines += [f"not recovered: {f.kind} {f.service}" for f in report.unrecovered]
    lines += [
        f"grew: {g.what} of {g.of}, {g.begin:,.0f} to {g.end:,.0f} (bound {g.bound:,.0f})"
        for g in report.outgrown
    ]
    lines += [words for table in report.tables for words in table.finding.examples]
    return Group(*lines)
