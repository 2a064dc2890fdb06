"""Pieces of DuckDB's SQL with their Trino types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlapi.sql.budget import spend
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import UNKNOWN, Type, can_coerce

__all__ = [
    "FAILURE",
    "Code",
    "coerced",
    "failing",
    "failure",
    "identifier",
    "not_applicable",
    "text",
]

FAILURE = "§"
"""Mark around kind and message in DuckDB's error for a value that Trino refuses."""


@dataclass(frozen=True)
class Code:
    """DuckDB's SQL of an expression, with its type in Trino."""

    sql: str
    type: Type
    value: str | int | None = None
    """The value of a literal."""
    bind: str | None = None
    """Name of the function, for an aggregate or window function."""

    def __post_init__(self) -> None:
        spend(len(self.sql))


def text(value: str) -> str:
    """Return a string literal."""
    return "'" + value.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a quoted name."""
    return '"' + name.replace('"', '""') + '"'


def failing(kind: str, message: str, duck: str) -> str:
    """Return an expression that fails when it is evaluated, even within TRY; `message` is SQL.

    TRY does not accept `error()`, which counts as volatile, so this is a cast that cannot succeed.
    """
    shown = f"'{FAILURE}{kind}{FAILURE}' || {message} || '{FAILURE}'"
    return f"CAST(CAST({shown} AS INTEGER) AS {duck})"


def failure(kind: str, message: str) -> ValueError:
    """Return the exception that a Python function raises for a value that Trino refuses."""
    return ValueError(f"{FAILURE}{kind}{FAILURE}{message}{FAILURE}")


def coerced(code: Code, wanted: Type) -> Code:
    """Coerce a value implicitly to a type, as Trino does. Raises SqlError."""
    if code.type == wanted:
        return code
    if not can_coerce(code.type, wanted):
        raise SqlError("TYPE_MISMATCH", f"Cannot coerce {code.type} to {wanted}")
    if code.type == UNKNOWN or code.type.duck != wanted.duck:
        return Code(f"CAST({code.sql} AS {wanted.duck})", wanted, code.value)
    return Code(code.sql, wanted, code.value)


def not_applicable(operator: str, codes: Sequence[Code]) -> SqlError:
    kinds = f" {operator} ".join(str(code.type) for code in codes)
    return SqlError("TYPE_MISMATCH", f"Cannot apply operator: {kinds}")
