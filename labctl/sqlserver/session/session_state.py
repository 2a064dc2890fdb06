"""The state that a session keeps between requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from labctl.sqlserver.client_errors import SqlError
from labctl.sqlserver.sqltypes import SqlType
from labctl.sqlserver.tsql.object_names import PgName

__all__ = ["PRODUCT", "VERSION", "Prepared", "Scope", "Session"]

VERSION = (16, 0, 1000)
PRODUCT = "Microsoft SQL Server"
_BANNER = (
    "Microsoft SQL Server 2022 stand-in, not the real one - 16.0.1000.6 (X64) \n"
    "\tlabctl: TDS 7.4 and T-SQL over PostgreSQL \n"
    "\tDeveloper Edition on Linux <X64>"
)

Value = str | None


@dataclass(slots=True)
class Scope:
    """The variables of a batch or procedure, with their values as PostgreSQL's text."""

    types: dict[str, SqlType] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)

    def declare(self, name: str, kind: SqlType, value: Value = None) -> None:
        """Add a variable. Raise `SqlError` 134 if it exists."""
        if name in self.types:
            raise SqlError(
                134,
                f"The variable name '{name}' has already been declared. Variable names must be "
                "unique within a query batch or stored procedure.",
                severity=15,
            )
        self.types[name] = kind
        self.values[name] = value

    def including(self, variables: Mapping[str, tuple[SqlType, Value]]) -> Scope:
        """Return this scope with additional variables, for one of its statements."""
        if not variables:
            return self
        return Scope(
            self.types | {name: kind for name, (kind, _) in variables.items()},
            self.values | {name: value for name, (_, value) in variables.items()},
            self.tables,
        )

    def assign(self, name: str, value: Value) -> None:
        """Assign a value to a variable. Raise `SqlError` 137 if it is not declared."""
        if name not in self.types:
            raise SqlError(137, f'Must declare the scalar variable "{name}".', severity=15)
        self.values[name] = value


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared statement: its parameter list and its text."""

    parameters: str
    text: str


@dataclass(slots=True)
class Session:
    """The state that a client's requests share."""

    spid: int
    server: str
    login: str
    database: str
    database_id: int
    host: str = ""
    application: str = ""
    language: str = "us_english"
    row_count: int = 0
    last_error: int = 0
    identity: Value = None
    nocount: bool = False
    implicit_transactions: bool = False
    abort_on_error: bool = False
    lock_timeout: int = -1
    text_size: int = 2_147_483_647
    date_first: int = 7
    no_execution: bool = False
    identity_insert: PgName | None = None
    caught: SqlError | None = None
    nesting: int = 0
    tries: int = 0
    """Number of open TRY blocks in the batch and in the procedures it called."""
    transactions: int = 0
    doomed: bool = False
    prepared: dict[int, Prepared] = field(default_factory=dict)
    next_handle: int = 1

    def global_value(self, name: str) -> Value:
        """Return the value of an @@ variable or of the function that it represents."""
        caught = self.caught
        if caught is not None and name in {"@@error_number", "@@error_severity", "@@error_state",
                                           "@@error_line", "@@error_message"}:  # fmt: skip
            return str(
                {
                    "@@error_number": caught.number,
                    "@@error_severity": caught.severity,
                    "@@error_state": caught.state,
                    "@@error_line": caught.line,
                    "@@error_message": caught.message,
                }[name]
            )
        found: dict[str, object | None] = {
            "@@rowcount": self.row_count,
            "@@error": self.last_error,
            "@@trancount": self.transactions,
            "@@spid": self.spid,
            "@@identity": self.identity,
            "@@version": _BANNER,
            "@@microsoftversion": (VERSION[0] << 24) | VERSION[2],
            "@@servername": self.server,
            "@@servicename": "MSSQLSERVER",
            "@@language": self.language,
            "@@langid": 0,
            "@@max_precision": 38,
            "@@options": 5432 | (2 if self.implicit_transactions else 0),
            "@@datefirst": self.date_first,
            "@@lock_timeout": self.lock_timeout,
            "@@textsize": self.text_size,
            "@@nestlevel": self.nesting,
            "@@fetch_status": -1,
            "@@procid": 0,
            "@@max_connections": 32767,
            "@@database": self.database,
            "@@database_id": self.database_id,
            "@@schema": "dbo",
            "@@user_name": "dbo",
            "@@login": self.login,
            "@@host": self.host,
            "@@application": self.application,
            "@@xact_state": 0 if not self.transactions else -1 if self.doomed else 1,
            "@@error_procedure": caught.procedure or None if caught else None,
        }
        value = found.get(name)
        return None if value is None else str(value)
