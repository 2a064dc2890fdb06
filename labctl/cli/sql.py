"""`labctl athena shell`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from labctl.cli.answers import DatabaseOption
from labctl.cli.app import Invocation, command, group
from labctl.cli.output import stderr
from labctl.cli.sqlshell.session import Session
from labctl.errors import ExitCode, LabError
from labctl.lab.catalog.athena_client import athena_of
from labctl.lab.catalog.athena_connection import first_database

__all__ = ["sql_command"]


@command(
    group("athena"),
    "shell",
    example='labctl athena shell -c "SELECT count(*) FROM sale"',
    rows=True,
)
def sql_command(
    invocation: Invocation,
    sql: Annotated[
        str | None, typer.Option("--command", "-c", help="Run these statements and leave.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Run the statements of this file and leave.")
    ] = None,
    database: DatabaseOption = None,
) -> None:
    """Ask Athena's API in a shell: statements end with `;`, \\? lists the shell's commands.

    Without a terminal, statements are read from standard input. The first that fails ends it.
    """
    text, place = _given(sql, file)
    lab = invocation.lab()
    athena = athena_of(lab)
    session = Session(athena, database=database or first_database(lab), format_=invocation.format)
    if text is not None:
        session.run_all(text, place=place)
        return
    from labctl.cli.sqlshell.shell import converse

    stderr.print(f"{athena.connection.place}; \\? for help", highlight=False)
    converse(invocation, session, lab.state.sql_history)


def _given(sql: str | None, file: Path | None) -> tuple[str | None, str | None]:
    """Return the statements to run (None for a conversation), and where they came from."""
    if sql is not None and file is not None:
        raise LabError("Give --command or --file, not both", exit_code=ExitCode.USAGE)
    if sql is not None:
        return sql, None
    if file is None and sys.stdin.isatty() and sys.stdout.isatty():
        return None, None
    place = str(file) if file else "standard input"
    try:
        data = file.read_bytes() if file else sys.stdin.buffer.read()
        return data.decode("utf-8-sig"), place
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"{place} cannot be read: {error}", exit_code=ExitCode.USAGE) from None
