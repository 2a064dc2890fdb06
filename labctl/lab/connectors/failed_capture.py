"""Explanation of a connector's failure, with its table: the trace names a column at best."""

from __future__ import annotations

import re

from labctl.errors import LabError
from labctl.kafkaconnect.traces import cause
from labctl.lab.lab import Lab
from labctl.lab.tables.table_fitness import stopping

__all__ = ["why_failed"]

_NAMES_CLASH = re.compile(r"field name duplication|conflicts with another different schema")

_CASE_TWINS = re.compile(
    r"Table '([^']+)' has columns that differ only by case\. Column name: '([^']*)'"
)


def why_failed(lab: Lab, trace: str, connector: str) -> str:
    """Return why a task failed, with the tables and columns that caused it if they are known.

    Such a task fails again after every restart.
    """
    if (twins := _CASE_TWINS.search(trace)) is not None:
        table, column = twins.groups()
        # The log still has changes under both names.
        return (
            f"{table}: its column {column!r} has another's name but for upper and lower case, for "
            f"which Debezium fails; rename it at the source (ALTER TABLE {table} RENAME COLUMN …); "
            f"then labctl connectors snapshot {connector} (with --start-over, rows go that were "
            "deleted meanwhile)"
        )
    sources = [name for name, one in lab.config.sources.items() if one.connector == connector]
    if sources and _NAMES_CLASH.search(trace):
        try:
            found = [said for name in sources for said in stopping(lab, name)]
        except LabError:
            found = []
        if found:
            return f"{'; '.join(found)}; then labctl connectors apply {connector}"
    return cause(trace, connector)
