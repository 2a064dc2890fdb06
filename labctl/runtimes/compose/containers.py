"""What the engine says about a container, in the runtime's words."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import docker.errors
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from labctl.runtimes.model import RESTARTS_AT_MOST, ProcessState, Usage

__all__ = ["moment_of", "pause", "state_of", "usage_of"]

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
        started_at=moment_of(state["StartedAt"]) if state["Pid"] else None,
    )


def moment_of(text: str) -> float | None:
    """The engine's time, with its nanoseconds, in seconds since the epoch; None: never."""
    moment = datetime.fromisoformat(text)
    return moment.timestamp() if moment.year > 1 else None


def usage_of(container: Any) -> Usage:
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


@retry(
    retry=retry_if_exception_type(docker.errors.APIError),
    wait=wait_fixed(0.5),
    stop=stop_after_delay(15),
    reraise=True,
)
def pause(container: Any) -> None:
    """Freezing all processes at once may fail where they are busy; the engine then gives up."""
    container.pause()
