"""`labctl client env`."""

from __future__ import annotations

import shlex

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result
from labctl.lab.clients.client_environment import client_environment

__all__ = ["env_command"]


@command(group("client"), "env", example='eval "$(labctl client env)" && psql')
def env_command(invocation: Invocation) -> None:
    """Print shell variables that point psql, mysql, aws and others at the lab.

    Passwords are not printed: the variables name files that only you can read.
    """
    values = client_environment(invocation.lab())
    text = "\n".join(f"export {key}={shlex.quote(value)}" for key, value in values.items())
    print_result(invocation.format, values, lambda: text)
