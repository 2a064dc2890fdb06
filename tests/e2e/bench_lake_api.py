"""Figures of the lake API, on a lab that runs: `python -m tests.e2e.bench_lake_api [LAB]`;
of the cache's modes alone with `--modes`.

The lab is native and has rows; run it in the lab's project. Switches the API on if it is not,
restarts it, and changes one row again and again. Prints one JSON object, kept as
docs/benchmarks/lake-api.json.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from labctl.json_text import to_json
from labctl.lab.catalog.api_cache import clear, stats
from labctl.lab.catalog.lake_api_switch import api_of, switch_on
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.starting import SilentReporter, wait_until_usable
from labctl.lab.observe.service_status import read_status
from labctl.latency.api_change import make_api_change
from labctl.latency.api_load import Round, all_endpoints, load
from labctl.latency.change import followed_row, make_change
from labctl.latency.environment import describe
from labctl.latency.statistics import percentiles_of
from labctl.services.api_service import SERVICE
from labctl.services.cache_service import SERVICE as CACHE

_ROUNDS = 10
"""Of all endpoints once, one after the other."""
_REQUESTS = 500
_CLIENTS = 25
_SUSTAINED = 5_000
"""Requests with a full cache, beside the post's 500: a third of a second tells little."""
_CHANGES = 40
_MODE_CHANGES = 5
"""In mode `ttl` each may take its time to live."""
_TTL_SECONDS = 10
_WARM_UP = 3
_PAUSE_SECONDS = (0.2, 2.0)


def main() -> None:
    """Measure everything and print the figures."""
    load_before = os.getloadavg()
    name = next((word for word in sys.argv[1:] if word != "--modes"), None)
    lab = Lab.find(name=name).require_running()
    switch_on(lab, SilentReporter())
    lab = Lab.find(name=name)
    services = {service.name: service.detail or "" for service in read_status(lab).services}
    url = api_of(lab).url
    paths = all_endpoints(url)
    # view, statement and query are made, connections are open
    load(url, paths, requests=len(paths))
    memory = {"at rest": _mib(lab)}
    if "--modes" in sys.argv:
        print(to_json(_modes(lab, url)))
        return
    figures: dict[str, Any] = {
        "environment": asdict(describe(Path(__file__).parents[2], services, load_before)),
        "workers": lab.config.api.workers,
        "all 17 endpoints once": _once(lab, url, paths),
        "/users": _users(lab, url),
        "mix of all 17": _mix(lab, url, paths),
        "change": _changes(lab),
        "modes": _modes(lab, url),
        "MiB": memory | {"after the load": _mib(lab)},
        "cache": {key: asdict(stats(lab))[key] for key in ("keys", "hit_ratio", "evicted")},
    }
    print(to_json(figures))


def _once(lab: Lab, url: str, paths: Sequence[str]) -> dict[str, Any]:
    """Seconds for all of them, one after the other: asked of Athena's API, and kept already."""

    def seconds(before: Callable[[], object]) -> list[float]:
        taken = []
        for _ in range(_ROUNDS):
            before()
            taken.append(_sound(load(url, paths, requests=len(paths))).seconds)
        return taken

    cold = seconds(lambda: clear(lab))
    warm = seconds(lambda: None)
    with lab.runtime.faults.with_environment(SERVICE.name, {"CACHE_MODE": "off"}):
        wait_until_usable(lab, SERVICE)
        load(url, paths, requests=len(paths))
        without = seconds(lambda: None)
    wait_until_usable(lab, SERVICE)
    load(url, paths, requests=len(paths))
    found = {"no cache": without, "empty cache": cold, "cached": warm}
    medians = {name: _percentiles(values)["p50"] for name, values in found.items()}
    return {name: _percentiles(values) for name, values in found.items()} | {
        "ratio of no cache to cached": round(medians["no cache"] / medians["cached"], 1)
    }


def _users(lab: Lab, url: str) -> dict[str, Any]:
    """The post's load test."""
    clear(lab)
    return {
        "empty cache": _figures(load(url, ["/users"], requests=_REQUESTS, clients=_CLIENTS)),
        "cached": _figures(load(url, ["/users"], requests=_REQUESTS, clients=_CLIENTS)),
        "cached, longer": _figures(load(url, ["/users"], requests=_SUSTAINED, clients=_CLIENTS)),
    }


def _mix(lab: Lab, url: str, paths: Sequence[str]) -> dict[str, Any]:
    cached = load(url, paths, requests=_SUSTAINED, clients=_CLIENTS)
    with lab.runtime.faults.with_environment(SERVICE.name, {"CACHE_MODE": "off"}):
        wait_until_usable(lab, SERVICE)
        load(url, paths, requests=len(paths))
        without = load(url, paths, requests=_REQUESTS, clients=_CLIENTS)
    wait_until_usable(lab, SERVICE)
    return {"no cache": _figures(without), "cached": _figures(cached)}


def _changes(lab: Lab) -> dict[str, Any]:
    """Seconds from a commit in the source until the change is seen, in Hudi and by the API."""
    row = followed_row(lab)
    for _ in range(_WARM_UP):
        make_change(lab, row)
    in_hudi: list[float] = []
    by_api: list[float] = []
    # In turn, so that both meet the same machine; and after a pause of chance, so that neither
    # always follows a commit of the other's.
    for _ in range(_CHANGES):
        for make, seconds in ((make_change, in_hudi), (make_api_change, by_api)):
            time.sleep(random.uniform(*_PAUSE_SECONDS))  # noqa: S311 - no secret
            seconds.append(make(lab, row).seconds)
    return {
        "seconds until queryable": _percentiles(in_hudi),
        "seconds until the cached API shows it": _percentiles(by_api),
    }


def _modes(lab: Lab, url: str) -> dict[str, Any]:
    """What each mode of the cache costs and gives: how fast an answer is, and how late a change."""
    row = followed_row(lab)
    late = {"CACHE_SECONDS": str(_TTL_SECONDS)}
    found: dict[str, Any] = {}
    for mode, environment in (("off", {}), ("commit", {}), ("ttl", late)):
        with lab.runtime.faults.with_environment(SERVICE.name, {"CACHE_MODE": mode, **environment}):
            wait_until_usable(lab, SERVICE)
            load(url, ["/users"], requests=_CLIENTS)
            users = load(url, ["/users"], requests=_REQUESTS, clients=_CLIENTS)
            changes = [make_api_change(lab, row).seconds for _ in range(_MODE_CHANGES)]
        found[mode] = {"/users": _figures(users), "seconds until seen": _percentiles(changes)}
    wait_until_usable(lab, SERVICE)
    return found


def _sound(one: Round) -> Round:
    """Raises SystemExit for a round with an error: its times say nothing."""
    if one.errors:
        raise SystemExit(f"{one.errors} errors, the first: {one.first_error}")
    return one


def _figures(one: Round) -> dict[str, Any]:
    found = _sound(one).percentiles
    assert found is not None
    return {
        "clients": one.clients,
        "requests per second": one.a_second,
        "seconds of a request": found.model_dump(),
    }


def _mib(lab: Lab) -> dict[str, float]:
    usages = lab.runtime.inspector.usages()
    return {
        service.name: round(usages[service.name].memory_bytes / 1024**2, 1)
        for service in (SERVICE, CACHE)
    }


def _percentiles(seconds: Sequence[float]) -> dict[str, Any]:
    found = percentiles_of(seconds)
    assert found is not None
    return found.model_dump()


if __name__ == "__main__":
    begun = time.monotonic()
    main()
    print(f"took {time.monotonic() - begun:.0f} s", file=sys.stderr)
