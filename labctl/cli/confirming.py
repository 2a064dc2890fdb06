"""The question before a command deletes something."""

from __future__ import annotations

from typing import Annotated

import typer

from labctl.cli.output import stderr
from labctl.errors import ExitCode, LabError

__all__ = ["YesOption", "confirm"]

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def confirm(question: str, *, yes: bool) -> None:
    """Ask `question` and end the command unless the answer is yes; with `yes`, do not ask.

    Raises LabError (USAGE) without a terminal, where nobody can answer.
    """
    if yes:
        return
    if not stderr.is_terminal:
        raise LabError(
            f"{question} Nobody is here to confirm it",
            hint="--yes does it without being asked; nothing was changed",
            exit_code=ExitCode.USAGE,
        )
    typer.confirm(question, abort=True, err=True)
