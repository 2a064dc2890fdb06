"""Answers kept in Redis. While Redis is away there are none, and nothing fails."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import LockError, RedisError

from lakeapi.metrics import Metrics
from lakeapi.settings import Settings

__all__ = ["LOCK", "PREFIX", "Cache", "CacheAwayError"]

PREFIX = "lakeapi:"
"""Of every key."""
LOCK = "lock:"
"""Behind it, of what is no answer."""
_ABSENT = b"\0"
"""What is kept where there is no row."""
_AWAY_SECONDS = 1.0
"""For how long Redis is not asked again once it did not answer."""
_LOCK_POLL_SECONDS = 0.02
log = logging.getLogger("lakeapi")


class CacheAwayError(Exception):
    """Redis does not answer."""


class Cache:
    """Bytes by key, or None for what is known not to be there."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        self._away_until = 0.0
        self._redis: Redis = Redis(
            host=settings.redis_host,
            port=settings.redis_port,
            password=settings.redis_login,
            ssl=settings.redis_ssl,
            socket_timeout=settings.redis_seconds,
            socket_connect_timeout=settings.redis_seconds,
            # a connection that Redis closed is opened again once, at once
            retry=Retry(NoBackoff(), 1),
        )

    async def get(self, key: str) -> tuple[bool, bytes | None]:
        """Whether the key is there, and what it holds. Raises CacheAwayError."""
        found: bytes | None = await self._ask(lambda: self._redis.get(PREFIX + key))
        return found is not None, None if found == _ABSENT else found

    async def put(self, key: str, value: bytes | None) -> None:
        """Kept for the time to live. Raises CacheAwayError."""
        kept = _ABSENT if value is None else value
        ttl = self._settings.time_to_live
        await self._ask(lambda: self._redis.set(PREFIX + key, kept, ex=ttl))

    @asynccontextmanager
    async def alone(self, key: str) -> AsyncIterator[None]:
        """One of all workers at a time. Raises CacheAwayError when Redis is away at first."""
        seconds = self._settings.query_seconds
        lock = self._redis.lock(
            f"{PREFIX}{LOCK}{key}", timeout=seconds, blocking_timeout=seconds,
            sleep=_LOCK_POLL_SECONDS,
        )  # fmt: skip
        # who waited as long as a query may take asks, too
        await self._ask(lock.acquire)
        try:
            yield
        finally:
            try:
                await lock.release()
            except LockError:
                log.info("the lock of %s was held too long", key)
            except (RedisError, OSError):
                self._lost()

    async def ping(self) -> bool:
        """Whether Redis answers now."""
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
