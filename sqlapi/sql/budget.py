"""Limits of one translation: of its SQL, its types, and the statement."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sqlapi.sql.statement_errors import SqlError

__all__ = ["LONGEST", "budget", "check_length", "check_type", "spend", "too_deep"]

LONGEST_STATEMENT = 262_144
"""Largest size of a statement in bytes, as in Athena."""
LONGEST = 1_000_000
"""Largest number of characters of DuckDB's SQL."""
_TOTAL = 60 * LONGEST
_PIECE = 64
_PARTS_OF_TYPE, _DEPTH_OF_TYPE = 10_000, 30
_left: ContextVar[list[int] | None] = ContextVar("left", default=None)


_FRAMES = 5000
"""Depth of calls that the deepest accepted statement needs. Frames are on Python's heap."""
sys.setrecursionlimit(max(sys.getrecursionlimit(), _FRAMES))


@contextmanager
def budget() -> Iterator[None]:
    """Limit the total size of all pieces of SQL that are made within, including copies."""
    token = _left.set([_TOTAL])
    try:
        yield
    finally:
        _left.reset(token)


def spend(characters: int) -> None:
    """Take a piece of this length from the budget. Raises SqlError if nothing is left."""
    left = _left.get()
    if left is None:
        return
    left[0] -= characters + _PIECE
    if left[0] < 0 or characters > LONGEST:
        raise SqlError("NOT_SUPPORTED", f"The statement is too large: {_ADVICE}")


_ADVICE = f"what it is translated to has more than {LONGEST:,} characters"


def check_length(sql: str) -> None:
    """Raise SqlError for a statement that is longer than Athena's limit."""
    if len(sql) > LONGEST_STATEMENT or len(sql.encode(errors="replace")) > LONGEST_STATEMENT:
        raise SqlError(
            "SYNTAX_ERROR", f"The statement has more than {LONGEST_STATEMENT} bytes",
            position=(1, 1),
        )  # fmt: skip


def check_type(parts: int, depth: int) -> None:
    """Raise SqlError for a type with more parts than any table's column has."""
    if parts > _PARTS_OF_TYPE:
        raise SqlError("NOT_SUPPORTED", f"A type of more than {_PARTS_OF_TYPE:,} parts")
    if depth > _DEPTH_OF_TYPE:
        raise SqlError("NOT_SUPPORTED", f"A type of more than {_DEPTH_OF_TYPE} types in each other")


def too_deep() -> SqlError:
    """Return the error for a statement that is nested too deeply."""
    return SqlError(
        "NOT_SUPPORTED", "The statement is nested too deeply: write parts of it as WITH queries"
    )
