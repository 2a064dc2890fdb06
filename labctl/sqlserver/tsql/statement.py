"""A translated statement."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg.sql import SQL, Composable, Composed

from labctl.sqlserver.sqltypes import SqlType
from labctl.sqlserver.tsql.names import PgName

__all__ = ["Insertion", "Output", "Statement"]


@dataclass(frozen=True, slots=True)
class Output:
    """A result column: the name to show (None: PostgreSQL's or the table's) and a known type."""

    name: str | None
    type: SqlType | None = None
    star: bool = False


@dataclass(frozen=True, slots=True)
class Insertion:
    """An INSERT in pieces: its final form depends on the table, and on SET IDENTITY_INSERT.

    `lists_columns` is false for an INSERT without a column list, which leaves an identity column
    out: the caller looks the other columns up.
    """

    place: PgName
    before: Composable
    after: Composable
    lists_columns: bool

    def sql(self, columns: Composable = SQL(""), *, explicit_identity: bool = False) -> Composed:  # noqa: B008 - a constant
        """The statement; `columns` is a list in parentheses, or nothing."""
        overriding = SQL(" OVERRIDING SYSTEM VALUE") if explicit_identity else SQL("")
        return SQL("{}{}{} {}").format(self.before, columns, overriding, self.after)


@dataclass(slots=True)
class Statement:
    """SQL for PostgreSQL with `$n` for `parameters[n-1]`.

    `returns` tells whether rows go to the client; `assigns` names the variables that take the last
    row's values instead.
    """

    sql: Composable
    verb: str
    parameters: tuple[str, ...] = ()
    returns: bool = False
    outputs: tuple[Output, ...] = ()
    assigns: tuple[str, ...] = ()
    insertion: Insertion | None = None
    locks: tuple[PgName, ...] = ()
    reads: bool = False
