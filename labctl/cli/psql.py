"""`labctl client psql`."""

from __future__ import annotations

from labctl.cli.app import Invocation, command, group
from labctl.cli.passing_on import AsAdministrator, BeginIn, PassedOn, become
from labctl.cli.progress import ConsoleProgress
from labctl.lab.clients.client_programs import psql

__all__ = ["psql_command"]


@command(
    group("client"),
    "psql",
    example='labctl client psql -c "SELECT count(*) FROM ems.event"',
    passes_on=True,
)
def psql_command(
    invocation: Invocation,
    source: BeginIn = None,
    admin: AsAdministrator = False,
    arguments: PassedOn = None,
) -> None:
    """Run psql on the lab's PostgreSQL, as the owner of its sources.

    Its arguments, input, output and exit code are psql's own: `labctl client psql -f changes.sql`.
    """
    lab = invocation.lab().require_running()
    with ConsoleProgress() as progress:
        program = psql(lab, progress, source, admin=admin)
    become(program, arguments)
