"""Readable causes from the Java stack traces of failed tasks."""

from __future__ import annotations

import re

__all__ = ["cause", "needs_snapshot"]

_CAUSED = "Caused by: "
_POSITION_GONE = "available on the server. Reconfigure the connector to use a snapshot"
_HISTORY_GONE = "The db history topic is missing"
_TOO_LARGE = re.compile(
    r"RecordTooLargeException: The message is (\d+) bytes when serialized "
    r"which is larger than (\d+)"
)


def cause(trace: str, connector: str) -> str:
    """Return why `connector` failed: advice for a known failure, else the trace's last cause, or
    its first line."""
    if _HISTORY_GONE in trace:
        return (
            "it has lost its schema history, the topic in which it keeps how tables looked; load "
            f"every table again: labctl connectors snapshot {connector}"
        )
    if _POSITION_GONE in trace:
        return (
            "it has missed changes, because its database no longer has the log from where it "
            f"stopped reading; load every table again: labctl connectors snapshot {connector}"
        )
    if too_large := _TOO_LARGE.search(trace):
        row, limit = (int(number) for number in too_large.groups())
        return (
            f"a row of {row:,} bytes is more than the {limit:,} that Kafka takes; `labctl logs "
            "connect` names its topic. Make the row smaller at the source, then have every table "
            f"loaded again, past it: labctl connectors snapshot {connector}"
        )
    lines = trace.strip().splitlines()
    causes = [line.removeprefix(_CAUSED) for line in lines if line.startswith(_CAUSED)]
    return causes[-1] if causes else next(iter(lines), "")


def needs_snapshot(trace: str) -> bool:
    """Return whether the task failed for a reason that only a new snapshot fixes.

    It was stopped longer than its database keeps the log, its schema history is gone, or the log
    contains a row that is too large for Kafka.
    https://github.com/debezium/debezium, `BaseSourceTask.validateSchemaHistory`
    """
    return bool(_POSITION_GONE in trace or _HISTORY_GONE in trace or _TOO_LARGE.search(trace))
