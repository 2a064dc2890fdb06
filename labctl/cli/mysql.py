"""`labctl client mysql`."""

from __future__ import annotations

from labctl.cli.app import Invocation, command, group
from labctl.cli.passing_on import AsAdministrator, BeginIn, PassedOn, become
from labctl.cli.progress import ConsoleProgress
from labctl.lab.clients.client_programs import mysql

__all__ = ["mysql_command"]


@command(
    group("client"),
    "mysql",
    example='labctl client mysql -e "SELECT count(*) FROM sale"',
    passes_on=True,
)
def mysql_command(
    invocation: Invocation,
    source: BeginIn = None,
    admin: AsAdministrator = False,
    arguments: PassedOn = None,
) -> None:
    """Run mysql on the lab's MySQL, as the owner of its sources.

    Its arguments, input, output and exit code are mysql's own: `labctl client mysql < changes.sql`.
    The option files of your own are not read: they are for other servers.
    """
    lab = invocation.lab().require_running()
    with ConsoleProgress() as progress:
        program = mysql(lab, progress, source, admin=admin)
    become(program, arguments)
