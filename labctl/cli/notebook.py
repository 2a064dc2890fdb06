"""`labctl client notebook`."""

from __future__ import annotations

from labctl.cli.app import Invocation, command, group
from labctl.cli.passing_on import PassedOn, become
from labctl.lab.clients.notebooks import jupyter

__all__ = ["notebook_command"]


@command(group("client"), "notebook", example="labctl client notebook --no-browser", passes_on=True)
def notebook_command(invocation: Invocation, arguments: PassedOn = None) -> None:
    """Open JupyterLab on the project's notebooks, with the running lab.

    A project without a folder `notebooks` gets one, with labctl's own notebook: Spark SQL over a
    silver table, time travel, point in time, deletes. Arguments are JupyterLab's own.
    """
    become(jupyter(invocation.lab().require_running()), arguments)
