"""`labctl test latency`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result
from labctl.cli.reports import chosen_seed, write_file, write_report
from labctl.config.lab_config import SilverSource
from labctl.errors import ExitCode, LabError
from labctl.extras import require_extra
from labctl.latency.growth_report import GrowthName, GrowthReport
from labctl.latency.scenario import TableType, find_scenario, scenario_files

__all__ = ["compare_command", "growth_command", "list_command", "report_command", "run_command"]

latency = group("latency")


@command(latency, "run", example="labctl test latency run idle --write idle.json --html idle.html")
def run_command(
    invocation: Invocation,
    scenario: Annotated[str, typer.Argument(help="Name of a scenario, or path of its file.")],
    table: Annotated[
        list[str] | None,
        typer.Option(help="Silver table; repeatable [default: the file's, or the data set's]."),
    ] = None,
    source: Annotated[
        SilverSource | None, typer.Option(help="Where silver reads [default: as the lab is set].")
    ] = None,
    table_type: Annotated[
        TableType | None,
        typer.Option(help="Copy-on-write or merge-on-read [default: as the tables are set]."),
    ] = None,
    changes: Annotated[
        int | None, typer.Option(min=1, help="Changes of each table [default: the file's].")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Changes per second of each table [default: the file's].")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Repeats the changes of an earlier run [default: random].")
    ] = None,
    write: Annotated[Path | None, typer.Option(help="Write the report (JSON) to it.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as a page, too.")] = None,
) -> None:
    """Run a scenario on the running lab and report every hop.

    Makes rows of its own and removes them again; a lab that --source or --table-type changes is
    put back afterwards. Exits 4 if a change was lost, is there twice, or is not as it was made.
    """
    from labctl.cli.latency_live import LiveView
    from labctl.cli.latency_text import run_summary
    from labctl.latency.latency_run import run_scenario

    if html is not None:
        require_extra("reports")
    lab = invocation.lab()
    name, found = find_scenario(lab.project, scenario)
    # A file may be for other labs, too; what is named here is for this one.
    for given in table or ():
        lab.table(given)
    found = found.with_options(
        tables=tuple(table) if table else None,
        source=source,
        table_type=table_type,
        count=changes,
        rate=rate,
    )
    chosen = chosen_seed(seed)
    with LiveView() as view:
        report = run_scenario(lab, name, found, seed=chosen, observer=view)

    def page() -> str:
        from labctl.latency.html import render_html

        return render_html(report)

    write_report(report, page, write=write, html=html)
    print_result(invocation.format, report.model_dump(mode="json"), lambda: run_summary(report))
    if not report.sound:
        raise typer.Exit(int(ExitCode.DIFFERENT))


@command(latency, "list", example="labctl test latency list")
def list_command(invocation: Invocation) -> None:
    """List the project's scenarios."""
    project = invocation.lab().project
    found = {name: find_scenario(project, name)[1] for name in scenario_files(project)}
    data = {name: scenario.model_dump(mode="json") for name, scenario in found.items()}

    def render() -> RenderableType:
        table = Table(box=None, pad_edge=False)
        for title in ("scenario", "what", "tables"):
            table.add_column(title)
        for name, scenario in found.items():
            table.add_row(name, scenario.title, ", ".join(scenario.tables) or scenario.spread)
        return table

    print_result(invocation.format, data, render)


@command(latency, "report", example="labctl test latency report idle.json --write idle.html")
def report_command(
    invocation: Invocation,
    run: Annotated[Path, typer.Argument(help="A run's report (JSON).")],
    write: Annotated[
        Path | None, typer.Option(help="The page [default: beside the report, as .html].")
    ] = None,
) -> None:
    """Make a page with charts of a run's report. The page needs no network."""
    require_extra("reports")
    from labctl.latency.html import render_html
    from labctl.latency.latency_report import RunReport

    target = write or run.with_suffix(".html")
    write_file(target, render_html(RunReport.load(run)))
    print_result(invocation.format, {"page": target}, lambda: str(target))


@command(latency, "compare", example="labctl test latency compare before.json after.json")
def compare_command(
    invocation: Invocation,
    a: Annotated[Path, typer.Argument(help="A run's report (JSON).")],
    b: Annotated[Path, typer.Argument(help="Another.")],
) -> None:
    """Show two runs side by side, and how far the second is from the first."""
    from labctl.cli.latency_text import comparison_table
    from labctl.latency.compare import compare
    from labctl.latency.latency_report import RunReport

    found = compare(RunReport.load(a), RunReport.load(b))
    print_result(invocation.format, found, lambda: comparison_table(found, a.stem, b.stem))


@command(latency, "growth", example="labctl test latency growth rows --steps 100000,1000000")
def growth_command(
    invocation: Invocation,
    growth: Annotated[GrowthName, typer.Argument(help="What is made larger.")],
    steps: Annotated[str, typer.Option(help="Its sizes, rising, with commas between.")],
    scenario: Annotated[
        str, typer.Option(help="What is run at each size; on its first table.")
    ] = "idle",
    changes: Annotated[
        int | None, typer.Option(min=1, help="Changes at each size [default: the scenario's].")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Repeats an earlier one [random].")] = None,
    write: Annotated[
        Path | None, typer.Option(help="Write the figures (JSON) to it after each step.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with a chart to it.")] = None,
) -> None:
    """Run a scenario at several sizes of a table, of the application, or at several rates.

    rows: of the scenario's first table. tables: of the application, with twins of the smallest.
    rate: changes per second. age: changes made to the table so far. What was added is removed
    afterwards. Silver keeps removed rows as deleted ones, so use a lab made for this.
    """
    from labctl.cli.latency_live import LiveView
    from labctl.cli.latency_text import growth_table
    from labctl.latency.growth import measure_growth

    if html is not None:
        require_extra("reports")
    lab = invocation.lab()
    name, found = find_scenario(lab.project, scenario)
    chosen = chosen_seed(seed)

    def note(so_far: GrowthReport) -> None:
        view.step(so_far.steps[-1])
        if write is not None:
            write_file(write, so_far.to_json())

    with LiveView() as view:
        report = measure_growth(
            lab,
            growth,
            _numbers(steps),
            name,
            found.with_options(count=changes),
            seed=chosen,
            observer=view,
            note=note,
        )
    if html is not None:
        from labctl.latency.html import render_growth

        write_file(html, render_growth(report))
    print_result(invocation.format, report.model_dump(mode="json"), lambda: growth_table(report))
    if not report.sound:
        raise typer.Exit(int(ExitCode.DIFFERENT))


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise LabError(
            f"{text!r} is no list of whole numbers",
            hint="--steps 10000,100000",
            exit_code=ExitCode.USAGE,
        ) from None
