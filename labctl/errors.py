"""Errors that reach the user, and the exit codes that tell scripts what happened."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from enum import IntEnum

__all__ = ["ExitCode", "LabError", "did_you_mean"]


class ExitCode(IntEnum):
    """Exit codes of `labctl`. docs/cli.md has them in a table that is made from these lines."""

    OK = 0
    """The command did what it was asked."""
    FAILED = 1
    """The command failed."""
    USAGE = 2
    """The command line, `lab.toml` or another input is wrong. Nothing was changed."""
    NOT_READY = 3
    """The lab, or a service that the command needs, does not run or is not usable. From `status`
    and `verify`: something keeps changes from silver or bronze right now."""
    DIFFERENT = 4
    """`verify` found rows that differ, `bronze check` found damaged files, `latency` or `soak`
    found changes that are lost, wrong or there twice, or `conformance` found a table that is
    neither equal nor named."""
    ENVIRONMENT = 5
    """This machine lacks something that the lab needs: memory, disk, a port, a part."""
    BUSY = 6
    """Another command is changing this lab."""
    UNDECIDED = 7
    """`verify` could not tell: changes were still on their way when the time was up, a part did not
    answer, or a table or column cannot be compared."""
    INTERRUPTED = 130
    """Ctrl-C ended the command."""


class LabError(Exception):
    """An error with what happened and what to do next, shown without a traceback.

    `details` are shown as they are below the message: log lines, fields, rows.
    """

    def __init__(
        self,
        what: str,
        *,
        hint: str | None = None,
        details: tuple[str, ...] = (),
        exit_code: ExitCode = ExitCode.FAILED,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.details = details
        self.exit_code = exit_code

    def __str__(self) -> str:
        return f"{self.what} ({self.hint})" if self.hint else self.what


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the beginning of a hint with the known name that is like `name`; "" for none.

    A name without its database is compared with names without theirs.
    """
    full = {(one if "." in name else one.rpartition(".")[2]): one for one in known}
    close = get_close_matches(name, full, n=1)
    return f"did you mean {full[close[0]]}? " if close else ""
