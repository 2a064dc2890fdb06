"""What a failed task's Java stack trace says, for people."""

from __future__ import annotations

__all__ = ["cause", "position_is_gone"]

_CAUSED = "Caused by: "
_POSITION_GONE = "available on the server. Reconfigure the connector to use a snapshot"


def cause(trace: str, connector: str) -> str:
    """The line that says most of why `connector` failed: the last cause, or the first line."""
    if position_is_gone(trace):
        return (
            "it has missed changes, because its database no longer has the log from where it "
            f"stopped reading; load every table again: labctl connectors snapshot {connector}"
        )
    lines = trace.strip().splitlines()
    causes = [line.removeprefix(_CAUSED) for line in lines if line.startswith(_CAUSED)]
    return causes[-1] if causes else next(iter(lines), "")


def position_is_gone(trace: str) -> bool:
    """Whether the task failed because it was away longer than its database keeps its log.

    https://github.com/debezium/debezium, `BaseSourceTask.validateSchemaHistory`
    """
    return _POSITION_GONE in trace
