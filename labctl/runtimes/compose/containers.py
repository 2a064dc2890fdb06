"""Conversion of the engine's information about containers to the runtime's terms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import docker.errors
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from labctl.runtimes.compose.compose_limits import cause_of_death
from labctl.runtimes.compose.shell import run_in_shell
from labctl.runtimes.runtime_protocols import RESTARTS_AT_MOST, Death, ProcessState, Usage

__all__ = ["deaths_of", "is_running", "kill", "pause", "published_ports", "state_of", "usages_of"]

_ASKED_AT_ONCE = 8
"""Containers queried concurrently: the engine is slow to report a container's usage."""

STATES = {"running": "RUNNING", "restarting": "BACKOFF", "paused": "STARTING"}
"""The runtime's name for each of the engine's container states."""


def state_of(container: Any) -> ProcessState:
    """Return the state of a container."""
    state = container.attrs["State"]
    word = STATES.get(state["Status"], "STOPPED")
    given_up = int(container.attrs.get("RestartCount", 0)) >= RESTARTS_AT_MOST
    if word == "BACKOFF" and given_up:
        word = "FATAL"
    return ProcessState(
        state=word,
        pid=int(state["Pid"]) or None,
        started_at=_moment_of(state["StartedAt"]) if state["Pid"] else None,
        healthy=state["Health"]["Status"] == "healthy" if state.get("Health") else None,
    )


def _moment_of(text: str) -> float | None:
    """Parse the engine's timestamp to seconds since the epoch; return None for "never"."""
    moment = datetime.fromisoformat(text)
    return moment.timestamp() if moment.year > 1 else None


def is_running(container: Any) -> bool:
    return bool(container.status == "running")


def published_ports(containers: Iterable[Any]) -> set[int]:
    """Return the ports of this machine on which containers are published now."""
    published = (one.attrs["NetworkSettings"]["Ports"] or {} for one in containers)
    return {
        int(place["HostPort"])
        for ports in published
        for places in ports.values()
        for place in places or ()
    }


def usages_of(services: Mapping[str, Iterable[Any]]) -> dict[str, Usage]:
    """Query the engine for the total usage of each service's running containers."""
    running = [(name, one) for name, every in services.items() for one in every if is_running(one)]
    found: dict[str, Usage] = {}
    with ThreadPoolExecutor(max_workers=_ASKED_AT_ONCE) as pool:
        taken = pool.map(_usage_of, (container for _, container in running))
        for (name, _), usage in zip(running, taken, strict=True):
            found[name] = found.get(name, Usage(0, {})) + usage
    return found


def deaths_of(client: Any, services: Mapping[str, Iterable[Any]]) -> dict[str, list[Death]]:
    """Return deaths by service. The engine keeps each container's count and last time only."""
    found: dict[str, list[Death]] = defaultdict(list)
    for name, every in services.items():
        for container in every:
            count = int(container.attrs.get("RestartCount", 0))
            if count and (at := _moment_of(container.attrs["State"]["FinishedAt"])):
                last = Death(at, cause_of_death(client, container, at))
                found[name] += [*[Death(at)] * (count - 1), last]
    return found


def _usage_of(container: Any) -> Usage:
    """Query the engine for a container's usage."""
    stats: dict[str, Any] = container.stats(stream=False, one_shot=True)
    memory = stats.get("memory_stats", {})
    details = memory.get("stats", {})
    cache = details.get("inactive_file", details.get("total_inactive_file", 0))
    held = max(0, int(memory.get("usage", 0)) - int(cache))
    taken = stats.get("cpu_stats", {}).get("cpu_usage", {}).get("total_usage")
    if taken is None:  # it ended in the meantime: an unknown counter is not 0
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
    """Pause a container; retry, because freezing busy processes may fail."""
    container.pause()


@_once_more
def kill(container: Any) -> None:
    """Run `kill -9` on all of a container's processes; retry while the container restarts.

    The engine would treat a container killed through its API as stopped by hand, and would not
    restart it. Raises LabError (USAGE) if the image has no shell.
    """
    run_in_shell(container, "kill -9 -1")
