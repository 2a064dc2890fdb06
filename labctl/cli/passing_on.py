"""Parts shared by the commands that become another program."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from labctl.lab.clients.client_programs import Program

__all__ = ["AsAdministrator", "BeginIn", "PassedOn", "become"]

BeginIn = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="Begin in this source's database [default: that of the engine's first source].",
        show_default=False,
    ),
]

AsAdministrator = Annotated[
    bool,
    typer.Option(
        "--admin",
        help="Log in as the server's administrator, who may do everything on it: a trigger or a "
        "function of a source then runs with the same rights.",
    ),
]

PassedOn = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ARGUMENT]...",
        help="Passed on as they are. Behind `--` also --help, --lab and --profile.",
        show_default=False,
    ),
]


def become(program: Program, arguments: Sequence[str] | None) -> NoReturn:
    """Replace this process: the terminal, signals and the exit code are the program's own."""
    sys.stdout.flush()
    sys.stderr.flush()
    # Python ignores them, and what follows would inherit that: a client whose reader left
    # (`labctl client psql … | head`) is to end quietly.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    argv = [*program.argv, *(arguments or ())]
    os.execve(argv[0], argv, program.environment())  # noqa: S606 - arguments are not a shell's
