"""Errors that reach the user, and the exit codes that tell scripts what happened."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["ExitCode", "LabError"]


class ExitCode(IntEnum):
    """Exit codes of `labctl`; documented in docs/cli.md."""

    OK = 0
    FAILED = 1
    """Something the command tried did not work."""
    USAGE = 2
    """The command line, `lab.toml` or another input is wrong; nothing was changed."""
    NOT_READY = 3
    """The lab or one of its services is not running or not usable."""
    DIFFERENT = 4
    """Silver is not as the sources are: rows differ, or changes were lost or are there twice."""
    ENVIRONMENT = 5
    """This machine lacks something the lab needs (memory, disk, a port, a part)."""
    BUSY = 6
    """Another command is changing this lab."""
    UNDECIDED = 7
    """`verify` could not tell: changes were still on their way, a part did not answer, or a column
    cannot be compared."""
    INTERRUPTED = 130
    """Ended by Ctrl-C."""


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
