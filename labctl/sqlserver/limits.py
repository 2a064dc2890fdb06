"""How much one client may ask for: SQL Server's own limits, or lower ones that memory sets.

A client beyond one of them gets an error, and the others are answered meanwhile.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable
from typing import TypeVar

from labctl.sqlserver.errors import SqlError

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
"""Private memory of the process. It takes some 70 MB with 200 clients."""
LONGEST_MESSAGE = 64 * 1024**2
"""Bytes of a request, with the values in it. SQL Server takes 65,536 packets, of 4 KiB 256 MiB."""
LONGEST_LOGIN = 128 * 1024
"""Bytes of each message before the login."""
MOST_LOGINS = 100
"""Clients that have not logged in yet. Of more, the one that has waited longest is left."""
MOST_PARAMETERS = 2_100
"""Parameters of a call, as in SQL Server."""
MOST_CALLS = 1_000
"""Calls in a message."""
MOST_TOKENS = 500_000
"""Words, names, values and signs of a batch: a script of some megabytes."""
MOST_TOKENS_TRANSLATED = 150_000
"""Those of one statement: INSERT … VALUES of 1,000 rows, SQL Server's most, with 70 columns."""
LONGEST_PREPARED = 16 * 1024**2
"""Characters of all statements that a session has prepared."""
_LONG_TEXT = 16 * 1024
"""Characters, or bytes, from which on work is done beside the event loop: a few milliseconds."""


async def apart(size: int, work: Callable[..., T], *arguments: object) -> T:
    """Return what `work` returns, which takes time by the `size` of a text.

    It is done in a thread when the text is long, so that other clients are answered meanwhile.
    """
    if size <= _LONG_TEXT:
        return work(*arguments)
    return await asyncio.to_thread(work, *arguments)


def limit_memory() -> None:
    """Limit this process to MEMORY_BYTES: beyond them, a request fails and not the machine."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def out_of_memory() -> SqlError:
    """Return SQL Server's error for a request that takes more memory than there is."""
    return SqlError(
        701,
        "There is insufficient system memory in resource pool 'default' to run this query.",
        severity=17,
    )


def too_complex() -> SqlError:
    """Return SQL Server's error for a statement that is too long to be planned."""
    return SqlError(
        8623,
        "The query processor ran out of internal resources and could not produce a query plan. "
        "This is a rare event and only expected for extremely complex queries or queries that "
        "reference a very large number of tables or partitions. Please simplify the query.",
    )


def too_deep() -> SqlError:
    """Return SQL Server's error for a statement whose parentheses, or the like, nest too deep."""
    return SqlError(
        191,
        "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up "
        "into smaller queries.",
        severity=15,
    )
