"""Limits per client: SQL Server's own, or lower ones to save memory.

A client that exceeds a limit gets an error; other clients are not affected.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable
from typing import TypeVar

from labctl.sqlserver.client_errors import SqlError

__all__ = [
    "LONGEST_LOGIN",
    "LONGEST_MESSAGE",
    "LONGEST_PREPARED",
    "MEMORY_BYTES",
    "MOST_CALLS",
    "MOST_LOGINS",
    "MOST_PARAMETERS",
    "MOST_TOKENS",
    "MOST_TOKENS_TRANSLATED",
    "apart",
    "limit_memory",
    "out_of_memory",
    "too_complex",
    "too_deep",
]

T = TypeVar("T")

MEMORY_BYTES = 1024**3
"""Limit of the process's private memory in bytes. It uses some 70 MB with 200 clients."""
LONGEST_MESSAGE = 64 * 1024**2
"""Maximum bytes of a request with its values. SQL Server allows 65,536 packets (256 MiB)."""
LONGEST_LOGIN = 128 * 1024
"""Maximum bytes of each message before the login."""
MOST_LOGINS = 100
"""Maximum clients that have not logged in. Above it, the oldest of them is disconnected."""
MOST_PARAMETERS = 2_100
"""Maximum parameters of a call, as in SQL Server."""
MOST_CALLS = 1_000
"""Maximum calls in a message."""
MOST_TOKENS = 500_000
"""Maximum tokens (words, names, values, signs) of a batch: a script of some megabytes."""
MOST_TOKENS_TRANSLATED = 150_000
"""Maximum tokens of one statement: an INSERT of 1,000 rows (SQL Server's limit), 70 columns."""
LONGEST_PREPARED = 16 * 1024**2
"""Maximum characters of all prepared statements of a session."""
_LONG_TEXT = 16 * 1024
"""Characters or bytes above which work, then of a few milliseconds, is done in a thread."""


async def apart(size: int, work: Callable[..., T], *arguments: object) -> T:
    """Return the result of `work`, whose duration depends on the `size` of a text.

    Runs in a thread if the text is long, so that other clients are answered meanwhile.
    """
    if size <= _LONG_TEXT:
        return work(*arguments)
    return await asyncio.to_thread(work, *arguments)


def limit_memory() -> None:
    """Limit this process to MEMORY_BYTES, so that a large request fails, not the machine."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def out_of_memory() -> SqlError:
    """Return SQL Server's error for a request that exceeds the available memory."""
    return SqlError(
        701,
        "There is insufficient system memory in resource pool 'default' to run this query.",
        severity=17,
    )


def too_complex() -> SqlError:
    """Return SQL Server's error for a statement that is too complex to plan."""
    return SqlError(
        8623,
        "The query processor ran out of internal resources and could not produce a query plan. "
        "This is a rare event and only expected for extremely complex queries or queries that "
        "reference a very large number of tables or partitions. Please simplify the query.",
    )


def too_deep() -> SqlError:
    """Return SQL Server's error for a statement that is nested too deeply."""
    return SqlError(
        191,
        "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up "
        "into smaller queries.",
        severity=15,
    )
