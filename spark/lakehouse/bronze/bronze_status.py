"""The status of bronze, for one sink or several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["bronze_status"]

_STATES = ("failed", "retrying", "running", "rebuilding", "starting", "done")
"""States by importance: of several writers, the first state that one of them is in is shown."""


def bronze_status(writers: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return one entry for all writers together and one for each; None when there are none."""
    if not writers:
        return None
    own = sorted(writers.values(), key=lambda one: one["last_commit_at"] or "")
    errors = {name: one["error"] for name, one in writers.items() if one["error"]}
    return {
        **own[-1],
        "state": min((one["state"] for one in own), key=_STATES.index),
        "error": "\n".join(dict.fromkeys(errors.values())) or None,
        "waiting_for": next((one["waiting_for"] for one in own if one["waiting_for"]), None),
        **{name: sum(one[name] for one in own) for name in ("restarts", "batches", "rows_total")},
        **{
            name: {topic: value for one in own for topic, value in one[name].items()}
            for name in ("offsets", "begins", "stopped_topics")
        },
        "sinks": dict(writers),
    }
