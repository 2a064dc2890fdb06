"""`labctl table`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result, stderr
from labctl.cli.progress import ConsoleProgress
from labctl.cli.table_import import import_command
from labctl.counted import counted
from labctl.errors import ExitCode
from labctl.lab.lab import Lab
from labctl.lab.tables.table_fitness import FitTable
from labctl.lab.tables.table_stations import TableCheck, check_tables
from labctl.scaffolding.new_tables import add_table, check_columns, remove_table
from labctl.tables import LabTable

__all__ = ["add_command", "check_command", "list_command", "remove_command"]

app = group("table")
SourceTable = Annotated[str, typer.Argument(metavar="SOURCE.SCHEMA.TABLE", help="Which one.")]


@command(app, "list", example="labctl table list")
def list_command(invocation: Invocation) -> None:
    """List the tables that the project captures: source, topic, silver table and file."""
    lab = invocation.lab()
    rows = [_row(lab, table) for table in lab.tables]
    print_result(invocation.format, {"tables": rows}, lambda: _table(rows))


@command(app, "add", example="labctl table add orders.public.invoice")
def add_command(invocation: Invocation, name: SourceTable) -> None:
    """Capture a table of a source: write what it needs, start it, wait for its first rows.

    The table must be there and have a primary key. Its properties file is written, and the
    connector's filter extended where it has one. A table that the project has already is started.
    """
    lab = invocation.lab()
    with ConsoleProgress() as progress:
        added = add_table(lab, name, progress, say=lambda line: stderr.print(line, highlight=False))
    files = [_path(lab, path) for path in added.files]
    data = {
        "table": added.table.name,
        "topic": added.table.topic,
        "files": files,
        "source_rows": added.source_rows,
        "silver_rows": added.silver_rows,
    }
    said = [f"{file} written" for file in files]
    rows = f"{added.silver_rows:,} of {counted(added.source_rows, 'row', 'are')} in silver"
    query = f'Next: labctl query "SELECT * FROM {added.table.name}"'  # noqa: S608
    print_result(
        invocation.format,
        data,
        lambda: "\n".join([*said, f"{added.table.name}: {rows}", invocation.addressed(query)]),
    )


@command(app, "remove", example="labctl table remove orders.public.invoice")
def remove_command(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(help="SOURCE.SCHEMA.TABLE, or the silver table's name.")],
) -> None:
    """Stop capturing a table: delete its properties file, and take it out of the connector.

    The source's table, its topic, bronze files and silver table stay as they are.
    """
    lab = invocation.lab()
    with ConsoleProgress() as progress:
        removed = remove_table(lab, name, progress)
    files = [_path(lab, path) for path in removed.files]
    of_it = ", ".join(files) or "its file was gone already"
    print_result(
        invocation.format,
        {"table": removed.name, "files": files},
        lambda: f"{removed.name} is not captured any more ({of_it})",
    )


@command(app, "check", example="labctl table check orders.public.invoice")
def check_command(
    invocation: Invocation,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Silver tables, or SOURCE.SCHEMA.TABLE of ones to be [default: all silver tables]."
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="NAME", help="All tables that a source's connector reads.")
    ] = None,
) -> None:
    """Say where each table stands from its source to silver, and what is missing.

    Of SOURCE.SCHEMA.TABLE, captured or not, and with --source: what becomes of each column, and
    the key that changes it. Exits 3 if something is missing, 2 if a table cannot be captured.
    """
    lab = invocation.lab().require_running()
    known = {name for table in lab.tables for name in (table.name, table.properties.table)}
    # A silver table's name may have no dot, that of a source's table has.
    columns = [name for name in names or () if name not in known and "." in name]
    silver = [lab.table(name) for name in names or () if name not in columns]
    fit = check_columns(lab, columns, source)
    if not names and source is None:
        silver = lab.tables
    checks = check_tables(lab, silver) if silver else []
    data = {"tables": checks, "columns": [one.data() for one in fit]}
    parts = [_columns(invocation, one) for one in fit]
    print_result(
        invocation.format,
        data,
        lambda: Group(*parts, *([_checks(invocation, checks)] if checks else [])),
    )
    if any(one.refusals for one in fit):
        raise typer.Exit(int(ExitCode.USAGE))
    if any(check.missing for check in checks):
        raise typer.Exit(int(ExitCode.NOT_READY))


def _row(lab: Lab, table: LabTable) -> dict[str, Any]:
    return {
        "source": table.source,
        "table": f"{table.db_schema}.{table.source_name}",
        "topic": table.topic,
        "silver": table.name,
        "file": _path(lab, table.properties.file),
    }


def _path(lab: Lab, path: Any) -> str:
    return str(path.relative_to(lab.project))


def _table(rows: list[dict[str, Any]]) -> RenderableType:
    shown = Table(box=None, pad_edge=False)
    for title in ("source", "table", "topic", "silver", "file"):
        shown.add_column(title, overflow="fold")
    for row in rows:
        shown.add_row(*row.values())
    return shown


def _columns(invocation: Invocation, table: FitTable) -> RenderableType:
    shown = Table(box=None, pad_edge=False)
    for title in ("column", "verdict", "silver", "how"):
        shown.add_column(title, overflow="fold")
    for one in table.findings:
        how = "; ".join(filter(None, (one.why, one.change)))
        shown.add_row(Text(one.column or "the table"), one.verdict, one.silver, Text(how))
    key = "" if table.has_key else ": it has no primary key, and cannot be captured"
    return Group(Text(invocation.addressed(f"{table.source} {table.ref}{key}")), shown, "")


def _checks(invocation: Invocation, checks: list[TableCheck]) -> RenderableType:
    shown = Table(box=None, pad_edge=False)
    for title in ("source", "rows", "connector", "records", "silver", "rows", "state"):
        shown.add_column(title, justify="right" if title in ("rows", "records") else "left")
    for one in checks:
        shown.add_row(
            one.source,
            _count(one.source_rows),
            one.connector,
            _count(one.topic_records),
            one.table,
            _count(one.silver_rows),
            one.silver,
        )
    lines = [
        Text(invocation.addressed(f"{one.table}: {missing}"))
        for one in checks
        for missing in one.missing
    ]
    return Group(shown, *lines) if lines else Group(shown, "Nothing is missing.")


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


command(app, "import", example="labctl table import ~/hudi_deltastreamer --write")(import_command)
