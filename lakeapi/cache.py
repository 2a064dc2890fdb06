"""Answers cached in Redis. While Redis is down, the service works without a cache."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from redis.asyncio import Redis
from redis.asyncio.lock import Lock
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import LockError, RedisError

from lakeapi.metrics import Metrics
from lakeapi.settings import Settings

__all__ = ["LOCK", "PREFIX", "Cache", "CacheAwayError", "Found"]

PREFIX = "lakeapi:"
"""Prefix of every key."""
LOCK = "lock:"
"""Second prefix, of the keys of locks."""
_ABSENT = b"\0"
"""Value stored for an answer without a row."""
_AWAY_SECONDS = 1.0
"""Seconds without requests to Redis after one that failed."""
_LOCK_POLL_SECONDS = 0.02
log = logging.getLogger("lakeapi")


class CacheAwayError(Exception):
    """Redis does not answer."""


class Found(NamedTuple):
    """A cached answer."""

    value: bytes | None
    """JSON; None if the lake has no such row."""
    stale: bool
    """True if its time to live is over."""


class Cache:
    """Cache of JSON by key; None is stored for a row that the lake does not have."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._stale_seconds = settings.cache_stale_seconds
        self._metrics = metrics
        self._away_until = 0.0
        self._redis: Redis = Redis(
            host=settings.redis_host,
            port=settings.redis_port,
            password=settings.redis_login,
            ssl=settings.redis_ssl,
            socket_timeout=settings.redis_seconds,
            socket_connect_timeout=settings.redis_seconds,
            # reopen a connection that Redis closed: once, and without delay
            retry=Retry(NoBackoff(), 1),
        )

    async def get(self, key: str) -> Found | None:
        """Return the cached answer, or None if there is none. Raises CacheAwayError."""
        found: bytes | None
        left: int | None = None
        if self._stale_seconds:
            # the remaining time to live tells the age
            pipeline = self._redis.pipeline(transaction=False)
            pipeline.get(PREFIX + key)
            pipeline.pttl(PREFIX + key)
            found, left = await self._ask(pipeline.execute)
        else:
            found = await self._ask(lambda: self._redis.get(PREFIX + key))
        if found is None:
            return None
        stale = left is not None and left <= self._stale_seconds * 1000
        return Found(None if found == _ABSENT else found, stale)

    async def put(self, key: str, value: bytes | None) -> None:
        """Store a value for the time to live plus the time for which it may be stale.

        Raises CacheAwayError.
        """
        kept = _ABSENT if value is None else value
        seconds = self._settings.time_to_live + self._stale_seconds
        await self._ask(lambda: self._redis.set(PREFIX + key, kept, ex=seconds))

    @asynccontextmanager
    async def alone(self, key: str, *, wait: bool = True) -> AsyncIterator[bool]:
        """Hold the key's lock, which all workers share; yield whether this worker got it.

        The lock expires after `query_seconds`, which is also the longest wait. Without `wait`,
        yield False at once if another worker holds it. Raises CacheAwayError if Redis is down at
        first.
        """
        seconds = self._settings.query_seconds
        lock = self._redis.lock(
            f"{PREFIX}{LOCK}{key}", timeout=seconds, blocking_timeout=seconds,
            sleep=_LOCK_POLL_SECONDS,
        )  # fmt: skip
        # a worker that has waited as long as a query may take runs its own query
        mine: bool = await self._ask(lambda: lock.acquire(blocking=wait))
        try:
            yield mine
        finally:
            if mine:
                await self._release(lock, key)

    async def _release(self, lock: Lock, key: str) -> None:
        try:
            await lock.release()
        except LockError:
            log.info("the lock of %s was held too long", key)
        except (RedisError, OSError):
            self._lost()

    async def ping(self) -> bool:
        """Return whether Redis answers now."""
        try:
            await self._redis.ping()
        except (TimeoutError, RedisError, OSError):
            self._metrics.cache_up.set(0)
            return False
        self._metrics.cache_up.set(1)
        self._away_until = 0.0
        return True

    async def close(self) -> None:
        await self._redis.aclose()

    async def _ask(self, question: Callable[[], Awaitable[Any]]) -> Any:
        if time.monotonic() < self._away_until:
            raise CacheAwayError
        try:
            answer = await question()
        except (TimeoutError, RedisError, OSError) as error:
            log.warning("Redis does not answer: %s", error)
            self._lost()
            raise CacheAwayError from error
        self._metrics.cache_up.set(1)
        return answer

    def _lost(self) -> None:
        self._metrics.cache_errors.inc()
        self._metrics.cache_up.set(0)
        self._away_until = time.monotonic() + _AWAY_SECONDS
