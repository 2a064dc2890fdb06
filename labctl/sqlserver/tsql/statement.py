"""A translated statement."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg.sql import SQL, Composable, Composed

from labctl.sqlserver.sqltypes import SqlType
from labctl.sqlserver.tsql.object_names import PgName

__all__ = ["Insertion", "Output", "Statement"]


@dataclass(frozen=True, slots=True)
class Output:
    """A result column: its name (None: that of PostgreSQL or the table) and its type if known."""

    name: str | None
    type: SqlType | None = None
    star: bool = False


@dataclass(frozen=True, slots=True)
class Insertion:
    """An INSERT in parts: its final form depends on the table and on SET IDENTITY_INSERT.

    `lists_columns` is false for an INSERT without a column list. It omits an identity column, so
    the caller looks up the other columns.
    """

    place: PgName
    before: Composable
    after: Composable
    lists_columns: bool

    def sql(self, columns: Composable = SQL(""), *, explicit_identity: bool = False) -> Composed:  # noqa: B008 - a constant
        """Return the statement; `columns` is a list in parentheses, or empty."""
        overriding = SQL(" OVERRIDING SYSTEM VALUE") if explicit_identity else SQL("")
        return SQL("{}{}{} {}").format(self.before, columns, overriding, self.after)


@dataclass(slots=True)
class Statement:
    """A statement for PostgreSQL with `$n` for `parameters[n-1]`.

    `returns` says whether rows go to the client. `assigns` names variables that receive the last
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
