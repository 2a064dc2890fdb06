"""`labctl query`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from rich.text import Text

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result, stderr
from labctl.cli.rows import rows_table
from labctl.lake.answer_rows import own_columns, records_of, rows_csv

__all__ = ["query_command"]


class EngineName(StrEnum):
    EMBEDDED = "embedded"
    SPARK = "spark"


@command(
    root,
    "query",
    example='labctl query "SELECT * FROM sale WHERE salesid = 200" --as-of -5m',
    rows=True,
)
def query_command(
    invocation: Invocation,
    sql: Annotated[str, typer.Argument(help="One SELECT over silver tables, or SHOW TABLES.")],
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
    all_columns: Annotated[
        bool, typer.Option("--all-columns", help="Of *, show those of Hudi and Debezium, too.")
    ] = False,
    engine: Annotated[EngineName, typer.Option(help="Who answers.")] = EngineName.EMBEDDED,
    wide: Annotated[
        bool, typer.Option("--wide", help="One line per row, however long it gets.")
    ] = False,
) -> None:
    """Answer SQL over the silver tables: now, as they were, or what changed.

    Views of the catalog are read by database.view, as they are or were.

    Rows that are wider than the terminal are shown one column per line. `--output csv` prints all
    rows as CSV.
    """
    from labctl.lab.catalog.query_views import LabViews
    from labctl.lake import Lake, View
    from sqlapi.instants import to_datetime

    view = View.parse(
        as_of=as_of, begin=from_, end=to, deleted=deleted, read_optimized=read_optimized
    )
    lab = invocation.lab().require_running()
    spark = None
    if engine is EngineName.SPARK:
        from labctl.lake.spark_queries import SparkEngine

        spark = SparkEngine(lab.artifacts.spark_jars(), lab.artifacts.java())
    lake = Lake(lab.endpoints.objectstore)
    answer = lake.query(sql, view, engine=spark, views=LabViews(lab))
    if not answer.num_rows:
        for name, first in lake.before_history(sql, view).items():
            when = to_datetime(first).isoformat(sep=" ", timespec="milliseconds")
            stderr.print(Text(f"{name} had no commit at {view.at} yet: its first is of {when}"))
    if not all_columns:
        answer = own_columns(answer, sql)
    data = {
        "columns": [{"name": f.name, "type": str(f.type)} for f in answer.schema],
        "rows": records_of(answer),
    }
    print_result(
        invocation.format,
        data,
        lambda: rows_table(answer, wide=wide),
        csv=lambda: rows_csv(answer),
    )
