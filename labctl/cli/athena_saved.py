"""`labctl athena named` and `labctl athena prepared`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.answers import DatabaseOption, WideOption, one_line, print_answer
from labctl.cli.app import Invocation, command
from labctl.cli.output import print_result
from labctl.lab.catalog.athena_client import athena_of
from labctl.lab.catalog.athena_connection import connection_of, first_database
from labctl.lab.catalog.athena_saved import (
    NamedQueries,
    NamedQuery,
    PreparedStatement,
    PreparedStatements,
)

__all__ = ["named", "prepared"]

named = typer.Typer(
    name="named",
    help="Named queries: statements that are kept under a name.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
prepared = typer.Typer(
    name="prepared",
    help="Prepared statements: with `?` where a value is given later.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

QueryArgument = Annotated[str, typer.Argument(help="Its name, or its id.")]
NameArgument = Annotated[str, typer.Argument(help="Its name.")]
SqlArgument = Annotated[str, typer.Argument(help="The statement.")]
DescriptionOption = Annotated[str, typer.Option("--description", help="What it is for.")]


@command(named, "list", example="labctl athena named list")
def named_list(invocation: Invocation) -> None:
    """List the named queries."""
    queries = NamedQueries(connection_of(invocation.lab())).all()
    print_result(
        invocation.format,
        {"queries": queries},
        lambda: _listed(
            ("name", "database", "statement", "id"),
            [(one.name, one.database, one_line(one.sql), one.id) for one in queries],
        ),
    )


@command(named, "show", example="labctl athena named show categories")
def named_show(invocation: Invocation, name: QueryArgument) -> None:
    """Show a named query."""
    query = NamedQueries(connection_of(invocation.lab())).find(name)
    print_result(invocation.format, query, lambda: _shown(vars(query)))


@command(named, "create", example='labctl athena named create categories "SELECT * FROM category"')
def named_create(
    invocation: Invocation,
    name: NameArgument,
    sql: SqlArgument,
    database: DatabaseOption = None,
    description: DescriptionOption = "",
) -> None:
    """Keep a statement under a name."""
    lab = invocation.lab()
    query = NamedQuery("", name, database or first_database(lab), sql, description)
    made = NamedQueries(connection_of(lab)).create(query)
    _print_made(invocation, name, made=made)


@command(named, "delete", example="labctl athena named delete categories")
def named_delete(invocation: Invocation, name: QueryArgument) -> None:
    """Delete a named query."""
    NamedQueries(connection_of(invocation.lab())).delete(name)
    print_result(invocation.format, {"deleted": name}, lambda: f"{name} is deleted")


@command(named, "run", example="labctl athena named run categories", rows=True)
def named_run(invocation: Invocation, name: QueryArgument, wide: WideOption = False) -> None:
    """Run a named query in its database, and print its result."""
    athena = athena_of(invocation.lab())
    query = NamedQueries(athena.connection).find(name)
    answer = athena.run(query.sql, database=query.database)
    print_answer(invocation.format, answer, wide=wide)


@command(prepared, "list", example="labctl athena prepared list")
def prepared_list(invocation: Invocation) -> None:
    """List the prepared statements."""
    statements = PreparedStatements(connection_of(invocation.lab())).all()
    print_result(
        invocation.format,
        {"statements": statements},
        lambda: _listed(
            ("name", "statement"), [(one.name, one_line(one.sql)) for one in statements]
        ),
    )


@command(prepared, "show", example="labctl athena prepared show of_category")
def prepared_show(invocation: Invocation, name: NameArgument) -> None:
    """Show a prepared statement."""
    statement = PreparedStatements(connection_of(invocation.lab())).find(name)
    print_result(invocation.format, statement, lambda: _shown(vars(statement)))


@command(
    prepared,
    "create",
    example='labctl athena prepared create of_category "SELECT * FROM event WHERE catid = ?"',
)
def prepared_create(
    invocation: Invocation,
    name: NameArgument,
    sql: SqlArgument,
    description: DescriptionOption = "",
) -> None:
    """Keep a statement that takes values."""
    statement = PreparedStatement(name, sql, description)
    made = PreparedStatements(connection_of(invocation.lab())).create(statement)
    _print_made(invocation, name, made=made)


@command(prepared, "delete", example="labctl athena prepared delete of_category")
def prepared_delete(invocation: Invocation, name: NameArgument) -> None:
    """Delete a prepared statement."""
    PreparedStatements(connection_of(invocation.lab())).delete(name)
    print_result(invocation.format, {"deleted": name}, lambda: f"{name} is deleted")


@command(
    prepared, "run", example="""labctl athena prepared run named_event "'Macbeth'" """, rows=True
)
def prepared_run(
    invocation: Invocation,
    name: NameArgument,
    values: Annotated[
        list[str] | None,
        typer.Argument(help="One for each `?`, as in SQL: numbers, or text in quotes."),
    ] = None,
    database: DatabaseOption = None,
    wide: WideOption = False,
) -> None:
    """Run a prepared statement with these values, and print its result."""
    lab = invocation.lab()
    answer = athena_of(lab).run(
        f"EXECUTE {name}", database=database or first_database(lab), parameters=values or ()
    )
    print_answer(invocation.format, answer, wide=wide)


def _print_made(invocation: Invocation, name: str, *, made: bool) -> None:
    text = f"{name} is kept" if made else f"{name} is there already"
    print_result(invocation.format, {"name": name, "made": made}, lambda: text)


def _listed(titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> RenderableType:
    if not rows:
        return "there is none yet"
    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _shown(fields: dict[str, Any]) -> RenderableType:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in fields.items():
        if value:
            table.add_row(name, Text(value))
    return table
