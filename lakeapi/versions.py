"""The latest commit of each table, from the catalog. A view has the commits of its tables."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, to_thread
from botocore.exceptions import BotoCoreError, ClientError

from lakeapi.problems import LakeUnavailableError
from lakeapi.settings import Settings
from lakeapi.views import Ref, tables_of_view

if TYPE_CHECKING:
    from mypy_boto3_glue import GlueClient
    from mypy_boto3_glue.type_defs import TableTypeDef

__all__ = ["Versions", "version"]

_COMMITS = ("last_commit_completion_time_sync", "last_commit_time_sync")
"""Table parameters in which Hudi's catalog sync stores the last commit."""
log = logging.getLogger("lakeapi")


def version(table: TableTypeDef) -> str:
    """Return a Hudi table's last commit; for others and views, the catalog's version and time."""
    parameters = table.get("Parameters", {})
    for name in _COMMITS:
        if parameters.get(name):
            return parameters[name]
    updated = table.get("UpdateTime")
    at = updated.isoformat() if updated else ""
    return f"{table.get('VersionId', '')}/{at}"


@dataclass
class _Known:
    version: str
    beneath: tuple[Ref, ...]
    """Tables and views that a view reads."""
    asked: float


class Versions:
    """Cache of the tables' commits, for `version_seconds`.

    A commit that is older than half of that is refreshed in the background, so that requests for a
    table in steady use need not wait. There is one request per table at a time.
    """

    def __init__(self, settings: Settings, client: GlueClient) -> None:
        self._settings = settings
        self._client = client
        self._limiter = CapacityLimiter(settings.concurrency)
        self._known: dict[Ref, _Known] = {}
        self._asking: dict[Ref, asyncio.Task[None]] = {}

    async def of(self, tables: Sequence[str]) -> str:
        """Return a string that changes when one of the tables does. Raises LakeUnavailableError."""
        names = (getattr(self._settings.tables, table) for table in tables)
        refs = (Ref(self._settings.database, name) for name in names)
        return ",".join(await asyncio.gather(*map(self._of, refs)))

    async def _of(self, table: Ref) -> str:
        oldest = time.monotonic() - self._settings.version_seconds
        known = self._known.get(table)
        # it repeats only if the request in progress began too long ago
        while known is None or known.asked < oldest:
            await asyncio.shield(self._ask(table))
            known = self._known[table]
        if time.monotonic() - known.asked > self._settings.version_seconds / 2:
            self._ask(table)
        return "/".join([known.version, *await asyncio.gather(*map(self._of, known.beneath))])

    def _ask(self, table: Ref) -> asyncio.Task[None]:
        """Return the request in progress; start one if there is none."""
        task = self._asking.get(table)
        # A request that has just ended is still in the table: it must not be awaited again.
        if task is None or task.done():
            task = self._asking[table] = asyncio.create_task(self._fetch(table))
            task.add_done_callback(partial(self._answered, table))
        return task

    def _answered(self, table: Ref, task: asyncio.Task[None]) -> None:
        if self._asking[table] is task:
            del self._asking[table]
        if not task.cancelled() and (error := task.exception()):
            # perhaps no request waited for it
            log.warning("the last commit of %s is not known: %s", table, error)

    async def _fetch(self, table: Ref) -> None:
        asked = time.monotonic()
        try:
            answer = await to_thread.run_sync(
                lambda: self._client.get_table(DatabaseName=table.database, Name=table.name),
                limiter=self._limiter,
            )
        except (BotoCoreError, ClientError) as error:
            raise LakeUnavailableError(str(error)) from error
        found = answer["Table"]
        self._known[table] = _Known(version(found), tables_of_view(found), asked)
