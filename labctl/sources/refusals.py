"""Errors of the databases, as labctl reports them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from labctl.errors import ExitCode, LabError

if TYPE_CHECKING:
    from labctl.sources.base import TableRef

__all__ = [
    "LOCK_SECONDS",
    "NOT_ALLOWED_HINT",
    "is_not_allowed",
    "no_such_table",
    "not_reached",
    "statement_failed",
]

LOCK_SECONDS = 60
"""Seconds a statement may wait for a lock; a first load holds its locks only for a moment."""
_LOCKED_OUT = re.compile(r"lock (wait timeout|request time out|timeout)", re.IGNORECASE)
"""Part of the message after a lock timeout: MySQL, SQL Server, PostgreSQL."""
_NOT_ALLOWED = re.compile(
    r"permission denied|must be (owner|superuser|able to)|superusers? (can|may)|only roles with"
    r"|command denied|access denied|without the",
    re.IGNORECASE,
)
"""Part of the message to a login without the necessary right: PostgreSQL, MySQL."""
_SHOWN_SQL = 200
_NO_LOGIN = re.compile(r"authentication failed|access denied for user", re.IGNORECASE)
"""Part of the message to an unknown login or a wrong password: PostgreSQL, MySQL."""
NOT_ALLOWED_HINT = (
    "labctl logs in as the owner of its sources' databases, who has no rights beyond them; `labctl "
    "up` gives it what the administrator has made there"
)


def statement_failed(engine: str, sql: str, reason: str) -> LabError:
    """Return the error for a statement that the database refused; a long statement is shortened."""
    shown = " ".join(sql.split())
    if len(shown) > _SHOWN_SQL:
        shown = f"{shown[:_SHOWN_SQL]}…"
    if _LOCKED_OUT.search(reason):
        return LabError(
            f"{engine} kept a statement waiting for a lock for {LOCK_SECONDS} s",
            details=(shown,),
            hint="somebody holds it: a transaction that was left open, or a connector's first load "
            "that cannot go on; `labctl status` says which connector has written nothing",
            exit_code=ExitCode.NOT_READY,
        )
    return LabError(
        f"{engine} refused a statement: {reason.strip()}",
        hint=NOT_ALLOWED_HINT if is_not_allowed(reason) else None,
        details=(shown,),
    )


def is_not_allowed(reason: str) -> bool:
    """Return whether a server's `reason` for a refusal is that the login lacks the right."""
    return _NOT_ALLOWED.search(reason) is not None


def not_reached(reason: str) -> str:
    """Return the next step after a failed connection, for the server's `reason`."""
    if _NO_LOGIN.search(reason):
        return "`labctl up` makes the lab's logins"
    return "see `labctl status`"


def no_such_table(engine: str, ref: TableRef) -> LabError:
    """Return the error for a table that does not exist."""
    return LabError(
        f"{engine} has no table {ref}.",
        hint="create it, or `labctl seed` where a data set has it",
        exit_code=ExitCode.NOT_READY,
    )
