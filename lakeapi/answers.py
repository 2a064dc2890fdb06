"""Response bodies, from the cache or from one query that all waiting requests share."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

import orjson
from anyio import CapacityLimiter, to_thread

from lakeapi.cache import Cache, CacheAwayError
from lakeapi.metrics import Metrics
from lakeapi.models import Model
from lakeapi.problems import LakeTimeoutError, LakeUnavailableError
from lakeapi.settings import Settings
from lakeapi.versions import Versions

__all__ = ["Answers", "to_json"]

Found = Model | Sequence[Model] | None
log = logging.getLogger("lakeapi")


def to_json(found: Model | Sequence[Model]) -> bytes:
    """Return JSON with the fields' public names; a decimal is a number with all its digits."""
    rows = found if isinstance(found, Model) else list(found)
    return orjson.dumps(rows, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(format(value, "f"))
    if isinstance(value, Model):
        return value.model_dump(by_alias=True)
    raise TypeError(type(value).__name__)


class Answers:
    """The endpoints' access to the lake, with the cache before it."""

    def __init__(
        self, settings: Settings, cache: Cache, versions: Versions, metrics: Metrics
    ) -> None:
        self._settings = settings
        self._cache = cache
        self._versions = versions
        self._metrics = metrics
        self._limiter = CapacityLimiter(settings.concurrency)
        self._waiting: dict[str, asyncio.Task[bytes | None]] = {}
        self._renewing: dict[str, asyncio.Task[None]] = {}

    async def find(
        self, endpoint: str, arguments: Sequence[object], tables: Sequence[str],
        ask: Callable[[], Found], *, kept: bool = True,
    ) -> bytes | None:  # fmt: skip
        """Return the answer as JSON, or None if there is no row.

        `endpoint` and `arguments` form the cache key; `tables` are the tables that `ask` reads.
        Unless `kept`, bypass the cache. Raises LakeUnavailableError and LakeTimeoutError.
        """
        if self._settings.cache_mode == "off":
            return await self._asked(ask)
        if not kept:
            self._count(endpoint, "miss")
            return await self._asked(ask)
        key = f"{endpoint}:{','.join(map(str, arguments))}"
        if self._settings.cache_mode == "commit":
            try:
                # read the version before the rows: a cached answer is never older than its key
                key = f"{key}@{await self._versions.of(tables)}"
            except LakeUnavailableError:
                self._count(endpoint, "bypassed")
                return await self._asked(ask)
        if task := self._waiting.get(key):
            self._count(endpoint, "coalesced")
        else:
            task = self._waiting[key] = asyncio.create_task(self._kept(endpoint, key, ask))
            task.add_done_callback(partial(self._done, key))
        # a client that disconnects must not cancel the query for the others
        return await asyncio.shield(task)

    def _done(self, key: str, task: asyncio.Task[bytes | None]) -> None:
        del self._waiting[key]
        if not task.cancelled():
            # every waiting request gets the error; there may be none left
            task.exception()

    async def _kept(
        self, endpoint: str, key: str, ask: Callable[[], Found]
    ) -> bytes | None:  # fmt: skip
        try:
            if kept := await self._cache.get(key):
                self._count(endpoint, "stale" if kept.stale else "hit")
                if kept.stale:
                    self._renew(endpoint, key, ask)
                return kept.value
            async with self._cache.alone(key):
                return await self._missed(endpoint, key, ask)
        except CacheAwayError:
            self._count(endpoint, "bypassed")
            return await self._asked(ask)

    async def _missed(
        self, endpoint: str, key: str, ask: Callable[[], Found]
    ) -> bytes | None:  # fmt: skip
        if kept := await self._cache.get(key):
            # another worker has stored the answer meanwhile
            self._count(endpoint, "coalesced")
            return kept.value
        self._count(endpoint, "miss")
        return await self._put(endpoint, key, ask)

    async def _put(
        self, endpoint: str, key: str, ask: Callable[[], Found]
    ) -> bytes | None:  # fmt: skip
        value = await self._asked(ask)
        try:
            await self._cache.put(key, value)
        except CacheAwayError:
            log.info("the answer of %s is not kept", endpoint)
        return value

    def _renew(self, endpoint: str, key: str, ask: Callable[[], Found]) -> None:
        """Renew an answer in the background, once at a time across all workers."""
        if key not in self._renewing:
            task = self._renewing[key] = asyncio.create_task(self._renewed(endpoint, key, ask))
            task.add_done_callback(lambda _: self._renewing.pop(key))

    async def _renewed(
        self, endpoint: str, key: str, ask: Callable[[], Found]
    ) -> None:  # fmt: skip
        try:
            async with self._cache.alone(key, wait=False) as mine:
                kept = await self._cache.get(key) if mine else None
                # another worker may have renewed it since
                if mine and (kept is None or kept.stale):
                    await self._put(endpoint, key, ask)
        except (CacheAwayError, LakeUnavailableError, LakeTimeoutError) as error:
            # the next request tries again; the cached answer stays valid
            log.warning("the answer of %s is not renewed: %s", endpoint, error)

    async def _asked(self, ask: Callable[[], Found]) -> bytes | None:
        """Run `ask` in a thread. Raises LakeTimeoutError if no thread is free in time."""
        deadline = time.monotonic() + self._settings.query_seconds

        def work() -> bytes | None:
            if time.monotonic() > deadline:
                raise LakeTimeoutError("no thread was free")
            found = ask()
            return None if found is None else to_json(found)

        return await to_thread.run_sync(work, limiter=self._limiter)

    def _count(self, endpoint: str, result: str) -> None:
        self._metrics.cache.labels(endpoint, result).inc()
