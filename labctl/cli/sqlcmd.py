"""`labctl client sqlcmd`."""

from __future__ import annotations

import typer

from labctl.cli.app import Invocation, command, group
from labctl.cli.passing_on import BeginIn, PassedOn, become
from labctl.errors import ExitCode
from labctl.lab.clients.client_programs import sqlcmd
from labctl.lab.clients.tsql import run_statements

__all__ = ["sqlcmd_command"]


@command(
    group("client"),
    "sqlcmd",
    example='labctl client sqlcmd -Q "SELECT count(*) FROM crm.[user]"',
    passes_on=True,
)
def sqlcmd_command(
    invocation: Invocation, source: BeginIn = None, arguments: PassedOn = None
) -> None:
    """Run the machine's sqlcmd on the lab's SQL Server, as its administrator.

    Where there is none, labctl reads statements itself, up to each line that says GO: typed, piped
    in, or with -Q, -i and -d as sqlcmd has them. It exits with 1 when one of them failed.
    """
    lab = invocation.lab().require_running()
    if program := sqlcmd(lab, source):
        become(program, arguments)
    if not run_statements(lab, arguments or (), source):
        raise typer.Exit(int(ExitCode.FAILED))
