"""The errors that clients receive, with SQL Server's numbers, severities and wording."""

from __future__ import annotations

__all__ = ["ConnectionLost", "SqlError", "unsupported"]


class SqlError(Exception):
    """An error as SQL Server reports it: Msg `number`, Level `severity`, State `state`.

    Severities 11 to 16 end the statement, 17 and higher are resource or internal errors, and 20
    and higher end the connection.
    """

    def __init__(self, number: int, message: str, *, severity: int = 16, state: int = 1) -> None:
        super().__init__(message)
        self.number = number
        self.message = message
        self.severity = severity
        self.state = state
        self.line = 1
        self.procedure = ""

    def __str__(self) -> str:
        return f"Msg {self.number}, Level {self.severity}, State {self.state}: {self.message}"


class ConnectionLost(Exception):  # noqa: N818 - not an error of the client's statement
    """PostgreSQL's connection is gone, so the client's connection must end."""


def unsupported(construct: str) -> SqlError:
    """Return the error for a construct that this server does not support."""
    return SqlError(40517, f"{construct} is not supported by this SQL Server stand-in.")
