"""Errors of statements, with Athena's messages."""

from __future__ import annotations

from typing import Any

__all__ = ["SqlError"]


class SqlError(Exception):
    """A statement fails: `SYNTAX_ERROR: line 1:8: Function 'f' not registered`.

    `kind` is one of Trino's error names; a user error can be fixed by changing the statement.
    """

    def __init__(self, kind: str, message: str, *, position: tuple[int, int] | None = None) -> None:
        self.kind = kind
        self.position = position
        where = f"line {position[0]}:{position[1]}: " if position else ""
        super().__init__(f"{kind}: {where}{message}")
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.kind, self.message, self.position)


def _again(kind: str, message: str, position: tuple[int, int] | None) -> SqlError:
    return SqlError(kind, message, position=position)
