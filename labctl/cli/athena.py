"""`labctl athena`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.answers import DatabaseOption, WideOption, one_line, print_answer
from labctl.cli.app import Invocation, command, group
from labctl.cli.athena_saved import named, prepared
from labctl.cli.output import print_result
from labctl.cli.records import CountOption
from labctl.lab.catalog.athena_client import Execution, athena_of
from labctl.lab.catalog.athena_connection import first_database

__all__ = ["history_command", "run_command"]

app = group("athena")
app.add_typer(named)
app.add_typer(prepared)


@command(
    app,
    "run",
    example='labctl athena run "SELECT catgroup, count(*) AS n FROM category GROUP BY 1"',
    rows=True,
)
def run_command(
    invocation: Invocation,
    sql: Annotated[str, typer.Argument(help="One statement, as Athena takes it.")],
    database: DatabaseOption = None,
    wide: WideOption = False,
) -> None:
    """Run a statement by Athena's API: start it, wait for its end, print its result.

    A merge-on-read table `t` is `t_rt` too, and `t_ro` as far as it is compacted.
    """
    lab = invocation.lab()
    answer = athena_of(lab).run(sql, database=database or first_database(lab))
    print_answer(invocation.format, answer, wide=wide)


@command(app, "history", example="labctl athena history --count 5")
def history_command(invocation: Invocation, count: CountOption = 20) -> None:
    """List the executions, the newest first: whoever started them, and how they ended."""
    executions = athena_of(invocation.lab()).history(count)
    print_result(invocation.format, {"executions": executions}, lambda: _listed(executions))


def _listed(executions: list[Execution]) -> RenderableType:
    if not executions:
        return "nothing has been run yet"
    table = Table(box=None, pad_edge=False)
    for title in ("submitted", "state", "ms", "KiB", "execution", "statement"):
        right = title in ("ms", "KiB")
        table.add_column(title, justify="right" if right else "left", overflow="fold")
    for one in executions:
        table.add_row(
            one.submitted.strftime("%Y-%m-%d %H:%M:%S"),
            one.state,
            f"{one.milliseconds:,}",
            f"{one.scanned_bytes / 1024:,.0f}",
            one.id,
            Text(one_line(one.sql)),
        )
    return table
