"""Pieces of DuckDB's SQL with the Trino type of their value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlapi.sql.budget import spend
from sqlapi.sql.errors import SqlError
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
"""Stands around kind and message in what DuckDB says of a value that Trino refuses."""


@dataclass(frozen=True)
class Code:
    """An expression for DuckDB, and what it is to Trino."""

    sql: str
    type: Type
    value: str | int | None = None
    """The value, where the text is a literal."""
    bind: str | None = None
    """Name of the aggregate or window function, where it is one."""

    def __post_init__(self) -> None:
        spend(len(self.sql))


def text(value: str) -> str:
    """A string literal."""
    return "'" + value.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A quoted name."""
    return '"' + name.replace('"', '""') + '"'


def failing(kind: str, message: str, duck: str) -> str:
    """An expression that fails when it is evaluated, also below TRY; `message` is SQL.

    `error()` counts as volatile, which TRY does not take: a cast that cannot be does as well.
    """
    shown = f"'{FAILURE}{kind}{FAILURE}' || {message} || '{FAILURE}'"
    return f"CAST(CAST({shown} AS INTEGER) AS {duck})"


def failure(kind: str, message: str) -> ValueError:
    """What a function in Python raises for such a value."""
    return ValueError(f"{FAILURE}{kind}{FAILURE}{message}{FAILURE}")


def coerced(code: Code, wanted: Type) -> Code:
    """The same value in the type that Trino turns it into by itself. Raises SqlError."""
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
