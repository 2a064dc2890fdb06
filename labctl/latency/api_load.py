"""Load on the lake API: many requests from several clients at once, each of them timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any

from urllib3 import HTTPConnectionPool, Timeout
from urllib3.exceptions import HTTPError
from urllib3.util import parse_url

from labctl.errors import ExitCode, LabError
from labctl.lab.catalog.api_cache import clear
from labctl.lab.catalog.lake_api_switch import api_of
from labctl.lab.lab import Lab
from labctl.latency.latency_report import Percentiles
from labctl.latency.statistics import percentiles_of
from labctl.services.api_service import PREFIX

__all__ = ["Round", "all_endpoints", "load", "rounds_of"]

_SECONDS = 60.0
_TAG = "lake"
"""Tag of the operations in the API's OpenAPI document that read the lake."""


@dataclass(frozen=True)
class Round:
    """A load, and its results."""

    name: str
    requests: int
    clients: int
    """Number of concurrent clients."""
    seconds: float
    """Time from the first request to the last answer."""
    a_second: float
    """Successful answers per second."""
    percentiles: Percentiles | None
    """Percentiles of the successful answers; None without any."""
    errors: int
    first_error: str = ""


def rounds_of(
    lab: Lab,
    paths: Sequence[str],
    *,
    requests: int,
    clients: int,
    begin: Callable[[str], None] = lambda _: None,
) -> list[Round]:
    """Run one round with an empty cache, `cold`, and one with the cache it filled, `warm`.

    In a lab without a cache, run only one round, `uncached`.
    """
    url = api_of(lab).url

    def run(name: str) -> Round:
        begin(name)
        return load(url, paths, name=name, requests=requests, clients=clients)

    if not lab.config.cache.enabled:
        return [run("uncached")]
    clear(lab)
    return [run("cold"), run("warm")]


def load(
    url: str, paths: Sequence[str], *, name: str = "", requests: int, clients: int = 1
) -> Round:
    """Send `requests` requests, cycling through `paths`, from `clients` clients at once."""
    target = parse_url(url)
    numbers = count()
    pool = HTTPConnectionPool(
        target.host or "", target.port, maxsize=clients, block=True, timeout=Timeout(_SECONDS)
    )

    def client(_: int) -> list[float | str]:
        taken: list[float | str] = []
        while (number := next(numbers)) < requests:
            taken.append(_ask(pool, paths[number % len(paths)]))
        return taken

    begun = time.monotonic()
    with pool, ThreadPoolExecutor(clients) as threads:
        answers = [one for some in threads.map(client, range(clients)) for one in some]
    seconds = time.monotonic() - begun
    taken = [one for one in answers if isinstance(one, float)]
    errors = [one for one in answers if isinstance(one, str)]
    return Round(
        name=name,
        requests=requests,
        clients=clients,
        seconds=round(seconds, 4),
        a_second=round(len(taken) / seconds, 1),
        percentiles=percentiles_of(taken),
        errors=len(errors),
        first_error=errors[0] if errors else "",
    )


def _ask(pool: HTTPConnectionPool, path: str) -> float | str:
    """Return the seconds until the whole answer has arrived, or the error as text."""
    begun = time.monotonic()
    try:
        answer = pool.request("GET", f"{PREFIX}{path}", retries=False)
    except (HTTPError, OSError) as error:
        return f"{path}: {error}"
    if answer.status != 200:
        return f"{path}: {answer.status} {answer.data[:200].decode(errors='replace')}"
    return time.monotonic() - begun


def all_endpoints(url: str) -> list[str]:
    """Return a path for each endpoint that reads the lake, from the API's OpenAPI document.

    Keys come from the first row of each list. Raises LabError (NOT_READY) if a list is empty.
    """
    return list(_paths(url))


def _paths(url: str) -> Iterator[str]:
    document = _json(url, "/openapi.json")
    found = [path for path, one in document["paths"].items() if _TAG in one["get"]["tags"]]
    for path in (path.removeprefix(PREFIX) for path in found):
        listed, _, key = path.partition("/{")
        if not key:
            yield path
            continue
        # a seller's key comes from a sale; all other lists have the keys themselves
        of_seller = f"{PREFIX}{listed}" not in found
        rows = _json(url, f"{'/sales' if of_seller else listed}?limit=1")
        if not rows:
            raise LabError(
                f"The lake has no row for {path} yet",
                hint="labctl seed",
                exit_code=ExitCode.NOT_READY,
            )
        yield f"{listed}/{rows[0]['sellerId' if of_seller else 'id']}"


def _json(url: str, path: str) -> Any:
    import requests

    try:
        answer = requests.get(f"{url}{PREFIX}{path}", timeout=_SECONDS)
        answer.raise_for_status()
        return answer.json()
    except (requests.RequestException, ValueError) as error:
        raise LabError(
            f"The lake API does not answer: {error}",
            hint="`labctl tools api status` says what it lacks",
            exit_code=ExitCode.NOT_READY,
        ) from None
