"""What the engine says about a container, in the runtime's words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import docker.errors
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from labctl.runtimes.compose.limits import cause_of_death
from labctl.runtimes.model import RESTARTS_AT_MOST, Death, ProcessState, Usage

__all__ = ["deaths_of", "is_running", "kill", "pause", "published_ports", "state_of", "usages_of"]

_ASKED_AT_ONCE = 8
"""Containers: the engine takes its time to tell what one takes."""

STATES = {"running": "RUNNING", "restarting": "BACKOFF", "paused": "STARTING"}
"""The engine's word for a container's state, and the runtime's."""


def state_of(container: Any) -> ProcessState:
    """How a container is."""
    state = container.attrs["State"]
    word = STATES.get(state["Status"], "STOPPED")
    given_up = int(container.attrs.get("RestartCount", 0)) >= RESTARTS_AT_MOST
    if word == "BACKOFF" and given_up:
        word = "FATAL"
    return ProcessState(
        state=word,
        pid=int(state["Pid"]) or None,
        started_at=_moment_of(state["StartedAt"]) if state["Pid"] else None,
    )


def _moment_of(text: str) -> float | None:
    """The engine's time, with its nanoseconds, in seconds since the epoch; None: never."""
    moment = datetime.fromisoformat(text)
    return moment.timestamp() if moment.year > 1 else None


def is_running(container: Any) -> bool:
    return bool(container.status == "running")


def published_ports(containers: Iterable[Any]) -> set[int]:
    """Ports of this machine that containers are published on now."""
    published = (one.attrs["NetworkSettings"]["Ports"] or {} for one in containers)
    return {
        int(place["HostPort"])
        for ports in published
        for places in ports.values()
        for place in places or ()
    }


def usages_of(services: Mapping[str, Iterable[Any]]) -> dict[str, Usage]:
    """What the running containers of each service take together. Asks the engine."""
    running = [(name, one) for name, every in services.items() for one in every if is_running(one)]
    found: dict[str, Usage] = {}
    with ThreadPoolExecutor(max_workers=_ASKED_AT_ONCE) as pool:
        taken = pool.map(_usage_of, (container for _, container in running))
        for (name, _), usage in zip(running, taken, strict=True):
            found[name] = found.get(name, Usage(0, {})) + usage
    return found


def deaths_of(client: Any, services: Mapping[str, Iterable[Any]]) -> dict[str, list[Death]]:
    """The engine keeps their number per container, and the time of the last."""
    found: dict[str, list[Death]] = defaultdict(list)
    for name, every in services.items():
        for container in every:
            count = int(container.attrs.get("RestartCount", 0))
            if count and (at := _moment_of(container.attrs["State"]["FinishedAt"])):
                last = Death(at, cause_of_death(client, container, at))
                found[name] += [*[Death(at)] * (count - 1), last]
    return found


def _usage_of(container: Any) -> Usage:
    """What a container takes. Asks the engine."""
    stats: dict[str, Any] = container.stats(stream=False, one_shot=True)
    memory = stats.get("memory_stats", {})
    details = memory.get("stats", {})
    cache = details.get("inactive_file", details.get("total_inactive_file", 0))
    held = max(0, int(memory.get("usage", 0)) - int(cache))
    taken = stats.get("cpu_stats", {}).get("cpu_usage", {}).get("total_usage")
    if taken is None:  # it ended meanwhile: no figure, which is not a counter at 0
        return Usage(held, {})
    return Usage(held, {f"{container.id} {state_of(container).started_at}": taken / 1e9})


_once_more = retry(
    retry=retry_if_exception_type(docker.errors.APIError),
    wait=wait_fixed(0.5),
    stop=stop_after_delay(15),
    reraise=True,
)


@_once_more
def pause(container: Any) -> None:
    """Freezing all processes at once may fail where they are busy; the engine then gives up."""
    container.pause()


@_once_more
def kill(container: Any) -> None:
    """`kill -9` everything in it. One that is just being started again cannot be entered yet.

    Killed through the engine it would count as stopped by hand, and stay dead.
    """
    container.exec_run(["sh", "-c", "kill -9 -1"], user="0")
