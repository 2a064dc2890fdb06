"""`labctl test conformance`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result, stderr
from labctl.cli.reports import write_file
from labctl.counted import counted
from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError

if TYPE_CHECKING:
    from labctl.conformance.conformance_report import ConformanceReport

__all__ = ["conformance_command"]

_SHOWN = 12
"""Statements of one failure."""


@command(
    group("test"),
    "conformance",
    example="labctl test conformance --seeds 60 --json conformance.json",
)
def conformance_command(
    invocation: Invocation,
    engine: Annotated[
        list[str] | None, typer.Option(help="Engine; repeatable [default: those of the lab].")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many tables, all engines together.")] = 60,
    start: Annotated[int, typer.Option(min=0, help="The first seed of each engine.")] = 0,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Only this seed: one table per engine.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="As many tables as these hold, not --seeds.")
    ] = None,
    batch: Annotated[int, typer.Option(min=1, help="Tables in the lab at a time.")] = 60,
    faults: Annotated[
        bool, typer.Option("--faults", help="Kill Connect or Spark within each history.")
    ] = False,
    shrink: Annotated[int, typer.Option(min=0, help="How many failures to make smaller.")] = 10,
    json: Annotated[Path | None, typer.Option(help="Write the report (JSON) to it.")] = None,
    append: Annotated[
        bool, typer.Option("--append", help="Go on from the report of --json, and add to it.")
    ] = False,
) -> None:
    """Generate tables and histories, and prove that each is equal in silver or named.

    Takes a running lab, uses databases of its own, and removes them again; your project's files and
    tables stay as they are. Each table has to be equal by two comparisons, refused before capture,
    or put aside by name. Exits 4 if one is not, and prints its seed and the smallest form of it.
    """
    from labctl.conformance.appending import continued, joined, require_same
    from labctl.conformance.conformance_report import ConformanceReport
    from labctl.conformance.conformance_run import Plan, environment, run_conformance

    if append and (json is None or seed is not None):
        raise LabError(
            "--append takes the file of --json, and the seeds that follow those in it",
            hint="labctl test conformance --json FILE --append",
            exit_code=ExitCode.USAGE,
        )
    engines = tuple(map(_engine, engine or ()))
    lab = invocation.lab()
    count = seeds
    if seed is not None:
        count = len(engines) or len({source.engine for source in lab.config.sources.values()})
    plan = Plan(
        engines,
        first_seed=start if seed is None else seed,
        tables=count,
        minutes=minutes,
        batch=batch,
        faults=faults,
        shrink=shrink,
    )
    kept = ConformanceReport.load(json) if append and json and json.is_file() else None
    if kept is not None:
        plan = continued(plan, kept)
        require_same(kept.environment, environment(lab))
    report = run_conformance(lab, plan, say=lambda line: stderr.print(line, highlight=False))
    if kept is not None:
        report = joined(kept, report)
    if json is not None:
        write_file(json, report.to_json())
    print_result(invocation.format, report.model_dump(mode="json"), lambda: _summary(report))
    if not report.sound:
        raise typer.Exit(int(ExitCode.DIFFERENT))


def _engine(text: str) -> EngineName:
    from labctl.scaffolding.new_source import engine_of
    from labctl.sources import ENGINES

    engine = engine_of(text)
    if engine is None:
        raise LabError(
            f"{text!r} names no engine",
            hint=f"one of {', '.join(ENGINES)}",
            exit_code=ExitCode.USAGE,
        )
    return engine


def _summary(report: ConformanceReport) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    titles = ("equal", "uncompared", "refused", "put aside", "failed", "invalid")
    for title in ("engine", *titles):
        table.add_column(title, justify="left" if title == "engine" else "right")
    for engine, counts in report.engines.items():
        numbers = (getattr(counts, title.replace(" ", "_")) for title in titles)
        table.add_row(engine, *map(str, numbers))
    lines: list[RenderableType] = [table, ""]
    for one in report.named:
        lines.append(Text(f"{one.engine} seed {one.seed} {one.end}: {one.reason}"))
    for failure in report.failures:
        where = f" after its {failure.phase}" if failure.phase else ""
        lines.append(
            Text(f"\n{failure.engine} seed {failure.seed} failed{where}: {failure.reason}")
        )
        shown = failure.statements[:_SHOWN]
        lines += [Text(f"    {statement}") for statement in shown]
        if left := len(failure.statements) - len(shown):
            lines.append(Text(f"    and {left} statements more, which --json has"))
        lines.append(Text(f"    again: {failure.reproduce}"))
    lines.append(
        Text(
            f"{counted(report.tables, 'table')} in {report.seconds:.0f} s, "
            f"{report.tables_per_minute:.0f} per minute without making failures smaller"
        )
    )
    return Group(*lines)
