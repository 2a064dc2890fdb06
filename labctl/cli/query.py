"""`labctl query`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["query_command", "rows_table"]

SHOWN_ROWS = 50


class EngineName(StrEnum):
    EMBEDDED = "embedded"
    SPARK = "spark"


@command(root, "query", example='labctl query "SELECT * FROM sale WHERE salesid = 200" --as-of -5m')
def query_command(
    invocation: Invocation,
    sql: Annotated[str, typer.Argument(help="One SELECT over silver tables.")],
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="The tables as they were then (time travel).")
    ] = None,
    from_: Annotated[
        str | None, typer.Option("--from", help="Only rows written after this (point in time).")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="Only rows written up to this (point in time).")
    ] = None,
    deleted: Annotated[
        bool, typer.Option("--deleted", help="Show rows deleted at the source too.")
    ] = False,
    read_optimized: Annotated[
        bool, typer.Option("--read-optimized", help="Merge-on-read: compacted files only.")
    ] = False,
    engine: Annotated[EngineName, typer.Option(help="Who answers.")] = EngineName.EMBEDDED,
) -> None:
    """Answer SQL over the silver tables: now, as they were, or what changed."""
    from labctl.lake import Lake, View
    from labctl.lake.spark import SparkEngine

    view = View.parse(
        as_of=as_of, begin=from_, end=to, deleted=deleted, read_optimized=read_optimized
    )
    lab = invocation.lab().require_running()
    spark = None
    if engine is EngineName.SPARK:
        spark = SparkEngine(lab.artifacts.spark_jars(), lab.artifacts.java())
    answer = Lake(lab.endpoints.objectstore).query(sql, view, engine=spark)
    data = {
        "columns": [{"name": f.name, "type": str(f.type)} for f in answer.schema],
        "rows": answer.to_pylist(),
    }
    print_result(invocation.format, data, lambda: rows_table(answer))


def rows_table(answer: pa.Table) -> RenderableType:
    """The first rows as a table; one row as a list of columns."""
    if answer.num_rows == 1 and answer.num_columns > 6:
        single = Table(box=None, pad_edge=False, show_header=False)
        for name, values in answer.to_pydict().items():
            single.add_row(name, _cell(values[0]))
        return single
    table = Table(box=None, pad_edge=False)
    for name in answer.column_names:
        table.add_column(name, overflow="fold")
    for row in answer.slice(0, SHOWN_ROWS).to_pylist():
        table.add_row(*(_cell(value) for value in row.values()))
    more = answer.num_rows - SHOWN_ROWS
    count = f"{answer.num_rows:,} rows" + (f", {more:,} not shown" if more > 0 else "")
    return Group(table, count)


def _cell(value: object) -> str:
    return "null" if value is None else str(value)
