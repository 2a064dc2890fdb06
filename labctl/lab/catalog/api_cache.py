"""The answers that the lake API keeps in its cache: list, drop, count and watch them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labctl.errors import ExitCode, LabError
from labctl.extras import require_extra
from labctl.lab.catalog.lake_api_switch import api_of
from labctl.lab.lab import Lab
from labctl.services.api_service import PREFIX as PATH
from labctl.services.cache_service import SERVICE, Cache

if TYPE_CHECKING:
    from redis import Redis

__all__ = ["CacheStats", "CachedAnswer", "Command", "clear", "keys", "monitor", "stats"]

RESULTS = ("hit", "stale", "miss", "coalesced", "bypassed")
"""Results by which the API counts its cache requests (`lakeapi_cache_requests_total`)."""
_COUNTER = "lakeapi_cache_requests_total"
_SECONDS = 5.0
_BATCH = 500


@dataclass(frozen=True)
class CachedAnswer:
    """A cached answer."""

    key: str
    seconds_left: int
    bytes: int
    """Size of the answer; a cached "not found" is one byte long."""


@dataclass(frozen=True)
class CacheStats:
    """Counters of the cache server and the API, each since its own start."""

    keys: int
    """Number of cached answers."""
    memory_bytes: int
    evicted: int
    """Number of keys that were dropped for lack of room."""
    endpoints: Mapping[str, Mapping[str, int]]
    """Counts by endpoint of the API, then by `RESULTS`."""
    hit_ratio: float | None
    """Share of answers that were cached already; None before the first answer."""


@dataclass(frozen=True)
class Command:
    """A command that the server received."""

    at: float
    """Seconds since the epoch, by the server's clock."""
    client: str
    text: str


def keys(lab: Lab) -> list[CachedAnswer]:
    """Return every cached answer, sorted by key."""
    with _asking(lab) as redis:
        names = _names(redis)
        with redis.pipeline(transaction=False) as several:
            for name in names:
                several.ttl(name)
                several.strlen(name)
            found = several.execute()
    pairs = zip(names, found[::2], found[1::2], strict=True)
    # An answer that expired in the meantime has no time left.
    return [CachedAnswer(name.decode(), ttl, size) for name, ttl, size in pairs if ttl >= 0]


def clear(lab: Lab) -> int:
    """Drop every cached answer and return their number. Other keys of the cache stay."""
    with _asking(lab) as redis:
        names = _names(redis)
        return sum(
            int(redis.unlink(*names[start : start + _BATCH]))
            for start in range(0, len(names), _BATCH)
        )


def stats(lab: Lab) -> CacheStats:
    """Return the counters of the cache server and the API."""
    counted = _counted(lab)
    with _asking(lab) as redis:
        told: dict[str, Any] = redis.info()
        number = len(_names(redis))
    totals = {result: sum(one[result] for one in counted.values()) for result in RESULTS}
    asked = sum(totals.values())
    return CacheStats(
        keys=number,
        memory_bytes=int(told["used_memory"]),
        evicted=int(told["evicted_keys"]),
        endpoints=counted,
        hit_ratio=round((totals["hit"] + totals["stale"]) / asked, 4) if asked else None,
    )


def monitor(lab: Lab) -> Iterator[Command]:
    """Yield every command that the server receives from now on, from any client, without end."""
    with _asking(lab) as redis, redis.monitor() as seen:  # type: ignore[no-untyped-call]
        for one in seen.listen():
            client = f"{one['client_address']}:{one['client_port']}"
            yield Command(float(one["time"]), client, str(one["command"]))


def _names(redis: Redis) -> list[bytes]:
    from lakeapi.cache import LOCK, PREFIX

    found = redis.scan_iter(f"{PREFIX}*", count=_BATCH)
    return sorted({name for name in found if not name.startswith(f"{PREFIX}{LOCK}".encode())})


def _counted(lab: Lab) -> dict[str, dict[str, int]]:
    import requests
    from prometheus_client.parser import text_string_to_metric_families

    url = f"{api_of(lab).url}{PATH}/metrics"
    try:
        answer = requests.get(url, timeout=_SECONDS)
        answer.raise_for_status()
    except requests.RequestException as error:
        raise _silent("lake API", "api", error) from None
    found: dict[str, dict[str, int]] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            if sample.name == _COUNTER:
                one = found.setdefault(sample.labels["endpoint"], dict.fromkeys(RESULTS, 0))
                one[sample.labels["result"]] += int(sample.value)
    return dict(sorted(found.items()))


@contextmanager
def _asking(lab: Lab) -> Iterator[Redis]:
    """Yield a client of the cache. Raises LabError (NOT_READY) if it is missing or silent."""
    require_extra("lakeapi")
    from redis import Redis
    from redis.exceptions import RedisError

    api_of(lab)
    endpoint = lab.endpoints.others.get(SERVICE.name)
    if not isinstance(endpoint, Cache):
        raise LabError(
            f"Lab {lab.name!r} has no cache",
            hint="`labctl tools api up` switches it on",
            exit_code=ExitCode.NOT_READY,
        )
    redis = Redis(
        host=endpoint.host,
        port=endpoint.port,
        password=endpoint.password.get_secret_value(),
        socket_connect_timeout=_SECONDS,
    )
    try:
        yield redis
    except (RedisError, OSError) as error:
        raise _silent("cache", SERVICE.name, error) from None
    finally:
        redis.close()


def _silent(what: str, service: str, error: Exception) -> LabError:
    return LabError(
        f"The {what} does not answer: {error}",
        hint=f"labctl logs {service}",
        exit_code=ExitCode.NOT_READY,
    )
