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
_UNREADABLE = re.compile(
    r"DDL statement couldn't be parsed\. Please open .*? with the statement '(.*?)'\n", re.DOTALL
)
_CUT_ROW = re.compile(
    r"Error processing row in (\S+), internal schema size (\d+), but row size (\d+)"
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
    if unreadable := _UNREADABLE.search(trace):
        return (
            "it cannot read a statement of its database's log, and would stop there again: "
            f"{' '.join(unreadable[1].split())}. Have every table loaded again, past it: "
            f"labctl connectors snapshot {connector}"
        )
    if cut := _CUT_ROW.search(trace):
        table, known, there = cut.groups()
        return (
            f"a row of {table} has {there} columns in the log, and the table {known}: a session "
            "logs rows in part (binlog_row_image), or a change of the table's columns was not "
            "logged. Have the session log whole rows, then every table loaded again, past that "
            f"row: labctl connectors snapshot {connector} (with --start-over, rows go that were "
            "deleted meanwhile)"
        )
    lines = trace.strip().splitlines()
    causes = [line.removeprefix(_CAUSED) for line in lines if line.startswith(_CAUSED)]
    return causes[-1] if causes else next(iter(lines), "")


def needs_snapshot(trace: str) -> bool:
    """Return whether the task failed for a reason that only a new snapshot fixes.

    It was stopped longer than its database keeps the log, its schema history is gone, or the log
    contains a row that is too large for Kafka, or a statement or a row that it cannot read.
    https://github.com/debezium/debezium, `BaseSourceTask.validateSchemaHistory`
    """
    return (
        _POSITION_GONE in trace
        or _HISTORY_GONE in trace
        or any(known.search(trace) for known in (_TOO_LARGE, _UNREADABLE, _CUT_ROW))
    )
