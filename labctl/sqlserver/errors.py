"""The errors a client sees: SQL Server's numbers, severities and wording."""

from __future__ import annotations

__all__ = ["ConnectionLost", "SqlError", "unsupported"]


class SqlError(Exception):
    """An error as SQL Server reports it: Msg `number`, Level `severity`, State `state`.

    Severity 11 to 16 ends the statement, 17 and up are resource or internal errors, and 20 or
    more ends the connection.
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
    """PostgreSQL went away: the client's connection cannot go on."""


def unsupported(construct: str) -> SqlError:
    """The answer to what this server does not do: it names the construct, and never guesses."""
    return SqlError(40517, f"{construct} is not supported by this SQL Server stand-in.")
