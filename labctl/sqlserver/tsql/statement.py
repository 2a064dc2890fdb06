"""A translated statement."""

from __future__ import annotations

from dataclasses import dataclass

from labctl.sqlserver.sqltypes import SqlType
from labctl.sqlserver.tsql.names import PgName

__all__ = ["COLUMNS_MARK", "Output", "Statement"]


COLUMNS_MARK = "/*columns*/"


@dataclass(frozen=True, slots=True)
class Output:
    """A result column: the name to show (None: PostgreSQL's or the table's) and a known type."""

    name: str | None
    type: SqlType | None = None
    star: bool = False


@dataclass(slots=True)
class Statement:
    """SQL for PostgreSQL with `$n` for `parameters[n-1]`.

    `returns` tells whether rows go to the client; `assigns` names the variables that take the last
    row's values instead. `without_columns` marks an INSERT without a column list, which leaves an
    identity column out: `COLUMNS_MARK` is where the list goes. `explicit_identity` is the form for
    SET IDENTITY_INSERT … ON.
    """

    sql: str
    verb: str
    parameters: tuple[str, ...] = ()
    returns: bool = False
    outputs: tuple[Output, ...] = ()
    assigns: tuple[str, ...] = ()
    inserts_into: PgName | None = None
    explicit_identity: str | None = None
    without_columns: bool = False
    locks: tuple[PgName, ...] = ()
    reads: bool = False
